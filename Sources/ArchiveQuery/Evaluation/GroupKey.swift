import CBOR
import StorageEngine

/// The value of a sort, with a total order (``compare(_:_:isDescending:)``).
package typealias SortValue = GroupKey

/// Identity in groupings: numbers by value, texts canonically, bytes and keys by bytes, lists by element, maps unordered.
package enum GroupKey: Sendable, Hashable {
    case absent
    case nan
    case boolean(Bool)
    /// In a grouping, a whole float below 2^100 is an integer.
    case number(NumberValue)
    case date(Double)
    case text(String)
    case key(ExactText)
    case bytes([UInt8])
    /// A list, or the values of several properties.
    case list([GroupKey])
    /// Each key followed by its value, in the order of the keys, with the first of equal ones. Text keys differ by their bytes.
    case map([GroupKey])
    /// A value of another kind, by its encoding.
    case other([UInt8])

    /// Nil for bytes, lists, maps and other kinds.
    init?(scalar item: StoredItem) {
        switch item {
        case .absent, .failed: self = .absent
        case .boolean(let flag): self = .boolean(flag)
        case .number(.float(let number)):
            if number.magnitude < 0x1p100, number == number.rounded() {
                self = .number(.integer(Int128(number)))
            } else {
                // All NaNs are one group.
                self = number.isNaN ? .nan : .number(.float(number))
            }
        case .number(.bignum(let number)):
            guard let key = GroupKey(scalar: .number(NumberValue(number))) else { return nil }
            self = key
        case .number(let number): self = .number(number)
        case .date(let date): self = date.isNaN ? .nan : .date(date)
        case .text(let text): self = .text(MarkOrder.string(text))
        case .string(let text): self = .text(MarkOrder.string(text))
        case .key(let key): self = .key(ExactText(key.string))
        case .bytes, .array, .map, .other: return nil
        }
    }

    /// O(size). Throws if elements are unreadable.
    init(_ item: StoredItem) throws(CBORError) {
        var reader = CBORReader(UnsafeRawBufferPointer(start: nil, count: 0))
        switch item {
        case .array(let first, _), .map(let first, _): reader = first
        default: break
        }
        self = try GroupKey(item, &reader, depth: 0)
    }

    /// - Parameter reader: at the first element of an array or map; ends after the item.
    private init(_ item: StoredItem, _ reader: inout CBORReader, depth: Int) throws(CBORError) {
        guard depth < CBORReader.defaultMaximumDepth else {
            throw CBORError(
                offset: reader.offset, reason: .nestingTooDeep(limit: CBORReader.defaultMaximumDepth))
        }
        func next(_ reader: inout CBORReader) throws(CBORError) -> GroupKey {
            try GroupKey(StoredItem.read(&reader), &reader, depth: depth + 1)
        }
        switch item {
        case .array(_, let count):
            var elements: [GroupKey] = []
            while count.map({ elements.count < $0 }) ?? !reader.readBreak() {
                elements.append(try next(&reader))
            }
            self = .list(elements)
        case .map(_, let count):
            var entries: [(key: GroupKey, value: GroupKey)] = []
            while count.map({ entries.count < $0 }) ?? !reader.readBreak() {
                entries.append((try next(&reader).asMapKey, try next(&reader)))
            }
            var seen: Set<GroupKey> = []
            entries.removeAll { !seen.insert($0.key).inserted }
            entries.sort { GroupKey.compare($0.key, $1.key) < 0 }
            self = .map(entries.flatMap { [$0.key, $0.value] })
        case .bytes(var content, _):
            let head = try content.readHead()
            self =
                if case .bytes(let count) = head { .bytes(try content.readBytes(count: count)) } else { .nan }
        case .other(var content):
            let start = content.offset
            try content.skipItem()
            self = .other(Array(content.bytes[start..<content.offset]))
            if reader.offset > start { reader = content }
        default: self = GroupKey(scalar: item) ?? .absent
        }
    }

    private var asMapKey: GroupKey { if case .text(let text) = self { .key(ExactText(text)) } else { self } }

    package init(item: [UInt8]) {
        self = item.withUnsafeBytes { bytes in try? GroupKey(StoredItem.read(bytes, at: 0)) } ?? .absent
    }

    var kind: KindSet {
        switch self {
        case .absent: []
        case .nan: .nan
        case .boolean: .boolean
        case .number: .number
        case .date: .date
        case .text, .key: .text
        case .bytes: .bytes
        case .list: .list
        case .map: .map
        case .other: .other
        }
    }

    /// The kind that a warning about a sort names; NaN counts as a number.
    var sortedKind: KindSet { kind == .nan ? .number : kind }

    /// True for bytes, lists, maps and other kinds.
    package var isCollection: Bool { !kind.isDisjoint(with: [.bytes, .list, .map, .other]) }

    /// Negative if `left` is first, positive if `right` is. Order of kinds: booleans, numbers, dates, texts, bytes, lists, maps,
    /// others. NaN and absent values are last in both directions. Lists and maps compare by the first difference, then by length.
    package static func compare(_ left: GroupKey, _ right: GroupKey, isDescending: Bool = false) -> Int {
        let (first, second) = (left.rank, right.rank)
        if max(first, second) >= KindSet.nan.rawValue { return first - second }
        let order = first == second ? compareAlike(left, right) : first - second
        return isDescending ? -order : order
    }

    private var rank: Int { kind.isEmpty ? .max : Int(kind.rawValue) }

    private static func compareAlike(_ left: GroupKey, _ right: GroupKey) -> Int {
        switch (left, right) {
        case (.number(let a), .number(let b)): NumberValue.compare(a, b) ?? 0
        case (.text(let a), .text(let b)): TextOrder.compare(a, b)
        case (.key(let a), .key(let b)): a == b ? 0 : ExactText.precedes(a, b) ? -1 : 1
        case (.date(let a), .date(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.boolean(let a), .boolean(let b)): (a ? 1 : 0) - (b ? 1 : 0)
        case (.bytes(let a), .bytes(let b)), (.other(let a), .other(let b)):
            a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        case (.list(let a), .list(let b)), (.map(let a), .map(let b)):
            zip(a, b).lazy.map { compare($0, $1) }.first { $0 != 0 } ?? a.count - b.count
        default: 0
        }
    }

    package var encoded: [UInt8] {
        var writer = CBORWriter()
        switch self {
        case .absent: writer.writeNull()
        case .nan: writer.write(Double.nan)
        case .boolean(let flag): writer.write(flag)
        case .number(let number): return RowReader.encoded(.number(number)) ?? GroupKey.nan.encoded
        case .date(let date): return RowReader.encoded(.date(date)) ?? GroupKey.nan.encoded
        case .text(let text): writer.write(text)
        case .key(let key): writer.write(key.text)
        case .bytes(let bytes): writer.write(bytes: bytes)
        case .list(let elements):
            writer.beginArray(count: elements.count)
            for element in elements { writer.write(encoded: element.encoded) }
        case .map(let entries):
            writer.beginMap(count: entries.count / 2)
            for entry in entries { writer.write(encoded: entry.encoded) }
        case .other(let bytes): return bytes
        }
        return writer.bytes
    }

    /// Approximate memory beyond the value itself.
    package var bytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .key(let key): key.text.utf8.count
        case .bytes(let bytes), .other(let bytes): bytes.count
        case .list(let keys), .map(let keys): keys.reduce(0) { $0 + $1.bytes + MemoryLayout<GroupKey>.stride }
        case .absent, .nan, .boolean, .number, .date: 0
        }
    }
}
