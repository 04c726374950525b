extension Archive {
    /// Makes all changes of a batch, or none if this throws. The batch is atomic: a reader that sees one change sees
    /// all of them, even while this process is stopped half way, and that holds after a crash of this process or of the
    /// system. Entries that the limit evicts are part of the batch. At the durability `full` the call waits for the
    /// medium once.
    ///
    /// The archive's lock is held throughout, some microseconds a change, so that 100,000 changes may keep other
    /// writers waiting for a few tenths of a second. Readers never wait. Needs some 200 bytes of memory for each
    /// change.
    ///
    /// - Returns: the result of each change, in the order of the batch.
    /// - Throws: `batchTooLarge` if the values that the batch stores exceed the archive's limit, or the whole batch
    ///   exceeds ``Batch/maximumBytes``; and what ``put(_:forKey:encoding:attributes:)`` throws.
    @discardableResult
    public func apply(_ batch: Batch) throws(StorageError) -> [BatchResult] {
        try apply(batch, ifUnchanged: []) ?? []
    }

    /// Like ``apply(_:)``, but only if each entry in `seen` still has the sequence given there, whatever other
    /// processes do at the same time. Otherwise returns `nil` and changes nothing. `seen` may name entries that the
    /// batch doesn't change.
    public func apply(_ batch: Batch, ifUnchanged seen: [SeenEntry]) throws(StorageError) -> [BatchResult]? {
        let engine = try engine()
        let prepared = try PreparedBatch(batch, ifUnchanged: seen, engine)
        guard let results = try engine.applyMakingRoom(prepared) else { return nil }
        if prepared.hasDeadlines { try engine.beginHousekeeping() }
        try engine.finishChange()
        return results
    }
}
