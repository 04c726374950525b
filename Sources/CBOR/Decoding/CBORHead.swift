/// Sendable value type; safe to use from any thread. The beginning of an item: all of it for a number or a simple
/// value, the length for a string or container. A count of nil means an indefinite length, which ends with a break.
public enum CBORHead: Sendable, Hashable {
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
    case simple(CBORSimpleValue)
    case boolean(Bool)
    case null
    case undefined
    case float(Double)
}
