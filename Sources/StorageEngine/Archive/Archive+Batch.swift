extension Archive {
    /// Makes all changes of a batch, or none if this throws. The batch is atomic: a reader that sees one change sees all of them,
    /// even while this process is stopped, or after a crash of the process or the system. Entries that the limit evicts are part
    /// of the batch. At the durability `full` the call waits for the medium once.
    ///
    /// Holds the archive's lock throughout, some microseconds a change, so 100,000 changes may delay other writers for
    /// a few tenths of a second. Readers never wait. Needs some 200 bytes of memory for each change.
    ///
    /// - Returns: the result of each change, in the order of the batch.
    /// - Throws: `batchTooLarge` if the stored values exceed the archive's limit, or the batch ``Batch/maximumBytes``;
    ///   and what ``put(_:forKey:encoding:attributes:)`` throws.
    @discardableResult
    public func apply(_ batch: Batch) throws(StorageError) -> [BatchResult] {
        try apply(batch, ifUnchanged: []) ?? []
    }

    /// Like ``apply(_:)``, but only if each entry in `seen` still has the given sequence at the time of the change; `seen` may
    /// include entries that the batch doesn't change. Otherwise returns `nil` and changes nothing.
    public func apply(_ batch: Batch, ifUnchanged seen: [SeenEntry]) throws(StorageError) -> [BatchResult]? {
        let engine = try engine()
        let prepared = try PreparedBatch(batch, ifUnchanged: seen, engine)
        guard let results = try BatchWriter(engine: engine).apply(prepared) else { return nil }
        if prepared.hasDeadlines { try engine.startMaintenance() }
        try engine.finishChange()
        return results
    }
}
