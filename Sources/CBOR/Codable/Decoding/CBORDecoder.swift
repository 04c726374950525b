#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decodes Swift's `Decodable` types from CBOR (RFC 8949) of ``CBOREncoder`` or another program.
///
/// Accepts every valid form: indefinite lengths, heads and floats longer than necessary, and map entries in any order (fastest
/// in the order in which the type requests them). It also accepts more than ``CBOREncoder`` writes:
///
/// - A tag without a meaning for the requested type is skipped.
/// - An integer may be encoded as a float, bignum or decimal fraction with an integral value. A float may be encoded as any
///   number, and becomes the nearest float. A number outside the type's range is `DecodingError.dataCorrupted`.
/// - Text keys match a coding key's `stringValue` byte by byte, integer keys its `intValue`. Keys of other kinds are ignored.
///   If a key occurs twice, the first entry counts.
/// - `undefined` decodes like null.
/// - `Date` may be a plain number, the seconds since 2001 that `Date` itself would encode; `UUID` may be 16 bytes or text;
///   `Data` and `[UInt8]` may be an array of numbers.
///
/// Bytes after the value are an error. Memory use is proportional to the actual input, never to the lengths that it claims. The
/// whole input is checked to be well-formed, except that texts which the type doesn't read are not checked for UTF-8.
/// Containers and decoders are valid only during the call; afterwards every call on them throws.
public struct CBORDecoder: Sendable {
    /// The default of ``maximumDepth``.
    public static let defaultMaximumDepth = 256

    /// The `userInfo` of the decoders passed to `init(from:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// The maximum nesting of values. The default needs less than 256 KB of stack in optimized builds and up to 2 MB in others:
    /// lower it for threads with a smaller stack.
    public var maximumDepth = defaultMaximumDepth

    /// Creates a decoder with default options.
    public init() {}

    /// Decodes a value from all of `bytes`. O(size).
    ///
    /// Throws errors of the type's `init(from:)`, or `DecodingError`. Bytes that are not CBOR, or are nested too deeply, give
    /// `dataCorrupted` with a ``CBORError`` as its underlying error.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// Decodes a value from all of `data`, as from an array of bytes.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try data.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// Decodes a value from all of `bytes`, as from an array. The memory must not change during the call.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer
    ) throws -> Value {
        var sawReference = false
        return try decode(type, from: bytes, sawReference: &sawReference)
    }

    /// Decodes a value; sets `sawReference` if it is an instance of a class or contains one.
    package func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer, sawReference: inout Bool
    ) throws -> Value {
        let source = DecodingSource(bytes, userInfo: userInfo, maximumDepth: maximumDepth)
        defer { sawReference = source.sawReference }
        // The type may have kept its decoder, which must not reach the memory after the call.
        defer { source.close() }
        let root = ValueDecoder(source: source)
        let value = try root.decode(type)
        try root.expectEnd()
        return value
    }
}
