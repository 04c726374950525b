extension ArchiveManager {
    /// Records the objects atomically: all of them or none, even after a crash. The last one is the most recent
    /// afterwards. Nothing is stored if the objects exceed the disk limit or 48 megabytes together, or if one can't be
    /// encoded. Costs one write for all. Unlike ``insert(all:options:)``, which takes any number, it
    /// blocks other writers for some microseconds per object. The objects enter memory with their first access.
    public func record(all objects: [Object], options: EntryOptions = EntryOptions()) {
        attempt("record all", else: ()) { try $0.record(all: objects, .new(options)) }
    }

    /// Deletes the objects with these keys atomically, like `record(all:options:)`.
    public func delete(keys: [String]) {
        attempt("delete all keys", else: ()) { try $0.delete(all: keys) }
    }

    /// Changes several objects atomically, depending on their current state: all records, updates and deletions of
    /// `body` are applied together when it returns, or none if it throws. No other change happens in between.
    ///
    /// No lock is held while `body` runs. If its input changes before it completes, `body` is called again with the new
    /// state, so it must have no side effects. ``ArchiveStatistics/conflicts`` counts these retries.
    ///
    /// ```swift
    /// try accounts.transaction { transaction in
    ///     guard var from = try transaction.access(archiveWithKey: "ada") else { return }
    ///     from.cents -= 100
    ///     try transaction.update(from)
    /// }
    /// ```
    ///
    /// An object that exceeds the disk limit, and so is in memory only, can only be a transaction's single change, and
    /// no other key may have been read. Properties with archives of their own are stored there when the transaction
    /// completes.
    ///
    /// - Returns: the result of `body`, once its changes are applied.
    /// - Throws: the errors of `body`; ``StorageError``: among others `busy` after ten seconds of conflicting changes,
    ///   and `batchTooLarge` for more than the disk limit or 48 megabytes.
    @discardableResult
    public func transaction<Value>(
        _ body: (inout ArchiveTransaction<Object>) throws -> Value
    ) throws -> Value {
        try handle.perform { try $0.transact(nil, body) }
    }
}

extension ThrowingArchives {
    /// As `ArchiveManager.record(all:options:)`.
    public func record(all objects: [Object], options: EntryOptions = EntryOptions()) throws {
        try handle.perform { try $0.record(all: objects, .new(options)) }
    }

    /// As ``ArchiveManager/delete(keys:)``.
    public func delete(keys: [String]) throws { try handle.perform { try $0.delete(all: keys) } }
}

extension AsynchronousArchives {
    /// As `ArchiveManager.record(all:options:)`.
    public nonisolated(nonsending) func record(
        all objects: [Object], options: EntryOptions = EntryOptions()
    ) async throws {
        let prepared = try handle.perform { core in try objects.map { try core.prepare($0) } }
        try await handle.blocking { try $0.record(all: prepared, .new(options)) }
    }
}
