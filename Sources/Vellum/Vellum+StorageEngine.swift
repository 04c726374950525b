import StorageEngine

// What of the engine's types this library's calls take or throw, so that `import Vellum` is enough for its users.

/// Why the store could not do what was asked. Each description is one line that says what, where, and what to do about it.
public typealias StorageError = StorageEngine.StorageError

/// What of an archive survives a crash of the system or a power loss.
public typealias Durability = StorageEngine.Durability

/// What an archive does when it is full.
public typealias ArchiveKind = StorageEngine.ArchiveKind
