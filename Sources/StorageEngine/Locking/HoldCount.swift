/// The most work during one hold of an archive's lock, for tests, because times vary with load. Zero in release builds.
package struct HoldCount: Sendable, Equatable {
    /// Entries that were removed, tombstoned, restored, copied or cleared.
    package var entries = 0
    package var files = 0
    package var chunks = 0

    package init() {}

    fileprivate mutating func takeMost(of other: HoldCount) {
        entries = max(entries, other.entries)
        files = max(files, other.files)
        chunks = max(chunks, other.chunks)
    }
}

#if DEBUG
/// Counts the items handled by each write lock guard of a handle. Guarded by the archive's lock.
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
