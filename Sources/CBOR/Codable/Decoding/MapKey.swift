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

    func isSame(as other: MapKey) -> Bool {
        switch other {
        case .text(let bytes): isEqual(to: bytes, number: nil)
        case .assembled(let bytes): bytes.withUnsafeBytes { isEqual(to: $0, number: nil) }
        case .integer(let number): if case .integer(number) = self { true } else { false }
        case .other: false
        }
    }
}
