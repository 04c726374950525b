import StorageEngine

/// Changes of one object that depend on what it is, by any number of threads and processes at once.
extension ArchiveManager {
    /// Changes the object of a key in one step: no change by another thread or process comes between, and none is lost. Its lifetimes
    /// and its owner stay where nothing else is said, as they do in an ``ArchiveManager/update(_:expiresIn:inMemory:owner:dropping:)``.
    ///
    /// No lock is held while `change` runs. If another change of the object came first, `change` is called again with what is
    /// there then, so it must have no effects of its own; how often that happened is in ``ArchiveStatistics/conflicts``.
    ///
    /// ```swift
    /// try users.modify(archiveWithKey: "ada") { $0.age += 1 }
    /// ```
    ///
    /// - Returns: the object as it is stored now; `nil` if there is none of this key.
    /// - Throws: what `change` throws, and then nothing is changed; ``ArchiveError/otherKey(wanted:computed:)`` if it changed the
    ///   primary key, and ``ArchiveError/changesItself(key:)`` if it changed the same object by another call, so that what it was
    ///   given is never what is there; ``ArchiveError/undecodable(type:key:underlying:)`` and
    ///   ``ArchiveError/newerVersion(type:key:found:known:)`` if there is something else than an object; ``StorageError``, `busy` among them when others were first again and again for ten seconds.
    @discardableResult
    public func modify(
        archiveWithKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: (inout Archive) throws -> Void
    ) throws -> Archive? {
        try throwing.modify(
            archiveWithKey: key, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner, change)
    }

    /// As ``modify(archiveWithKey:expiresIn:inMemory:owner:_:)``, with an object to begin with where there is none; that gets the
    /// archive's lifetime if none is said. What is stored and can't be decoded any more is none here, as it is for
    /// ``access(archiveWithKey:)``, and is replaced.
    @discardableResult
    public func modify(
        archiveWithKey key: String, default initial: @autoclosure () throws -> Archive,
        expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: (inout Archive) throws -> Void
    ) throws -> Archive {
        try throwing.modify(
            archiveWithKey: key, default: initial(), expiresIn: lifetime, inMemory: memoryLifetime,
            owner: owner, change)
    }

    /// Stores the object if the one of its key is still `expected`, or if there still is none where that is `nil`; otherwise does
    /// nothing and returns `false`. Its lifetimes and its owner stay where nothing else is said, as in an
    /// ``ArchiveManager/update(_:expiresIn:inMemory:owner:dropping:)``.
    public func record(
        _ object: Archive, replacing expected: Archive?, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) throws -> Bool where Archive: Equatable {
        try throwing.record(
            object, replacing: expected, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
    }
}

extension ThrowingArchives {
    /// As ``ArchiveManager/modify(archiveWithKey:expiresIn:inMemory:owner:_:)``.
    @discardableResult
    public func modify(
        archiveWithKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: (inout Archive) throws -> Void
    ) throws -> Archive? {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try handle.perform { try $0.modify(key, terms, change) }
    }

    /// As ``ArchiveManager/modify(archiveWithKey:default:expiresIn:inMemory:owner:_:)``.
    @discardableResult
    public func modify(
        archiveWithKey key: String, default initial: @autoclosure () throws -> Archive,
        expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: (inout Archive) throws -> Void
    ) throws -> Archive {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try handle.perform { try $0.modify(key, default: initial, terms, change) }
    }

    /// As ``ArchiveManager/record(_:replacing:expiresIn:inMemory:owner:)``.
    public func record(
        _ object: Archive, replacing expected: Archive?, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) throws -> Bool where Archive: Equatable {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try handle.perform { try $0.record(object, terms) { $0 == expected } }
    }
}

extension AsynchronousArchives {
    /// As ``ArchiveManager/modify(archiveWithKey:expiresIn:inMemory:owner:_:)``; `change` runs on another thread.
    @discardableResult
    public nonisolated(nonsending) func modify(
        archiveWithKey key: String, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: @escaping @Sendable (inout Archive) throws -> Void
    ) async throws -> Archive? {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try await handle.elsewhere { try $0.modify(key, terms, change) }
    }

    /// As ``ArchiveManager/modify(archiveWithKey:default:expiresIn:inMemory:owner:_:)``; both closures run on another thread.
    @discardableResult
    public nonisolated(nonsending) func modify(
        archiveWithKey key: String, default initial: @escaping @Sendable @autoclosure () throws -> Archive,
        expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil, owner: String? = nil,
        _ change: @escaping @Sendable (inout Archive) throws -> Void
    ) async throws -> Archive {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try await handle.elsewhere { try $0.modify(key, default: initial, terms, change) }
    }

    /// As ``ArchiveManager/record(_:replacing:expiresIn:inMemory:owner:)``.
    public nonisolated(nonsending) func record(
        _ object: Archive, replacing expected: Archive?, expiresIn lifetime: Duration? = nil,
        inMemory memoryLifetime: Duration? = nil, owner: String? = nil
    ) async throws -> Bool where Archive: Equatable & Sendable {
        let terms = Terms.updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        return try await handle.elsewhere { try $0.record(object, terms) { $0 == expected } }
    }
}
