extension Archive {
    /// Events from `sequence` on; `nil`: all that the ring still has. Leaves no trace.
    public func events(from sequence: UInt64? = nil) throws(StorageError) -> EventBatch {
        try engine().events(from: sequence)
    }

    /// The number of the event that comes next: where a follower begins who is not interested in the past.
    public func nextEvent() throws(StorageError) -> UInt64 { try engine().look { $0.events.head } }

    /// As ``events(from:)``, and waits for the first one, blocking the thread, at most `wait` long: for programs
    /// without tasks; others have ``follow(from:)``. A process that has the archive open for writing is woken; an
    /// observer, which leaves no trace, looks twenty times a second. A follower that is slower than the writers learns
    /// how many events it lost.
    public func waitForEvents(
        from sequence: UInt64, atMost wait: Duration
    ) throws(StorageError) -> EventBatch {
        try engine().waitForEvents(from: sequence, atMost: wait)
    }

    /// What happened to a key, as far as the ring of events reaches back. Leaves no trace.
    public func history(of key: String) throws(StorageError) -> KeyHistory {
        let engine = try engine()
        return try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            return engine.history(of: key)
        }
    }
}
