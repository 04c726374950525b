/// Encodes Swift's `Encodable` types as CBOR (RFC 8949).
///
/// The encoding is deterministic: equal content gives equal bytes in every process. Numbers take the shortest exact form,
/// lengths are definite, properties keep the order in which the type encodes them, and entries of dictionaries and sets are
/// sorted by their encoded bytes (RFC 8949, section 4.2.1). Exception: if a type calls the `encode(to:)` of a set, or of a
/// dictionary whose keys are neither texts nor integers, the elements keep that collection's random order.
///
/// | Swift | CBOR |
/// |---|---|
/// | structs, classes, enums with associated values | map with text keys |
/// | `Dictionary` of `String`, `Int` or `CodingKeyRepresentable` keys | map with text keys |
/// | other dictionaries | array of alternating keys and values |
/// | arrays, sets | array |
/// | `Data`, `[UInt8]` | byte string |
/// | integers up to 128 bits | integer, beyond 64 bits bignum (tags 2, 3) |
/// | `Float`, `Double` | the narrowest float that is exactly the number |
/// | `nil` where it is encoded | null |
/// | `Date` | seconds since 1970 (tag 1) if they are exact, else extended time as bigfloat (tag 1001, RFC 9581) |
/// | `Decimal` | decimal fraction (tag 4) without trailing zeros; NaN as float |
/// | `URL` | text (tag 32); one relative to another URL as its own coding writes it |
/// | `UUID` | 16 bytes (tag 37) |
///
/// Keys are always texts, as in JSON, even if the coding key has an integer value. Encoding the same key twice in a map is an
/// error. Containers and encoders are valid only during the call; afterwards every call on them throws.
public struct CBOREncoder: Sendable {
    /// The default of ``maximumDepth``.
    public static let defaultMaximumDepth = 256

    /// The `userInfo` of the encoders passed to `encode(to:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// The maximum nesting of values; a value that contains itself always exceeds it. The default needs less than 256 KB of
    /// stack in optimized builds and up to 2 MB in others: lower it for threads with a smaller stack.
    public var maximumDepth = defaultMaximumDepth

    /// Creates an encoder with default options.
    public init() {}

    /// Encodes `value`. O(size); dictionaries and sets take O(size · log entries).
    ///
    /// Throws errors of the value's `encode(to:)`, or `EncodingError.invalidValue` if values are nested too deeply, the value
    /// encodes nothing, or it misuses a container.
    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let encoder = ValueEncoder(userInfo: userInfo, maximumDepth: maximumDepth)
        return try encoder.encodeWhole(value)
    }

    /// Like ``encode(_:)``; reports each value without a native CBOR form to `watcher`, including the outermost.
    package func encode<Value: Encodable>(
        _ value: Value, watcher: any EncodingWatcher
    ) throws -> [UInt8] {
        let encoder = ValueEncoder(userInfo: userInfo, maximumDepth: maximumDepth)
        encoder.watcher = watcher
        return try encoder.encodeWhole(value)
    }

    /// Appends the encoding of `value` to the writer. On an error the writer stays unchanged.
    public func encode<Value: Encodable>(_ value: Value, into writer: inout CBORWriter) throws {
        let bytes = try encode(value)
        writer.bytes.append(contentsOf: bytes)
    }
}

/// Observes the structures, classes and enums inside a value while it is encoded.
package protocol EncodingWatcher: AnyObject {
    func willEncode<Value: Encodable>(_ value: Value, at path: [any CodingKey])
}
