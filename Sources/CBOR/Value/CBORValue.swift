/// One CBOR data item of any kind (RFC 8949, section 2).
///
/// Keeps everything in the data model: the whole integer range, tags, the order of map entries and duplicate keys, every bit of
/// a floating-point number. It doesn't keep how an item was encoded: indefinite lengths, and heads or floats wider than
/// necessary, are written back in preferred serialization (RFC 8949, section 4.1).
///
/// Two values are equal exactly when ``CBORWriter`` writes the same bytes for them. Hence a NaN equals a NaN with the same
/// payload, `0.0` differs from `-0.0`, the integer 1 differs from the float 1.0, map entries compare in order, and texts
/// compare by their UTF-8 bytes, not by canonical equivalence as `String` does.
public enum CBORValue: Sendable {
    /// A number from 0 to 2^64 - 1 (major type 0).
    case unsigned(UInt64)
    /// The number -1 - n, from -2^64 to -1 (major type 1).
    case negative(UInt64)
    /// A byte string (major type 2).
    case bytes([UInt8])
    /// A text (major type 3).
    case text(String)
    /// An array (major type 4).
    case array([CBORValue])
    /// A map (major type 5), with its entries in order.
    case map(CBORMap)
    /// A tag number and its content (major type 6). Bignums (2, 3) and decimal fractions (4) are kept in this form.
    indirect case tagged(UInt64, CBORValue)
    /// A simple value without a case of its own.
    case simple(CBORSimpleValue)
    /// `false` or `true`.
    case boolean(Bool)
    /// `null`.
    case null
    /// `undefined`.
    case undefined
    /// A half, single or double precision number. The narrower two convert exactly.
    case float(Double)
}

extension CBORValue: Equatable {
    public static func == (left: CBORValue, right: CBORValue) -> Bool {
        switch (left, right) {
        case (.unsigned(let a), .unsigned(let b)): a == b
        case (.negative(let a), .negative(let b)): a == b
        case (.bytes(let a), .bytes(let b)): a == b
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.array(let a), .array(let b)): a == b
        case (.map(let a), .map(let b)): a == b
        case (.tagged(let a, let x), .tagged(let b, let y)): a == b && x == y
        case (.simple(let a), .simple(let b)): a == b
        case (.boolean(let a), .boolean(let b)): a == b
        case (.null, .null), (.undefined, .undefined): true
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
        default: false
        }
    }
}

extension CBORValue: Hashable {
    public func hash(into hasher: inout Hasher) {
        func combine(_ kind: UInt8, _ content: some Hashable) {
            hasher.combine(kind)
            hasher.combine(content)
        }
        switch self {
        case .unsigned(let number): combine(0, number)
        case .negative(let number): combine(1, number)
        case .bytes(let bytes): combine(2, bytes)
        case .text(var text):
            combine(3, text.utf8.count)
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .array(let items): combine(4, items)
        case .map(let map): combine(5, map)
        case .tagged(let tag, let content):
            combine(6, tag)
            hasher.combine(content)
        case .simple(let simple): combine(7, simple)
        case .boolean(let flag): combine(8, flag)
        case .null: hasher.combine(9 as UInt8)
        case .undefined: hasher.combine(10 as UInt8)
        case .float(let number): combine(11, number.bitPattern)
        }
    }
}
