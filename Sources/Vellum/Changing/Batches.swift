import StorageEngine

/// Changes that count together or not at all: for readers, other processes and after a crash.
extension ArchiveManager {
    /// Records the objects all together: nobody finds some of them recorded and others not, whatever crashes; the last one is the
    /// most recent then. What can't be stored together is not stored at all: more than the disk limit or 48 megabytes, or
    /// an object that can't be encoded. Costs one write for all and, unlike ``insert(all:expiresIn:inMemory:owner:)``, which takes
    /// any number, holds up other writers for some microseconds an object. The objects come into memory with their first access.
    public func record(
        all objects: [Archive], expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) {
        let terms = Terms.new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        attempt("record all", else: ()) { try $0.record(all: objects, terms) }
    }

    /// Deletes the objects of these keys all together, as ``record(all:expiresIn:inMemory:owner:)`` records.
    public func delete(keys: [String]) {
        attempt("delete all keys", else: ()) { try $0.delete(all: keys) }
    }

    /// Changes several objects as one, depending on what they are: what `body` records, updates and deletes counts together
    /// when it returns, or not at all if it throws. Nothing that others do comes between its reading and its changes.
    ///
    /// No lock is held while `body` runs. If somebody changes what it has read first, it is called again with what is there
    /// then, so it must have no effects of its own; how often that happened is in ``ArchiveStatistics/conflicts``.
    ///
    /// ```swift
    /// try accounts.transaction { transaction in
    ///     guard var from = try transaction.access(archiveWithKey: "ada") else { return }
    ///     from.cents -= 100
    ///     try transaction.update(from)
    /// }
    /// ```
    ///
    /// What is too large for the disk limit, and is in memory only, can be the only change, of a key that nothing else was read of.
    /// Properties that have archives of their own are stored there when the transaction is through.
    ///
    /// - Returns: what `body` returns, when its changes are made.
    /// - Throws: what `body` throws; ``StorageError``, `busy` among them when others were first again and again for ten
    ///   seconds, `batchTooLarge` for more than the disk limit or 48 megabytes.
    @discardableResult
    public func transaction<Value>(
        _ body: (inout ArchiveTransaction<Archive>) throws -> Value
    ) throws -> Value {
        try throwing.transaction(body)
    }
}

extension ThrowingArchives {
    /// As ``ArchiveManager/transaction(_:)``.
    @discardableResult
    public func transaction<Value>(
        _ body: (inout ArchiveTransaction<Archive>) throws -> Value
    ) throws -> Value {
        try handle.perform { try $0.transact(nil, body) }
    }

    /// As ``ArchiveManager/record(all:expiresIn:inMemory:owner:)``.
    public func record(
        all objects: [Archive], expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) throws {
        let terms = Terms.new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        try handle.perform { try $0.record(all: objects, terms) }
    }

    /// As ``ArchiveManager/delete(keys:)``.
    public func delete(keys: [String]) throws { try handle.perform { try $0.delete(all: keys) } }
}

extension AsynchronousArchives {
    /// As ``ArchiveManager/record(all:expiresIn:inMemory:owner:)``.
    public nonisolated(nonsending) func record(
        all objects: [Archive], expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) async throws {
        let terms = Terms.new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        let prepared = try handle.perform { core in try objects.map { try core.prepare($0) } }
        try await handle.elsewhere { try $0.record(all: prepared, terms) }
    }

    /// As ``ArchiveManager/delete(keys:)``.
    public nonisolated(nonsending) func delete(keys: [String]) async throws {
        try await handle.elsewhere { try $0.delete(all: keys) }
    }

    /// As ``ArchiveManager/transaction(_:)``; `body` runs on another thread.
    @discardableResult
    public nonisolated(nonsending) func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (inout ArchiveTransaction<Archive>) throws -> Value
    ) async throws -> Value {
        try await handle.elsewhere { try $0.transact(nil, body) }
    }
}
