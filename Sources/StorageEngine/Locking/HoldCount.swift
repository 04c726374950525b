/// What one hold of an archive's lock handles at most, for tests: nobody waits for the lock longer than some hundred entries
/// and one file take. Counted rather than timed, so that a busy machine makes no difference. Nothing in release builds.
package struct HoldCount: Sendable, Equatable {
    /// Entries that were removed, set aside, brought back, copied, or cleared.
    package var entries = 0
    /// Files of segments that were removed.
    package var files = 0
    /// Chunks of the index that were given back.
    package var chunks = 0

    package init() {}

    fileprivate mutating func takeMost(of other: HoldCount) {
        entries = max(entries, other.entries)
        files = max(files, other.files)
        chunks = max(chunks, other.chunks)
    }
}

#if DEBUG
/// The counts of a handle's sections. Guarded by the archive's lock.
final class HoldCounter: @unchecked Sendable {
    private var current = HoldCount()
    private var most = HoldCount()

    func begin() { current = HoldCount() }

    func add(_ entries: Int, _ files: Int, _ chunks: Int) {
        current.entries += entries
        current.files += files
        current.chunks += chunks
        most.takeMost(of: current)
    }

    func takeMost() -> HoldCount {
        defer { most = HoldCount() }
        return most
    }
}
#endif

extension ArchiveEngine {
    /// Notes what a section has handled.
    @inline(__always)
    func countHandled(entries: Int = 0, files: Int = 0, chunks: Int = 0) {
        #if DEBUG
        holds.add(entries, files, chunks)
        #endif
    }
}

extension Archive {
    /// The most that this handle handled of each under one hold of the lock since this was last asked; zeros in release
    /// builds.
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
}
