#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sendable value type; safe to use from any thread. Reads values of Swift's `Decodable` types from CBOR (RFC 8949), as
/// ``CBOREncoder`` or another program wrote it.
///
/// What is read may be in any valid form: indefinite lengths, heads and floats longer than necessary, entries in any
/// order (in the order of the type's properties they are found fastest). Beyond what ``CBOREncoder`` writes:
///
/// - A tag without a meaning for the type that is asked for is stepped over.
/// - An integer may stand as a float, bignum or decimal fraction that is an integer, a float as any number; it becomes
///   the nearest one. A number that the type doesn't have is `DecodingError.dataCorrupted`.
/// - Keys of maps are compared byte by byte. An integer is the key that has it as `intValue`, text the one that has it as
///   `stringValue`; keys of other kinds are found by nobody. Of equal keys the first counts.
/// - `undefined` is read as null.
/// - `Date` may be a plain number, the seconds since 2001 that `Date` itself would encode; `UUID` 16 bytes or text;
///   `Data` and `[UInt8]` an array of numbers.
///
/// Bytes after the value are an error. Memory is taken in proportion to what the input holds, never to what it claims to
/// hold. Texts that the type doesn't ask for are not checked to be UTF-8; all else of the input is checked to be
/// well-formed. Containers and decoders are of use while the call lasts; one that is kept for later only throws.
public struct CBORDecoder: Sendable {
    /// How many values may stand within each other unless told otherwise. See ``maximumDepth``.
    public static let defaultMaximumDepth = 256

    /// What decoders that types get to see offer them.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// The nesting that is followed before the input is refused. So many levels as by default take less than 256 KB of
    /// stack in optimised builds, up to 2 MB in others: a thread with less needs a lower limit.
    public var maximumDepth = defaultMaximumDepth

    public init() {}

    /// The value that `bytes` are. O(size).
    ///
    /// Throws what the type's own `init(from:)` throws, or `DecodingError`; if the bytes are not CBOR or nested too deep,
    /// that is `dataCorrupted` with a ``CBORError`` as its underlying error.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// The value that `data` are; see the first `decode`.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try data.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// The value that `bytes` are, which must not change while the call lasts; see the first `decode`.
    public func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer
    ) throws -> Value {
        var sawReference = false
        return try decode(type, from: bytes, sawReference: &sawReference)
    }

    /// The same, and says whether the value is an object of a class, or holds one.
    package func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer, sawReference: inout Bool
    ) throws -> Value {
        let source = DecodingSource(bytes, userInfo: userInfo, maximumDepth: maximumDepth)
        defer { sawReference = source.sawReference }
        // What a type may have kept of its decoder must not reach the memory any more.
        defer { source.close() }
        let root = ValueDecoder(source: source)
        let value = try root.decode(type)
        try root.expectEnd()
        return value
    }
}
