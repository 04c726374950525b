import StorageEngine

// The engine's types in this library's interface, so that users need only `import Vellum`.

/// Why a call on the store failed. Each description is one line that says what happened, where, and what to do.
public typealias StorageError = StorageEngine.StorageError

/// What survives a system crash or a power loss.
public typealias Durability = StorageEngine.Durability

/// What an archive does when it is full.
public typealias ArchiveKind = StorageEngine.ArchiveKind
