/// The head of an item: for a number or simple value the whole item, for a string or container its length. A nil count means an
/// indefinite length, which a break ends.
public enum CBORHead: Sendable, Hashable {
    /// The number itself.
    case unsigned(UInt64)
    /// The number -1 - n.
    case negative(UInt64)
    /// `count` bytes follow.
    case bytes(count: Int?)
    /// `count` bytes of UTF-8 follow.
    case text(count: Int?)
    /// `count` items follow.
    case array(count: Int?)
    /// `count` entries follow, each a key and a value.
    case map(count: Int?)
    /// The tag's content follows.
    case tag(UInt64)
    /// A simple value without a case of its own.
    case simple(CBORSimpleValue)
    /// `false` or `true`.
    case boolean(Bool)
    /// `null`.
    case null
    /// `undefined`.
    case undefined
    /// A half, single or double precision number; all three convert exactly.
    case float(Double)
}
