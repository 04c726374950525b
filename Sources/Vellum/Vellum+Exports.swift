// What this library's calls take, return or throw, and its articles use, so that `import Vellum` is enough for its users, also where
// they have members of modules visible only by import. Other names of these modules stay out of their sight.
@_exported import enum CBOR.CBORValue
@_exported import struct Foundation.Data
@_exported import struct Foundation.Date
@_exported import struct Foundation.URL
@_exported import struct Logging.Logger
@_exported import enum StorageEngine.ArchiveKind
@_exported import enum StorageEngine.Durability
@_exported import enum StorageEngine.StorageError

/// Why the store could not do what was asked. Each description is one line that says what, where, and what to do about it.
public typealias StorageError = StorageEngine.StorageError

/// What of an archive survives a crash of the system or a power loss.
public typealias Durability = StorageEngine.Durability

/// What an archive does when it is full.
public typealias ArchiveKind = StorageEngine.ArchiveKind
