import StorageEngine

/// Why an archive could not do what was asked. Each description is one line that says what, and what to do about it.
/// What the store itself refuses is a ``StorageEngine/StorageError``.
public enum ArchiveError: Error {
    /// The object's own encoding failed. Nothing was stored; what was there before stays.
    case unencodable(type: String, key: String, underlying: any Error)
    /// What is stored under the key is not a value of this type (any more). It stays on disk.
    case undecodable(type: String, key: String, underlying: any Error)
    /// `deArchive(fromData:)` or its neighbours returned an object of another type.
    case otherType(wanted: String, found: String)
    /// The type is not `Codable` and has neither `archive()` nor `archiveData()`, or not the way back.
    case noCoding(type: String)
    /// The archive of this ``Archivable/archiveName`` holds objects of another type, in this program or in the store.
    case nameInUse(archive: String, by: String, wanted: String)
    /// What is stored under the key is of a version that this program doesn't know yet. It stays, and is replaced by what is
    /// recorded under the key only, by no update and no other change.
    case newerVersion(type: String, key: String, found: Int, known: Int)
    /// A value that isn't encoded as properties can't have a version, or a part of it has none.
    case noProperties
    /// What is stored where a `String` should be is no UTF-8.
    case noText
    /// What was computed for one key, or made of its object, is the object of another one.
    case otherKey(wanted: String, computed: String)
    /// The computing of an object asks for that object.
    case computesItself(key: String)
    /// The closure that changes an object changes it by a second call as well.
    case changesItself(key: String)
    /// Two computings of objects ask for each other's, perhaps by way of others.
    case computesEachOther(key: String, other: String)
    /// The archive is of another kind than the one that was asked for, or holds messages instead of objects.
    case otherKind(archive: String, is: ArchiveKind, wanted: ArchiveKind)
    /// The factory has given out archives of its store, so it can't have another one.
    case storeInUse(path: String, wanted: String)
}

extension ArchiveError: CustomStringConvertible {
    /// One line for a person.
    public var description: String {
        switch self {
        case .unencodable(let type, let key, let underlying):
            "an object of type \(type) with the key \"\(key)\" can't be encoded: \(underlying)"
        case .undecodable(let type, let key, let underlying):
            "what is stored under \"\(key)\" is no \(type) any more: \(underlying); it stays on disk until it is "
                + "recorded anew or deleted"
        case .otherType(let wanted, let found):
            "deArchive(fromData:) of \(wanted) returned an object of type \(found)"
        case .noCoding(let type):
            "\(type) can't be archived: make it Codable, or implement archive() and deArchive(fromData:)"
        case .nameInUse(let archive, let type, let wanted):
            "the archive \"\(archive)\" holds objects of type \(type) and can't hold \(wanted) as well; give one of "
                + "them an archiveName of its own, or, if both are one type under two names, the same archiveTypeName"
        case .newerVersion(let type, let key, let found, let known):
            "what is stored under \"\(key)\" is version \(found) of \(type), and this program knows versions up to \(known); "
                + "update the program (nothing was changed)"
        case .noProperties:
            "only values that the library encodes as properties have versions; leave archive() and encode(to:) to it"
        case .noText: "the bytes are no UTF-8"
        case .otherKey(let wanted, let computed):
            "the object for the key \"\(wanted)\" has the primaryKey \"\(computed)\", under which nobody who asks for the "
                + "first would find it; give it the primaryKey that was asked for"
        case .computesItself(let key):
            "computing the object of the key \"\(key)\" asks for that object, and would wait for itself"
        case .changesItself(let key):
            "the closure that changes the object of the key \"\(key)\" changes it by another call as well, so that what it was "
                + "given is never what is there; change it in one place"
        case .computesEachOther(let key, let other):
            "computing the object of the key \"\(key)\" asks for that of \"\(other)\", whose computing waits for the first; both would "
                + "wait for ever"
        case .otherKind(let archive, let kind, let wanted):
            "the archive \"\(archive)\" is a \(kind) and stays one, so it can't be used as a \(wanted); ask for a \(kind), "
                + "or use another archiveName"
        case .storeInUse(let path, let wanted):
            "archives of the store at \(path) are in use, so it is too late to use \(wanted); say where the store is before "
                + "the first archive is asked for, @Archived properties included"
        }
    }
}

extension ArchiveError {
    var isNewerVersion: Bool { if case .newerVersion = self { true } else { false } }
}
