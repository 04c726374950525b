import StorageEngine

enum PropertyItem {
    /// Text, bytes, a number, a date or a boolean: the range of its head and content in the file.
    case plain(Range<Int>)
    /// A number that refers to an object of a keyed archive.
    case reference(Int)
    case array([PropertyItem])
    case dictionary([(key: ExactText, item: PropertyItem)])

    subscript(key: String) -> PropertyItem? {
        guard case .dictionary(let fields) = self else { return nil }
        return fields.first { $0.key == ExactText(key) }?.item
    }
}

/// Reads a binary property list (Apple's CFBinaryPList.c, "bplist00") that may be damaged or malicious. Not thread-safe. References
/// may repeat or form cycles. The result isn't larger than the input, as each reference takes at least a byte.
struct PropertyList {
    static let magic = Array("bplist00".utf8)
    /// Keyed archives are flat, so they need less.
    private static let deepest = 16

    let bytes: [UInt8]
    private var offsetBytes = 0
    private var referenceBytes = 0
    private var objects = 0
    private var table = 0
    private var itemsLeft: Int
    // Each object is read once, however often it is referred to.
    private var plain: [Int: Range<Int>] = [:]
    private var names: [Int: ExactText] = [:]

    static func read(_ bytes: [UInt8]) throws(ItemProblem) -> (list: PropertyList, top: PropertyItem) {
        var list = try PropertyList(bytes)
        let top = try list.item(list.number(at: bytes.count - 16, bytes: 8), depth: 0)
        return (list, top)
    }

    private init(_ bytes: [UInt8]) throws(ItemProblem) {
        guard bytes.count >= PropertyList.magic.count + 32, bytes.starts(with: PropertyList.magic) else {
            throw ItemProblem("it isn't a keyed archive")
        }
        self.bytes = bytes
        itemsLeft = bytes.count
        offsetBytes = Int(bytes[bytes.count - 26])
        referenceBytes = Int(bytes[bytes.count - 25])
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes) else { throw .damaged }
        objects = try number(at: bytes.count - 24, bytes: 8)
        let table = try number(at: bytes.count - 8, bytes: 8)
        let (end, overflows) = objects.multipliedReportingOverflow(by: offsetBytes)
        guard !overflows, table <= bytes.count - 32, end <= bytes.count - 32 - table else { throw .damaged }
        self.table = table
    }

    func text(_ place: Range<Int>) -> String? {
        guard let (kind, content) = try? content(at: place.lowerBound) else { return nil }
        switch kind {
        case 0x5: return String(decoding: bytes[content], as: UTF8.self)
        case 0x6:
            let units = stride(from: content.lowerBound, to: content.upperBound, by: 2).map {
                UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
            }
            return String(decoding: units, as: UTF16.self)
        default: return nil
        }
    }

    func isText(_ place: Range<Int>) -> Bool { [0x5, 0x6].contains(bytes[place.lowerBound] >> 4) }

    /// The integer at a place; `nil` if it isn't one, or has more than 63 bits.
    func integer(_ place: Range<Int>) -> Int? {
        guard let (kind, content) = try? content(at: place.lowerBound), kind == 0x1, content.count <= 8
        else { return nil }
        return try? number(at: content.lowerBound, bytes: content.count)
    }

    /// The length of the data at a place, in bytes; `nil` if it isn't data.
    func byteCount(_ place: Range<Int>) -> Int? {
        guard let (kind, content) = try? content(at: place.lowerBound), kind == 0x4 else { return nil }
        return content.count
    }

    private mutating func item(_ reference: Int, depth: Int) throws(ItemProblem) -> PropertyItem {
        guard depth < PropertyList.deepest, itemsLeft > 0, reference < objects else { throw .damaged }
        itemsLeft -= 1
        if let known = plain[reference] { return .plain(known) }
        let offset = try offset(of: reference)
        let (kind, content) = try content(at: offset)
        switch kind {
        case 0x8: return .reference(try number(at: content.lowerBound, bytes: content.count))
        case 0xA:
            var items: [PropertyItem] = []
            for place in stride(from: content.lowerBound, to: content.upperBound, by: referenceBytes) {
                items.append(try item(number(at: place, bytes: referenceBytes), depth: depth + 1))
            }
            return .array(items)
        case 0xD:
            // All keys precede all values.
            var fields: [(key: ExactText, item: PropertyItem)] = []
            var keys: Set<String> = []
            let half = content.count / 2
            for place in stride(from: content.lowerBound, to: content.lowerBound + half, by: referenceBytes) {
                let key = try name(number(at: place, bytes: referenceBytes))
                // For Foundation's dictionaries canonically equivalent keys are the same.
                guard keys.insert(key.text).inserted else { throw .damaged }
                let value = try item(number(at: place + half, bytes: referenceBytes), depth: depth + 1)
                fields.append((key, value))
            }
            return .dictionary(fields)
        default:
            plain[reference] = offset..<content.upperBound
            return .plain(offset..<content.upperBound)
        }
    }

    private mutating func name(_ reference: Int) throws(ItemProblem) -> ExactText {
        if let known = names[reference] { return known }
        guard reference < objects else { throw .damaged }
        let offset = try offset(of: reference)
        guard let text = text(offset..<offset + 1) else { throw .damaged }
        names[reference] = ExactText(text)
        return ExactText(text)
    }

    private func offset(of reference: Int) throws(ItemProblem) -> Int {
        try number(at: table + reference * offsetBytes, bytes: offsetBytes)
    }

    /// The kind of the object at this offset, and the range of its content.
    private func content(at offset: Int) throws(ItemProblem) -> (kind: UInt8, Range<Int>) {
        guard offset < table else { throw .damaged }
        let kind = bytes[offset] >> 4
        let low = Int(bytes[offset] & 15)
        var start = offset + 1
        var count = low
        switch kind {
        case 0x0:
            guard low == 8 || low == 9 else { throw .damaged }
            count = 0
        case 0x1:
            guard low <= 4 else { throw .damaged }
            count = 1 << low
        case 0x2:
            guard low == 2 || low == 3 else { throw .damaged }
            count = 1 << low
        case 0x3:
            guard low == 3 else { throw .damaged }
            count = 8
        case 0x8:
            guard low <= 7 else { throw .damaged }
            count = low + 1
        case 0x4, 0x5, 0x6, 0xA, 0xD:
            if low == 15 {
                guard start < table, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else { throw .damaged }
                let width = 1 << Int(bytes[start] & 15)
                count = try number(at: start + 1, bytes: width)
                start += 1 + width
            }
            let width = [0x6: 2, 0xA: referenceBytes, 0xD: 2 * referenceBytes][kind] ?? 1
            let (length, overflows) = count.multipliedReportingOverflow(by: width)
            guard !overflows else { throw .damaged }
            count = length
        default: throw .damaged
        }
        guard start <= table, count <= table - start else { throw .damaged }
        if kind == 0x5, !bytes[start..<start + count].allSatisfy({ $0 < 0x80 }) { throw .damaged }
        return (kind, start..<start + count)
    }

    private func number(at offset: Int, bytes count: Int) throws(ItemProblem) -> Int {
        guard offset >= 0, offset <= bytes.count, count <= bytes.count - offset else { throw .damaged }
        var value: UInt64 = 0
        for byte in bytes[offset..<offset + count] { value = value << 8 | UInt64(byte) }
        guard let number = Int(exactly: value) else { throw .damaged }
        return number
    }
}

struct PropertyListWriter {
    private static let offsetBytes = 8
    private static let referenceBytes = 4

    private let source: PropertyList
    private var output = PropertyList.magic
    private var offsets: [Int] = []
    private var copies: [Int: Int] = [:]
    private var names: [ExactText: Int] = [:]

    static func list(_ top: PropertyItem, of source: PropertyList) -> [UInt8] {
        var writer = PropertyListWriter(source: source)
        let number = writer.write(top)
        return writer.finished(number)
    }

    private init(source: PropertyList) { self.source = source }

    private mutating func write(_ item: PropertyItem) -> Int {
        switch item {
        case .plain(let place):
            if let known = copies[place.lowerBound] { return known }
            copies[place.lowerBound] = offsets.count
            offsets.append(output.count)
            output += source.bytes[place]
        case .reference(let number):
            offsets.append(output.count)
            output.append(0x80 | 3)
            append(number, bytes: 4)
        case .array(let items):
            let places = items.map { write($0) }
            begin(0xA, count: places.count)
            for place in places { append(place, bytes: PropertyListWriter.referenceBytes) }
        case .dictionary(let fields):
            let places = fields.map { write(name: $0.key) } + fields.map { write($0.item) }
            begin(0xD, count: fields.count)
            for place in places { append(place, bytes: PropertyListWriter.referenceBytes) }
        }
        return offsets.count - 1
    }

    private mutating func write(name: ExactText) -> Int {
        if let known = names[name] { return known }
        names[name] = offsets.count
        if name.text.utf8.allSatisfy({ $0 < 0x80 }) {
            begin(0x5, count: name.text.utf8.count)
            output += name.text.utf8
        } else {
            begin(0x6, count: name.text.utf16.count)
            for unit in name.text.utf16 { append(Int(unit), bytes: 2) }
        }
        return offsets.count - 1
    }

    private mutating func begin(_ kind: UInt8, count: Int) {
        offsets.append(output.count)
        output.append(kind << 4 | UInt8(min(count, 15)))
        guard count >= 15 else { return }
        output.append(0x13)
        append(count, bytes: 8)
    }

    private mutating func append(_ number: Int, bytes count: Int) {
        for place in (0..<count).reversed() {
            output.append(UInt8(truncatingIfNeeded: number >> (8 * place)))
        }
    }

    private mutating func finished(_ top: Int) -> [UInt8] {
        let table = output.count
        for offset in offsets { append(offset, bytes: PropertyListWriter.offsetBytes) }
        output += [0, 0, 0, 0, 0, 0]
        output.append(UInt8(PropertyListWriter.offsetBytes))
        output.append(UInt8(PropertyListWriter.referenceBytes))
        for number in [offsets.count, top, table] { append(number, bytes: 8) }
        return output
    }
}
