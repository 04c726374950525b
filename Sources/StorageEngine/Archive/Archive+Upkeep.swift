extension Archive {
    /// Frees the space of deleted, evicted and expired entries. Copies the live values of segments that have dead
    /// bytes; other processes can use the archive at the same time. Costs reading and writing these values.
    ///
    /// - Parameters:
    ///   - givingUpUndo: also frees the space of entries that ``undo(_:progress:)`` could restore; then it no longer
    ///     can.
    ///   - progress: gets the fraction done, 0 to 1, now and then; return `false` to stop. Freed space stays free.
    public func compact(
        givingUpUndo: Bool = false, progress: (Double) -> Bool = { _ in true }
    ) throws(StorageError) {
        try finishingChange { (engine) throws(StorageError) in
            try Compaction(engine).compact(givingUpUndo: givingUpUndo, progress: progress)
        }
    }

    /// Drops all messages of a log; this can't be undone. Throws also `wrongKind` if the archive isn't a log.
    @discardableResult public func deleteAllMessages() throws(StorageError) -> Removal {
        try finishingChange { (engine) throws(StorageError) in
            try engine.requireLog(to: "delete all messages")
            return try MessageWriter(engine).dropAllMessages(engine.acquireDrained())
        }
    }

    /// Drops the messages of a log before a cursor; this can't be undone. Returns `nil` and drops nothing if the archive or its
    /// index was replaced since. Throws also `wrongKind` if the archive isn't a log.
    package func deleteMessages(before end: MessageCursor) throws(StorageError) -> Removal? {
        try finishingChange { (engine) throws(StorageError) in
            try engine.requireLog(to: "delete messages")
            return try MessageWriter(engine).deleteMessages(engine.acquireDrained(), before: end)
        }
    }

    /// Sets how long from now the entry of `key` expires; `nil`: never. Doesn't write the value again. Returns `false` if the
    /// entry is absent or expired. Throws also `wrongKind` for a log.
    @discardableResult
    public func setLifetime(_ lifetime: Duration?, forKey key: String) throws(StorageError) -> Bool {
        try finishingChange { (engine) throws(StorageError) in
            try engine.requireEntries(to: "set an expiry time")
            return try withBytes(of: key) { (key) throws(StorageError) in
                try ArchiveEngine.validate(key: key)
                let section = try engine.acquireDrained()
                return try section.changeDeadline(
                    of: key, to: Deadline.boot(in: lifetime), ifSequence: nil, cause: .request) == .deleted
            }
        }
    }

    /// Removes every expired entry and frees its space. Look-ups never find expired entries, and remove them; maintenance and
    /// evictions remove them too. Free if no entry has expired, otherwise a walk over the index.
    @discardableResult public func removeExpired() throws(StorageError) -> Removal {
        try finishingChange { (engine) throws(StorageError) in
            try EntryRemover(engine).removeExpired()
        }
    }

    /// Deletes the entries whose last access was longer ago than `interval` (S6). Costs a walk over the index.
    @discardableResult public func deleteIdle(longerThan interval: Duration) throws(StorageError) -> Removal {
        try finishingChange { (engine) throws(StorageError) in
            try EntryRemover(engine).removeIdle(longerThan: interval)
        }
    }

    /// Deletes an owner's entries, including damaged ones. Costs a walk over the index. Throws also `invalidOwner`.
    @discardableResult public func deleteEntries(ofOwner owner: String) throws(StorageError) -> Removal {
        try EntryAttributes.checkNotEmpty(owner: owner)
        return try finishingChange { (engine) throws(StorageError) in
            try EntryRemover(engine).removeEntries(ofOwner: owner)
        }
    }

    /// Makes the change as durable as the archive's level requires, and does the pending compaction.
    @inline(__always) func finishingChange<Value>(
        _ change: (ArchiveEngine) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        let engine = try engine()
        let value = try change(engine)
        try engine.finishChange()
        return value
    }
}

/// Detects that an archive's files were removed by other means, for example by `rm -rf`.
extension Archive {
    /// Whether the archive's files were certainly removed; then closes the archive for all processes. Costs one system call. If
    /// only the descriptor is missing, the archive is repairable and stays open.
    package func closeIfRemoved() -> Bool {
        guard !isClosed else { return true }
        guard mode == .readWrite, let engine = try? engine(), engine.hasLostItsFiles else { return false }
        // If the flag can't be set for other processes, each detects the removal itself.
        if !engine.closeForAll() { close() }
        return true
    }
}
