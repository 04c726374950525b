import Foundation

/// An object that an archive can hold. It has a key, and converts to bytes and back.
///
/// A `Codable` type needs only ``primaryKey``; its values are stored as CBOR, which the `vellum` browser can show
/// and query. A type that implements ``archive()`` itself may store anything.
///
/// ```swift
/// struct User: Codable, Archivable {
///     var primaryKey: String { userName }
///     var userName: String
///     var age: Int
/// }
/// ```
public protocol Archivable: SendableMetatype {
    /// The name of this type's archive, 1 to 80 bytes of UTF-8 (in the name of its folder everything but letters
    /// and digits is escaped). By default the type's own name, `City` for `Geo.City`.
    static var archiveName: String { get }

    /// The type's name as stored in the archive, which keeps other types from using the archive by mistake. By default it
    /// includes the module and enclosing types, `Geo.City`. A type that was renamed or moved returns its former name here, and a
    /// type in another program that shares the archive returns the same name. At most 1,024 bytes.
    static var archiveTypeName: String { get }

    /// What happens to archivable properties when an object is recorded. By default they are stored in their own
    /// archives, unless these already have an object with that key.
    static var archivePropertyBehavior: ArchivePropertyBehavior { get }

    /// The object's key: 1 to 1,024 bytes of UTF-8, compared byte by byte.
    var primaryKey: String { get }

    /// Encodes the object.
    func archive() throws -> Data

    /// Decodes an object from the bytes that ``archive()`` returned.
    static func deArchive(fromData data: Data) throws -> Archivable

    /// Decodes an object from its bytes and the key that it is stored under, for types whose bytes don't contain the
    /// key. Archives call this function. The default implementation calls ``deArchive(fromData:)``.
    static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable

    /// Another spelling of ``archive()``; a type implements one of the two.
    func archiveData() throws -> Data

    /// Another spelling of ``deArchive(fromData:)``; a type implements one of the two.
    static func decode(archive data: Data) throws -> Archivable
}

/// A type whose values are encoded by the library.
public typealias ArchiveCodable = Archivable & Codable

/// What happens to the archivable properties of an object that is recorded.
public enum ArchivePropertyBehavior: Sendable, Hashable {
    /// They are stored in their own archives and replace objects with the same key.
    case replaceExisting
    /// They are stored in their own archives, unless these already have an object with that key.
    case insertIfNotPresent
    /// They are stored as a part of the object only.
    case ignore
}

extension Archivable {
    /// The type's own name, without its module or the types around it.
    public static var archiveName: String { String(describing: Self.self) }

    /// The type's name with its module and the types around it.
    public static var archiveTypeName: String { readableName(of: Self.self) }

    /// ``ArchivePropertyBehavior/insertIfNotPresent``.
    public static var archivePropertyBehavior: ArchivePropertyBehavior { .insertIfNotPresent }
}
