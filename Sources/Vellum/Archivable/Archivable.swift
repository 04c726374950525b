import Foundation

/// An object that an archive can hold: it has a key, and can be made into bytes and back.
///
/// A type that is `Codable` needs ``primaryKey`` only; its values are stored as CBOR, which the `vellum` browser
/// shows and queries. A type that writes its own ``archive()`` may store anything.
///
/// ```swift
/// struct User: Codable, Archivable {
///     var primaryKey: String { userName }
///     var userName: String
///     var age: Int
/// }
/// ```
public protocol Archivable: SendableMetatype {
    /// The name of the archive of this type, 1 to 80 bytes of UTF-8 (what is no letter or digit is escaped in the
    /// name of its folder). By default the type's own name, `City` for `Geo.City`.
    static var archiveName: String { get }

    /// By what name the archive knows the type, so that no other uses the archive by mistake. By default the type's name with
    /// its module and the types around it, `Geo.City`. A type that was renamed or moved says its former name here, and so
    /// does a type of another program that shares the archive. At most 1,024 bytes.
    static var archiveTypeName: String { get }

    /// What becomes of properties that are archivable themselves when an object is recorded. By default they are
    /// stored in their own archives unless these have them already.
    static var archivePropertyBehavior: ArchivePropertyBehavior { get }

    /// What the object is found by: 1 to 1,024 bytes of UTF-8, compared byte by byte.
    var primaryKey: String { get }

    /// The object as bytes.
    func archive() throws -> Data

    /// The object that ``archive()`` made these bytes of.
    static func deArchive(fromData data: Data) throws -> Archivable

    /// The object that ``archive()`` made these bytes of, and that is stored under this key: for a type whose bytes don't say
    /// the key. Archives call this one. Where nothing else is said, ``deArchive(fromData:)``.
    static func deArchive(fromData data: Data, forKey key: String) throws -> Archivable

    /// Another spelling of ``archive()``; a type implements one of the two.
    func archiveData() throws -> Data

    /// Another spelling of ``deArchive(fromData:)``; a type implements one of the two.
    static func decode(archive data: Data) throws -> Archivable
}

/// A type whose values are encoded by the library.
public typealias ArchiveCodable = Archivable & Codable

/// What becomes of archivable properties of an object that is recorded.
public enum ArchivePropertyBehavior: Sendable, Hashable {
    /// They are stored in their own archives, replacing what is there.
    case replaceExisting
    /// They are stored in their own archives, unless these have an object of that key already.
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
