enum MapKey {
    case text(UnsafeRawBufferPointer)
    /// A text of indefinite length, joined from its chunks.
    case assembled([UInt8])
    case integer(Int)
    /// A kind that no `CodingKey` can be, or an integer outside the range of `Int`.
    case other

    /// The signatures of all keys that may equal this one.
    var signature: UInt128 {
        switch self {
        case .text(let bytes): KeySignature.bit(of: bytes)
        case .assembled(let bytes): bytes.withUnsafeBytes { KeySignature.bit(of: $0) }
        // The coding key of this number may have any text.
        case .integer: .max
        case .other: 0
        }
    }

    func isEqual(to name: UnsafeRawBufferPointer, number: Int?) -> Bool {
        switch self {
        case .text(let bytes): bytes.hasSameBytes(as: name)
        case .assembled(let bytes): bytes.withUnsafeBytes { $0.hasSameBytes(as: name) }
        case .integer(let integer): integer == number
        case .other: false
        }
    }
}

extension CBORReader {
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
}
