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

/// What a reading needs of the archive is taken at once, by the first call; the second makes the value of that, when and where
/// there is time for it. `nil`: there is no archive, and so no object.
typealias TwoStepReading<Value> = @Sendable (ArchiveView?) throws -> @Sendable () throws -> Reading<Value>

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
        try await inTurn {
            try body(ArchiveView(archive) { try self.snapshot(of: archive, after: position) })
        }
    }

    /// Calls `body` on the one thread that all readings share.
    func inTurn<Value>(_ body: @escaping @Sendable () throws -> Value) async throws -> Carried<Value> {
        waiting.withLock { $0 += 1 }
        let result: Carried<Result<Value, any Error>> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                let result = Result { try body() }
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

    // MARK: Beginnings

    private struct Beginning {
        weak var archive: Archive?
        weak var snapshot: ArchiveSnapshot?
        var position: UInt64
    }

    private let latestBeginning = Guarded<Beginning?>(nil)

    /// Number of the first event that may still be to come: of what has begun and is not done yet, it is waited for.
    static func position(in archive: Archive) throws -> UInt64 {
        let next = try archive.nextEvent()
        return try archive.events(from: next - min(next, 64)).next
    }

    /// The archive as it is now, of which all events before `position` have happened.
    func viewToBegin(_ archive: Archive, at position: UInt64) -> ArchiveView {
        ArchiveView(archive) { try self.snapshotToBegin(archive, at: position) }
    }

    /// All that begin to observe between two changes share one snapshot.
    private func snapshotToBegin(_ archive: Archive, at position: UInt64) throws -> ArchiveSnapshot {
        // A change claims the number of its event first. So none has begun since the snapshot was taken, and none was under way.
        let isQuiet = try archive.nextEvent() == position
        if isQuiet, let known = latestBeginning.withLock({ $0 }), known.archive === archive,
            known.position == position, let snapshot = known.snapshot
        {
            return snapshot
        }
        let snapshot = try archive.snapshot()
        if isQuiet {
            let new = Beginning(archive: archive, snapshot: snapshot, position: position)
            latestBeginning.withLock { $0 = new }
        }
        return snapshot
    }

    // MARK: Later readings

    private func snapshot(of archive: Archive, after position: UInt64) throws -> ArchiveSnapshot {
        if let recent, recent.archive === archive, recent.position >= position { return recent.snapshot }
        let snapshot = try archive.snapshot()
        recent = Recent(snapshot: snapshot, archive: archive, position: position)
        return snapshot
    }
}
