/// Counters and checks for tests.
extension Archive {
    /// How often this process has slept to wait for writers of the archive. For tests.
    package func readerSleeps() throws(StorageError) -> Int {
        try engine().withIndex { $0.storage.readerSleeps.load(ordering: .relaxed) }
    }

    /// The most items under one hold of the lock by this handle since the last call; zeros in release builds.
    package func mostUnderOneHold() throws(StorageError) -> HoldCount {
        let engine = try engine()
        let section = try engine.acquire()
        #if DEBUG
        let most = section.engine.holds.takeMost()
        #else
        let most = HoldCount()
        #endif
        _ = consume section
        return most
    }

    package func invariantViolations() throws(StorageError) -> [String] {
        let engine = try engine()
        let section = try engine.acquire()
        section.index.touches.drainAll()
        return IndexChecker(engine).found
    }
}
