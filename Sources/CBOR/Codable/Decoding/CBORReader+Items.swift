extension CBORReader {
    init(_ bytes: UnsafeRawBufferPointer, at offset: Int, maximumDepth: Int) {
        self.init(bytes, maximumDepth: maximumDepth)
        self.offset = offset
    }

    /// Calls a throwing method of the reader and wraps its error in a fault.
    @inline(__always)
    mutating func checked<Result>(
        _ body: (inout CBORReader) throws(CBORError) -> Result
    ) throws(ReadFault) -> Result {
        do throws(CBORError) { return try body(&self) } catch { throw .malformed(error) }
    }

    /// The first byte of the next item, nil at the end of the input.
    @inline(__always)
    var initialByte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Whether the item at `place` is this text. False for a text whose head has more than one byte.
    @inline(__always)
    func hasShortText(_ text: UnsafeRawBufferPointer, at place: Int) -> Bool {
        let length = text.count
        guard length < Int(AdditionalInformation.oneByte), place >= 0, place < bytes.count - length,
            bytes[place] == MajorType.text.rawValue | UInt8(length)
        else { return false }
        return text.hasSameBytes(as: UnsafeRawBufferPointer(rebasing: bytes[place + 1..<place + 1 + length]))
    }

    /// Skips all tags before an item. O(tags).
    @inline(__always)
    mutating func skipTags() throws(ReadFault) {
        while let initial = initialByte, MajorType(of: initial) == .tag { _ = try nextTag() }
    }

    mutating func nextTag() throws(ReadFault) -> UInt64? {
        guard let initial = initialByte, MajorType(of: initial) == .tag else { return nil }
        return try checked { reader throws(CBORError) in
            let start = reader.offset
            _ = try reader.readInitialByte()
            return try reader.readArgument(initial & 0x1f, of: start)
        }
    }

    func nextType() throws(ReadFault) -> MajorType {
        guard let initialByte else { throw .malformed(CBORError(offset: bytes.count, reason: .truncated)) }
        return MajorType(of: initialByte)
    }

    /// Skips the next item if it is null or undefined, and returns whether it was.
    @inline(__always)
    mutating func readNull() throws(ReadFault) -> Bool {
        if let initialByte, MajorType(of: initialByte) == .tag {
            let start = offset
            try skipTags()
            if isAtNull { offset += 1 } else { offset = start }
            return offset != start
        }
        if isAtNull {
            offset += 1
            return true
        }
        return false
    }

    private var isAtNull: Bool { initialByte == SimpleByte.null || initialByte == SimpleByte.undefined }

    /// Reads the tags and the head of a container. Nil: the item isn't of that type (only its tags are read); inner nil: indefinite length.
    @inline(__always)
    mutating func open(_ type: MajorType) throws(ReadFault) -> Int?? {
        try skipTags()
        guard let initialByte, MajorType(of: initialByte) == type else { return .none }
        switch try checked({ reader throws(CBORError) in try reader.readHead() }) {
        case .map(let count), .array(let count): return .some(count)
        default: return .none
        }
    }

    mutating func readMapKey() throws(ReadFault) -> MapKey {
        try skipTags()
        let start = offset
        return try checked { reader throws(CBORError) in
            switch try reader.readHead() {
            case .text(let count?): return .text(try reader.readContent(count: count))
            case .text(nil): return .assembled(Array(try reader.readText(count: nil).utf8))
            case .unsigned(let number): return Int(exactly: number).map { .integer($0) } ?? .other
            case .negative(let number): return Int(exactly: number).map { .integer(~$0) } ?? .other
            default:
                reader.offset = start
                try reader.skipItem()
                return .other
            }
        }
    }

    mutating func skipValue(isIndefinite: Bool) throws(ReadFault) {
        try checked { reader throws(CBORError) in
            if isIndefinite { try reader.expectValueAfterKey() }
            try reader.skipItem()
        }
    }

    /// The fault for a next item whose kind isn't `expected`.
    mutating func mismatch(_ expected: any Any.Type) throws(ReadFault) -> ReadFault {
        try skipTags()
        return switch try checked({ reader throws(CBORError) in try reader.readHead() }) {
        case .null, .undefined: .null(expected)
        case .unsigned, .negative: .mismatch(expected, found: "an integer")
        case .bytes: .mismatch(expected, found: "a byte string")
        case .text: .mismatch(expected, found: "a text")
        case .array: .mismatch(expected, found: "an array")
        case .map: .mismatch(expected, found: "a map")
        case .tag: .mismatch(expected, found: "a tag")
        case .simple: .mismatch(expected, found: "a simple value")
        case .boolean: .mismatch(expected, found: "a boolean")
        case .float: .mismatch(expected, found: "a float")
        }
    }
}
