/// Decodes values from bytes as they arrive, in linear time. Announced but missing data takes no memory.
package struct RESPDecoder {
    package struct Limits: Sendable {
        /// Maximum length of a string in bytes. Servers allow 512 MiB.
        package var stringBytes = 512 << 20
        /// Maximum length of any other value in bytes.
        package var lineBytes = 64 << 10
        /// Maximum nesting of arrays.
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
    /// The outermost value, once it is complete.
    private var value: RESPValue?
    /// Announced elements and bytes of the outermost value.
    private var announced = (elements: 0, bytes: 0)
    /// The string whose length is known, but whose bytes are incomplete.
    private var string: (length: Int, kind: Unicode.Scalar)?

    private struct Container {
        let kind: Unicode.Scalar
        var missing: Int
        var elements: [RESPValue] = []

        /// Nil: attributes of the next value, which are ignored.
        var value: RESPValue? {
            switch kind {
            case "|": nil
            case "%": .map(elements)
            case ">": .push(elements)
            default: .array(elements)
            }
        }
    }

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// The number of undecoded bytes.
    package var pending: Int { bytes.count - start }

    /// Whether a part of a value has arrived.
    package var isWithinValue: Bool { pending > 0 || !open.isEmpty || string != nil }

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
        while value == nil, try readElement() {
            while open.last?.missing == 0 {
                if let whole = open.removeLast().value { add(whole) }
            }
        }
        defer { if value != nil { (value, announced) = (nil, (0, 0)) } }
        return value
    }

    private mutating func add(_ element: RESPValue) {
        if open.isEmpty { return value = element }
        open[open.count - 1].elements.append(element)
        open[open.count - 1].missing -= 1
    }

    /// Reads a value, the length of a string, or the beginning of an array. False: its bytes are incomplete.
    private mutating func readElement() throws(RESPError) -> Bool {
        if let (length, kind) = string {
            guard pending >= length + 2 else { return false }
            add(try endString(length, kind))
            return true
        }
        guard let line = try nextLine() else { return false }
        try announce(bytes: line.count)
        let kind = Unicode.Scalar(bytes[line.lowerBound])
        let content = bytes[line.dropFirst()]
        switch kind {
        case "$", "=", "!":
            string = try count(content, most: limits.stringBytes, "string").map { ($0, kind) }
            if let string { try announce(bytes: string.length) } else { add(.null) }
        case "*", "~", "%", ">", "|": try begin(kind, content)
        default: add(try simple(kind, content))
        }
        return true
    }

    private mutating func announce(bytes count: Int) throws(RESPError) {
        announced.bytes += count
        guard announced.bytes <= limits.bytes else {
            throw RESPError(violation: "a value of more than \(limits.bytes) bytes")
        }
    }

    private mutating func begin(
        _ kind: Unicode.Scalar, _ content: ArraySlice<UInt8>
    ) throws(RESPError) {
        guard let count = try count(content, most: limits.elements, "array") else { return add(.null) }
        let missing = kind == "%" || kind == "|" ? 2 * count : count
        announced.elements += missing
        guard announced.elements <= limits.elements else {
            throw RESPError(violation: "a value of more than \(limits.elements) elements")
        }
        guard open.count < limits.depth else {
            throw RESPError(violation: "arrays nested more than \(limits.depth) deep")
        }
        open.append(Container(kind: kind, missing: missing))
    }

    private mutating func nextLine() throws(RESPError) -> Range<Int>? {
        guard let end = bytes[max(start, searched)...].firstIndex(of: 10) else {
            searched = bytes.count
            guard pending <= limits.lineBytes else {
                throw RESPError(violation: "a line of more than \(limits.lineBytes) bytes")
            }
            return nil
        }
        guard end - start >= 2, bytes[end - 1] == 13 else {
            throw RESPError(violation: "a line that doesn't end with CR and LF, or is empty")
        }
        defer { start = end + 1 }
        searched = end + 1
        return start..<end - 1
    }

    private mutating func endString(
        _ length: Int, _ kind: Unicode.Scalar
    ) throws(RESPError) -> RESPValue {
        let end = start + length
        guard bytes[end] == 13, bytes[end + 1] == 10 else {
            throw RESPError(violation: "a string that is longer than announced")
        }
        let content = bytes[start..<end]
        (start, searched, string) = (end + 2, end + 2, nil)
        if kind == "!" { return .error(String(decoding: content, as: UTF8.self)) }
        guard kind != "=" || length >= 4 else {
            throw RESPError(violation: "a verbatim string without a format")
        }
        return .bytes(Array(kind == "=" ? content.dropFirst(4) : content))
    }

    private func simple(
        _ kind: Unicode.Scalar, _ content: ArraySlice<UInt8>
    ) throws(RESPError) -> RESPValue {
        let text = String(decoding: content, as: UTF8.self)
        switch kind {
        case "+": return .status(text)
        case "-": return .error(text)
        case "_": return .null
        case "(": return .bigNumber(text)
        case ":": if let number = Int64(text) { return .integer(number) }
        case ",": if let number = Double(text) { return .double(number) }
        case "#": if text == "t" || text == "f" { return .boolean(text == "t") }
        default: throw RESPError(violation: "a value that begins with byte \(kind.value)")
        }
        throw RESPError(violation: "\(text.prefix(40).debugDescription) as a number")
    }

    /// A length; `nil` for the -1 that means null.
    private func count(
        _ digits: ArraySlice<UInt8>, most: Int, _ what: String
    ) throws(RESPError) -> Int? {
        let text = String(decoding: digits, as: UTF8.self)
        if text == "-1" { return nil }
        guard let count = Int(text), count >= 0 else {
            throw RESPError(violation: "\(text.prefix(40).debugDescription) as the length of a \(what)")
        }
        guard count <= most else { throw RESPError(violation: "a \(what) of \(count), more than \(most)") }
        return count
    }
}
