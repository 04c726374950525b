/// The key of a map's entry. Texts are compared by their bytes.
enum MapKey: Hashable {
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

    static func == (left: MapKey, right: MapKey) -> Bool {
        switch right {
        case .text(let bytes): left.isEqual(to: bytes, number: nil)
        case .assembled(let bytes): bytes.withUnsafeBytes { left.isEqual(to: $0, number: nil) }
        case .integer(let number): if case .integer(number) = left { true } else { false }
        case .other: if case .other = left { true } else { false }
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let bytes): hasher.combine(bytes: bytes)
        case .assembled(let bytes): bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        case .integer(let number): hasher.combine(number)
        case .other: break
        }
    }
}
