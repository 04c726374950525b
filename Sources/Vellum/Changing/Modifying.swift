import StorageEngine

/// Changes of one object that depend on what it is, by any number of threads and processes at once.
extension ArchiveManager {
    /// Changes the object of a key in one step: no change by another thread or process comes between, and none is lost. Its lifetimes
    /// and its owner stay.
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
    ///   primary key; ``ArchiveError/undecodable(type:key:underlying:)`` and
    ///   ``ArchiveError/newerVersion(type:key:found:known:)`` if there is something else than an object; ``StorageError``, `busy` among them when others were first again and again for ten seconds.
    @discardableResult
    public func modify(
        archiveWithKey key: String, _ change: (inout Archive) throws -> Void
    ) throws -> Archive? {
        try handle.perform { try $0.modify(key, change) }
    }

    /// As ``modify(archiveWithKey:_:)``, with an object to begin with where there is none; that gets the archive's lifetime. What is
    /// stored and can't be decoded any more is none here, as it is for ``access(archiveWithKey:)``, and is replaced.
    @discardableResult
    public func modify(
        archiveWithKey key: String, default initial: @autoclosure () throws -> Archive,
        _ change: (inout Archive) throws -> Void
    ) throws -> Archive {
        try handle.perform { try $0.modify(key, default: initial, change) }
    }

    /// Stores the object if the one of its key is still `expected`, or if there still is none where that is `nil`; otherwise does
    /// nothing and returns `false`. Its lifetimes and its owner stay.
    public func record(_ object: Archive, replacing expected: Archive?) throws -> Bool
    where Archive: Equatable {
        try handle.perform { try $0.record(object) { $0 == expected } }
    }
}

extension AsynchronousArchives {
    /// As ``ArchiveManager/modify(archiveWithKey:_:)``; `change` runs on another thread.
    @discardableResult
    public nonisolated(nonsending) func modify(
        archiveWithKey key: String, _ change: @escaping @Sendable (inout Archive) throws -> Void
    ) async throws -> Archive? {
        try await handle.elsewhere { try $0.modify(key, change) }
    }

    /// As ``ArchiveManager/modify(archiveWithKey:default:_:)``; both closures run on another thread.
    @discardableResult
    public nonisolated(nonsending) func modify(
        archiveWithKey key: String, default initial: @escaping @Sendable @autoclosure () throws -> Archive,
        _ change: @escaping @Sendable (inout Archive) throws -> Void
    ) async throws -> Archive {
        try await handle.elsewhere { try $0.modify(key, default: initial, change) }
    }

    /// As ``ArchiveManager/record(_:replacing:)``.
    public nonisolated(nonsending) func record(
        _ object: Archive, replacing expected: Archive?
    ) async throws -> Bool where Archive: Equatable & Sendable {
        try await handle.elsewhere { try $0.record(object) { $0 == expected } }
    }
}
