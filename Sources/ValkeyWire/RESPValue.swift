/// A reply or a push, by the Redis serialization protocol 2 and 3 (<https://valkey.io/topics/protocol/>).
package enum RESPValue: Sendable, Hashable {
    /// `$`, and `=` without its three letters of format.
    case bytes([UInt8])
    /// `+`: a status such as `OK`.
    case status(String)
    /// `:`
    case integer(Int64)
    /// `-` and `!`. The first word is the kind of error.
    case error(String)
    /// `_`, and the null strings and arrays of version 2.
    case null
    /// `,`
    case double(Double)
    /// `#`
    case boolean(Bool)
    /// `(`: an integer of any length, as its digits.
    case bigNumber(String)
    /// `*` and `~`.
    case array([RESPValue])
    /// `%`: keys and values in turn.
    case map([RESPValue])
    /// `>`: a message without a request. The first element is its kind.
    case push([RESPValue])

    /// The text of a string or a status; `nil` if it isn't UTF-8, or something else.
    package var text: String? {
        switch self {
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        case .status(let text), .bigNumber(let text): text
        default: nil
        }
    }

    package var number: Int64? {
        switch self {
        case .integer(let number): number
        case .bytes, .status: text.flatMap { Int64($0) }
        default: nil
        }
    }

    /// The elements of an array, a map (keys and values in turn) or a push.
    package var elements: [RESPValue]? {
        switch self {
        case .array(let elements), .map(let elements), .push(let elements): elements
        default: nil
        }
    }
}
