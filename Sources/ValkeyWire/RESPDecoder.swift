/// Decodes values from bytes as they arrive, in linear time. Announced but missing data takes no memory.
package struct RESPDecoder {
    package struct Limits: Sendable {
        /// Maximum length of a string in bytes. Servers allow 512 MiB.
        package var stringBytes = 512 << 20
        /// Maximum length of any other value in bytes.
        package var lineBytes = 64 << 10
        /// Of arrays in arrays.
        package var depth = 32
        /// Maximum number of all elements of one value.
        package var elements = 16 << 20
        /// Maximum size of a value with all its elements in bytes.
        package var bytes = 1 << 30

        package init() {}
    }

    private let limits: Limits
    private var bytes: [UInt8] = []
    /// The number of decoded bytes of `bytes`.
    private var start = 0
    /// The offset up to which the line's end was searched.
    private var searched = 0
    /// Incomplete arrays and maps, the innermost last.
    private var open: [Container] = []
    /// Announced elements of the outermost value.
    private var announced = 0
    /// Announced bytes of the outermost value.
    private var announcedBytes = 0
    /// The string whose length is known, but whose bytes are incomplete.
    private var string: (length: Int, kind: UInt8)?

    private struct Container {
        var kind: UInt8
        var missing: Int
        var elements: [RESPValue] = []
    }

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// The number of undecoded bytes.
    package var pending: Int { bytes.count - start }

    package mutating func append(_ arrived: some Collection<UInt8>) {
        // Moves the undecoded rest once it is the smaller part, so moving costs no more than receiving.
        if start > 4096, start > bytes.count / 2 {
            bytes.removeSubrange(..<start)
            searched = max(0, searched - start)
            start = 0
        }
        bytes += arrived
    }

    package mutating func next() throws(RESPError) -> RESPValue? {
        while true {
            guard let value = try nextElement() else { return nil }
            if let whole = place(value) {
                announced = 0
                announcedBytes = 0
                return whole
            }
        }
    }

    /// Adds an element to the innermost value. Returns the outermost value if it is complete.
    private mutating func place(_ value: RESPValue) -> RESPValue? {
        var value = value
        while var container = open.popLast() {
            container.elements.append(value)
            container.missing -= 1
            guard container.missing == 0 else {
                open.append(container)
                return nil
            }
            // Attributes of the next value are ignored.
            if container.kind == UInt8(ascii: "|") { return nil }
            value = RESPDecoder.value(of: container)
        }
        return value
    }

    private static func value(of container: Container) -> RESPValue {
        switch container.kind {
        case UInt8(ascii: "%"): .map(container.elements)
        case UInt8(ascii: ">"): .push(container.elements)
        default: .array(container.elements)
        }
    }

    /// Returns a value without elements, or opens one with elements. `nil`: its bytes are incomplete.
    private mutating func nextElement() throws(RESPError) -> RESPValue? {
        while true {
            if let value = try nextString() { return value }
            guard string == nil, let line = try nextLine() else { return nil }
            try announce(bytes: line.count)
            let kind = bytes[line.lowerBound]
            let content = bytes[line.dropFirst()]
            switch kind {
            case UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "!"):
                let length = try count(content, most: limits.stringBytes, "string")
                guard let length else { return .null }
                try announce(bytes: length)
                string = (length, kind)
            case UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: ">"),
                UInt8(ascii: "|"):
                if let value = try begin(kind, content) { return value }
            default: return try simple(kind, content)
            }
        }
    }

    private mutating func announce(bytes count: Int) throws(RESPError) {
        announcedBytes += count
        guard announcedBytes <= limits.bytes else {
            throw RESPError(reason: "a value of more than \(limits.bytes) bytes")
        }
    }

    private mutating func begin(
        _ kind: UInt8, _ content: ArraySlice<UInt8>
    ) throws(RESPError) -> RESPValue? {
        guard let count = try count(content, most: limits.elements, "array") else { return .null }
        let hasPairs = kind == UInt8(ascii: "%") || kind == UInt8(ascii: "|")
        let missing = hasPairs ? 2 * count : count
        announced += missing
        guard announced <= limits.elements else {
            throw RESPError(reason: "a value of more than \(limits.elements) elements")
        }
        guard open.count < limits.depth else {
            throw RESPError(reason: "arrays in arrays, more than \(limits.depth)")
        }
        guard missing > 0 else {
            return kind == UInt8(ascii: "|") ? nil : RESPDecoder.value(of: Container(kind: kind, missing: 0))
        }
        open.append(Container(kind: kind, missing: missing))
        return nil
    }

    private mutating func nextLine() throws(RESPError) -> Range<Int>? {
        guard let end = bytes[max(start, searched)...].firstIndex(of: 10) else {
            searched = bytes.count
            guard pending <= limits.lineBytes else {
                throw RESPError(reason: "a line of more than \(limits.lineBytes) bytes")
            }
            return nil
        }
        guard end - start >= 2, bytes[end - 1] == 13 else {
            throw RESPError(reason: "a line that doesn't end with CR and LF, or is empty")
        }
        defer { start = end + 1 }
        searched = end + 1
        return start..<end - 1
    }

    private mutating func nextString() throws(RESPError) -> RESPValue? {
        guard let (length, kind) = string, pending >= length + 2 else { return nil }
        let end = start + length
        guard bytes[end] == 13, bytes[end + 1] == 10 else {
            throw RESPError(reason: "a string that is longer than announced")
        }
        let content = bytes[start..<end]
        start = end + 2
        searched = start
        string = nil
        switch kind {
        case UInt8(ascii: "!"): return .error(String(decoding: content, as: UTF8.self))
        case UInt8(ascii: "="):
            guard length >= 4 else { throw RESPError(reason: "a verbatim string without a format") }
            return .bytes(Array(content.dropFirst(4)))
        default: return .bytes(Array(content))
        }
    }

    private func simple(_ kind: UInt8, _ content: ArraySlice<UInt8>) throws(RESPError) -> RESPValue {
        let text = String(decoding: content, as: UTF8.self)
        switch kind {
        case UInt8(ascii: "+"): return .status(text)
        case UInt8(ascii: "-"): return .error(text)
        case UInt8(ascii: "_"): return .null
        case UInt8(ascii: "("): return .bigNumber(text)
        case UInt8(ascii: ":"): if let number = Int64(text) { return .integer(number) }
        case UInt8(ascii: ","): if let number = Double(text) { return .double(number) }
        case UInt8(ascii: "#"): if text == "t" || text == "f" { return .boolean(text == "t") }
        default: throw RESPError(reason: "a value that begins with byte \(kind)")
        }
        throw RESPError(reason: "\(text.prefix(40).debugDescription) as a number")
    }

    /// A length; `nil` for the -1 that means null.
    private func count(
        _ digits: ArraySlice<UInt8>, most: Int, _ what: String
    ) throws(RESPError) -> Int? {
        let text = String(decoding: digits, as: UTF8.self)
        if text == "-1" { return nil }
        guard let count = Int(text), count >= 0 else {
            throw RESPError(reason: "\(text.prefix(40).debugDescription) as the length of a \(what)")
        }
        guard count <= most else { throw RESPError(reason: "a \(what) of \(count), more than \(most)") }
        return count
    }
}
