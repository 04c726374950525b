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
        let engine = try engine()
        let prepared = try PreparedBatch(batch, engine)
        let results = try engine.applyMakingRoom(prepared)
        if prepared.hasDeadlines { try engine.beginHousekeeping() }
        try engine.settle()
        return results
    }
}
