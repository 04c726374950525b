// The types of other modules that this library's calls and articles use, so that `import Vellum` is enough.
@_exported import enum CBOR.CBORValue
@_exported import struct Foundation.Data
@_exported import struct Foundation.Date
@_exported import struct Foundation.URL
@_exported import struct Logging.Logger
@_exported import enum StorageEngine.ArchiveKind
@_exported import enum StorageEngine.Durability
@_exported import enum StorageEngine.EvictionPolicy
@_exported import enum StorageEngine.StorageError

/// An error of a call on the store. Each description is one line that says what happened, where, and what to do.
public typealias StorageError = StorageEngine.StorageError

/// Which changes of an archive survive a system crash or a power failure.
public typealias Durability = StorageEngine.Durability

/// The entries that an archive keeps: the most recent ones, all, or the newest messages.
public typealias ArchiveKind = StorageEngine.ArchiveKind

/// How a cache selects the objects that it evicts from disk.
public typealias EvictionPolicy = StorageEngine.EvictionPolicy
