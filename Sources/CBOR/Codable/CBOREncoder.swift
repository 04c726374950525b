#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sendable value type; safe to use from any thread. Writes values of Swift's `Encodable` types as CBOR (RFC 8949).
///
/// The encoding is deterministic: equal content gives equal bytes, in every process. Numbers have the shortest form that
/// keeps them, lengths are definite, a type's properties stay in the order in which it encodes them, and the entries of
/// dictionaries and sets are sorted by their encoded bytes (RFC 8949, section 4.2.1). Only a set, or a dictionary whose
/// keys are neither texts nor integers, that a type writes by calling the collection's own `encode(to:)` keeps the order
/// of that collection, which is random.
///
/// | Swift | CBOR |
/// |---|---|
/// | structs, classes, enums with associated values | map with text keys |
/// | `Dictionary` of `String`, `Int` or `CodingKeyRepresentable` keys | map with text keys |
/// | other dictionaries | array of keys and values in turns |
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
/// Keys are always texts, as in JSON, also those that have an integer value. A key that one map is given twice is an
/// error. All that a value holds is encoded while the call lasts; a container or encoder that is kept for later only
/// throws.
public struct CBOREncoder: Sendable {
    /// How many values may stand within each other unless told otherwise. See ``maximumDepth``.
    public static let defaultMaximumDepth = 256

    /// What encoders that types get to see offer them.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// The nesting that is followed before the value is refused, which a value that holds itself always is. So
    /// many levels as by default take less than 256 KB of stack in optimised builds, up to 2 MB in others: a thread with
    /// less needs a lower limit.
    public var maximumDepth = defaultMaximumDepth

    public init() {}

    /// The encoding of `value`. O(size), dictionaries and sets O(size · log entries).
    ///
    /// Throws what the value's own `encode(to:)` throws, or `EncodingError.invalidValue`: nesting too deep, nothing
    /// encoded at the top level, a container used in a way that has no meaning.
    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        let encoder = ValueEncoder(userInfo: userInfo, maximumDepth: maximumDepth)
        return try encoder.encodeWhole(value)
    }

    /// As ``encode(_:)``, and tells `watcher` of each value that isn't written natively, the whole one included.
    package func encode<Value: Encodable>(
        _ value: Value, watcher: any EncodingWatcher
    ) throws -> [UInt8] {
        let encoder = ValueEncoder(userInfo: userInfo, maximumDepth: maximumDepth)
        encoder.watcher = watcher
        return try encoder.encodeWhole(value)
    }

    /// Appends the encoding of `value` to what the writer holds; after an error the writer is as it was.
    public func encode<Value: Encodable>(_ value: Value, into writer: inout CBORWriter) throws {
        let bytes = try encode(value)
        writer.bytes.append(contentsOf: bytes)
    }
}

/// Sees the structures, classes and enums within a value while it is encoded.
package protocol EncodingWatcher: AnyObject {
    func willEncode<Value: Encodable>(_ value: Value, at path: [any CodingKey])
}
