extension Archive {
    /// Makes all changes of a batch, or none if this throws. No reader sees a part of them: whoever has found one done
    /// finds all of them done, also while this process is stopped in the middle, and so it is after a death of this
    /// process or of the system. What is evicted for the limit goes as part of it. At the durability `full` there is
    /// one wait for the medium.
    ///
    /// The archive's lock is held for all of it: some microseconds a change, so that 100,000 changes may keep other
    /// writers waiting for a few tenths of a second. Readers never wait. Needs some 200 bytes of memory a change.
    ///
    /// - Returns: what became of each change, in their order.
    /// - Throws: `batchTooLarge` where the values that the batch leaves exceed the archive's limit, or all of it
    ///   exceeds ``Batch/maximumBytes``; and what ``put(_:forKey:encoding:attributes:)`` throws.
    @discardableResult
    public func apply(_ batch: Batch) throws(StorageError) -> [BatchResult] {
        try apply(batch, ifUnchanged: []) ?? []
    }

    /// As ``apply(_:)``, but only if all entries that are named are still those that were seen, whatever other processes do
    /// meanwhile; `nil`: one is another by now, or is gone, or has come, and nothing was changed. Entries may be named that
    /// the batch doesn't change.
    public func apply(_ batch: Batch, ifUnchanged seen: [SeenEntry]) throws(StorageError) -> [BatchResult]? {
        let engine = try engine()
        let prepared = try PreparedBatch(batch, ifUnchanged: seen, engine)
        guard let results = try engine.applyMakingRoom(prepared) else { return nil }
        if prepared.hasDeadlines { try engine.beginHousekeeping() }
        try engine.settle()
        return results
    }
}
