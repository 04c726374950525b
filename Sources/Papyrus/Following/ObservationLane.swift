import Dispatch
import StorageEngine

/// An archive to be read, with a snapshot of it for all who read it at the same time.
final class ArchiveView {
    let archive: Archive
    private let known: () throws -> ArchiveSnapshot

    init(_ archive: Archive) {
        self.archive = archive
        known = { try archive.snapshot() }
    }

    init(_ archive: Archive, snapshot: @escaping () throws -> ArchiveSnapshot) {
        self.archive = archive
        known = snapshot
    }

    func snapshot() throws -> SnapshotEntries { SnapshotEntries(snapshot: try known()) }
}

/// Where all who observe a store read, one after another. Safe from any thread.
final class ObservationLane: @unchecked Sendable {
    private struct Recent {
        var snapshot: ArchiveSnapshot
        var archive: Archive
        /// All events before this one had happened when it was taken.
        var position: UInt64
    }

    private let queue = DispatchQueue(label: "papyrus.observation", qos: .userInitiated)
    private let waiting = Guarded(0)
    /// The queue's.
    private var recent: Recent?

    /// Calls `body` with the archive as it is behind all events before `position`.
    func read<Value>(
        _ archive: Archive, after position: UInt64, _ body: @escaping @Sendable (ArchiveView) throws -> Value
    ) async throws -> Carried<Value> {
        waiting.withLock { $0 += 1 }
        let result: Carried<Result<Value, any Error>> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                let view = ArchiveView(archive) { try self.snapshot(of: archive, after: position) }
                let result = Result { try body(view) }
                // Kept, it would keep room on disk.
                if waiting.withLock({
                    $0 -= 1; return $0 == 0
                }) {
                    recent = nil
                }
                continuation.resume(returning: Carried(value: result))
            }
        }
        return Carried(value: try result.value.get())
    }

    private func snapshot(of archive: Archive, after position: UInt64) throws -> ArchiveSnapshot {
        if let recent, recent.archive === archive, recent.position >= position { return recent.snapshot }
        let snapshot = try archive.snapshot()
        recent = Recent(snapshot: snapshot, archive: archive, position: position)
        return snapshot
    }
}
