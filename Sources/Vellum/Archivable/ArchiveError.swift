import Foundation
import StorageEngine

/// An error of a call on an archive. Each description is one line that says what happened and what to do. Errors of the
/// store are ``StorageError``s.
public enum ArchiveError: Error {
    /// The object's encoding failed. Nothing was stored, and the previous value stays.
    case unencodable(type: String, key: String, underlying: any Error)
    /// The value stored under the key can't be decoded as this type. It stays on disk.
    case undecodable(type: String, key: String, underlying: any Error)
    /// `deArchive(fromData:)` or another decoding function returned an object of another type.
    case otherType(wanted: String, found: String)
    /// The type isn't `Codable` and implements neither `archive()` nor `archiveData()`, or no counterpart for decoding.
    case noCoding(type: String)
    /// The archive of this ``Archivable/archiveName`` holds objects of another type, in this program or in the store.
    case nameInUse(archive: String, by: String, wanted: String)
    /// The stored value has a newer version than this program supports. Only `record` replaces it, no other change.
    case newerVersion(type: String, key: String, found: Int, known: Int)
    /// The value, or the part of it that is to change, isn't encoded as properties, so it can't have a version.
    case noProperties
    /// The bytes of a stored `String` are not valid UTF-8.
    case noText
    /// The object that was computed or changed for one key has another key.
    case otherKey(wanted: String, computed: String)
    /// The computation of an object requests that same object.
    case computesItself(key: String)
    /// The closure that changes an object also changes it by another call.
    case changesItself(key: String)
    /// The computations of two objects request each other's, directly or through others.
    case computesEachOther(key: String, other: String)
    /// The archive's kind differs from the requested one, or it is a log, which holds no objects.
    case otherKind(archive: String, is: ArchiveKind, wanted: ArchiveKind)
    /// The factory has already returned archives of its store, so it can't move to another one.
    case storeInUse(path: String, wanted: String)
}

/// The published library's name of ``ArchiveError``, for code that names the type. Its cases are this library's.
public typealias VellumError = ArchiveError

extension ArchiveError: LocalizedError {
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension ArchiveError: CustomStringConvertible {
    /// The error in one line.
    public var description: String {
        switch self {
        case .unencodable(let type, let key, let underlying):
            "an object of type \(type) with the key \"\(key)\" can't be encoded: \(underlying)"
        case .undecodable(let type, let key, let underlying):
            "the value stored under \"\(key)\" can't be read as \(type): \(underlying); it stays on disk until it is "
                + "replaced or deleted"
        case .otherType(let wanted, let found):
            "deArchive(fromData:) of \(wanted) returned an object of type \(found)"
        case .noCoding(let type):
            "\(type) can't be archived: make it Codable, or implement archive() and deArchive(fromData:)"
        case .nameInUse(let archive, let type, let wanted):
            "the archive \"\(archive)\" holds objects of type \(type) and can't hold \(wanted) as well; give one of "
                + "them another archiveName, or both the same archiveTypeName if they are one type"
        case .newerVersion(let type, let key, let found, let known):
            "the value of \"\(key)\" has version \(found) of \(type), this program supports versions up to \(known); update the "
                + "program (nothing was changed)"
        case .noProperties:
            "only values that the library encodes as properties have versions; don't implement archive() or encode(to:)"
        case .noText: "the bytes are not UTF-8"
        case .otherKey(let wanted, let computed):
            "the object for the key \"\(wanted)\" has the primaryKey \"\(computed)\", so a look-up of the first would "
                + "not find it; return an object with the requested primaryKey"
        case .computesItself(let key):
            "computing the object of the key \"\(key)\" requests that same object, and would wait for itself"
        case .changesItself(let key):
            "the closure that changes the object of the key \"\(key)\" also changes it by another call, so it "
                + "would be retried forever; change the object in one place only"
        case .computesEachOther(let key, let other):
            "computing the object of the key \"\(key)\" requests that of \"\(other)\", whose computation waits for the first; "
                + "both would wait forever"
        case .otherKind(let archive, let kind, let wanted):
            "the archive \"\(archive)\" is a \(kind), so it can't be used as a \(wanted); request a \(kind), "
                + "or use another archiveName"
        case .storeInUse(let path, let wanted):
            "archives of the store at \(path) are in use, so it is too late to use \(wanted); set the store before the first archive "
                + "is requested, @Archived properties included"
        }
    }

    var isNewerVersion: Bool { if case .newerVersion = self { true } else { false } }
}
