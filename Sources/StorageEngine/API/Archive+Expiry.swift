extension Archive {
    /// Lets the entry of `key` live as long as this from now on; `nil`: it no longer expires. Its value is not
    /// written anew. `false` if there is no entry (an expired one is none).
    /// - Throws: also `wrongKind` for a log.
    @discardableResult
    public func setLifetime(_ lifetime: Duration?, forKey key: String) throws(StorageError) -> Bool {
        let engine = try engine()
        try engine.requireEntries(to: "set a lifetime")
        let isThere = try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            let section = try engine.acquire()
            section.drainTouches()
            return try section.changeDeadline(
                of: key, to: ArchiveEngine.deadline(in: lifetime), ifSequence: nil, cause: .request)
                == .deleted
        }
        try engine.settle()
        return isThere
    }

    /// Removes every entry that has expired. Expired entries are never found; removing them frees their room,
    /// which otherwise happens when they are looked up, in the background, or when they are the least recent.
    /// Costs nothing while no deadline has passed, else a walk over the index.
    @discardableResult
    public func removeExpired() throws(StorageError) -> Removal {
        try settled { (engine) throws(StorageError) in try engine.removeExpired() }
    }

    /// Deletes the entries whose last access is longer ago than this (S6). Costs a walk over the index.
    @discardableResult
    public func deleteIdle(longerThan interval: Duration) throws(StorageError) -> Removal {
        try settled { (engine) throws(StorageError) in try engine.removeIdle(longerThan: interval) }
    }

    /// Deletes the entries of an owner, those too whose bytes are damaged. Costs a walk over the index.
    @discardableResult
    public func deleteEntries(ofOwner owner: String) throws(StorageError) -> Removal {
        try EntryAttributes.checkNotEmpty(owner: owner)
        return try settled { (engine) throws(StorageError) in try engine.removeEntries(ofOwner: owner) }
    }

    /// Keeps the archive's durability after a change.
    func settled<Value>(
        _ change: (ArchiveEngine) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        let engine = try engine()
        let value = try change(engine)
        try engine.settle()
        return value
    }
}
