extension Archive {
    /// Events from number `sequence` on; `nil` returns all in the ring. Writes nothing.
    public func events(from sequence: UInt64? = nil) throws(StorageError) -> EventBatch {
        try EventReader(engine()).events(from: sequence)
    }

    /// Like ``events(from:)``, with missing keys from other events of the same entries: the segment of an evicted entry may be removed
    /// before its event is read. For display only, since it compares 32 bits of the keys' hashes.
    package func namedEvents(from sequence: UInt64?) throws(StorageError) -> EventBatch {
        let reader = EventReader(engine: try engine())
        var batch = reader.events(from: sequence)
        reader.nameEvents(&batch.events)
        return batch
    }

    /// The number of the next event, from which a follower of future events begins.
    public func nextEvent() throws(StorageError) -> UInt64 { try EventReader(engine()).nextEvent }

    /// Like ``events(from:)``, but blocks the thread until there is an event, for at most `wait`; tasks use ``follow(from:)``.
    /// Writers wake a process that has the archive open for writing. An observer, which writes nothing, polls twenty times a
    /// second. The result has the number of events lost if the follower is slow.
    public func waitForEvents(
        from sequence: UInt64, atMost wait: Duration
    ) throws(StorageError) -> EventBatch {
        try EventReader(engine()).waitForEvents(from: sequence, atMost: wait)
    }

    /// Samples of the recent requests of all processes, from number `first` on; `nil` returns all. Returns `nil` if none were
    /// recorded: for a log, or before the first opening for writing. Numbers of a new trace (``RequestSamples/trace``) begin
    /// with 0. Writes nothing. Cost: O(samples).
    package func requestSamples(from first: UInt64? = nil) throws(StorageError) -> RequestSamples? {
        try RequestTraceReader(engine()).samples(from: first)
    }

    /// What is in the place of the request trace and isn't used, and the effect; `nil`: nothing.
    package func requestsProblem() throws(StorageError) -> String? {
        try NameConflict.ofTrace(in: engine().folder).first.map { $0.description + "; " + $0.effect }
    }

    /// Key and owner of the live entry with the tag of a sample; `nil` without one. Costs a look-up.
    package func entry(ofTag tag: UInt32) throws(StorageError) -> (key: String, owner: String?)? {
        try RequestTraceReader(engine()).entry(ofTag: tag)
    }

    package static var keptEvents: Int { IndexLayout.events }

    /// The events of a key that are still in the event ring. Writes nothing.
    public func history(of key: String) throws(StorageError) -> KeyHistory {
        let engine = try engine()
        return try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            return EventReader(engine).history(of: key)
        }
    }

    /// The changes of a key according to the frames in the log, which may be older than the event ring. Reads at most `most`
    /// bytes, each at most twice. `progress` gets the share done, 0 to 1; `false` stops. Writes nothing.
    package func logHistory(
        of key: String, most: Int = LogHistory.maximumBytes, progress: (Double) -> Bool = { _ in true }
    ) throws(StorageError) -> LogHistory {
        let engine = try engine()
        return try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            return try LogHistoryReader(engine).history(of: key, most: most, progress: progress)
        }
    }

    /// The events from number `sequence` on (`nil`: from now on), as they happen. Writes nothing. Each iteration begins there.
    /// Throws `closed`. The iteration throws `closed` too, and `system` if its thread can't be started.
    public func follow(from sequence: UInt64? = nil) throws(StorageError) -> EventSequence {
        let next = try nextEvent()
        return EventSequence(archive: self, first: sequence ?? next)
    }

    /// For tests: whether the store's thread is running, and how many subscribers wait.
    package var followers: (isActive: Bool, waiting: Int) { (follower.isActive, follower.waiting) }
}
