import Dispatch
import StorageEngine

/// An archive to read from, with a snapshot that concurrent readers share.
final class ArchiveView {
    let archive: Archive
    private let known: (() throws -> ArchiveSnapshot)?

    init(_ archive: Archive, snapshot: (() throws -> ArchiveSnapshot)? = nil) {
        self.archive = archive
        known = snapshot
    }

    func snapshot() throws -> SnapshotEntries {
        SnapshotEntries(snapshot: try known?() ?? archive.snapshot())
    }
}

/// Reads in two steps: the first call fixes the state of the archive, and the closure that it returns decodes the
/// value, at a later time and on another thread. The view is `nil` without an archive, and so without objects.
typealias TwoStepReading<Value> = @Sendable (ArchiveView?) throws -> @Sendable () throws -> Reading<Value>

/// Keeps a state of the archive for its next value.
protocol StateHolder: AnyObject, Sendable {
    /// Whether to call `hold`: it has no state, a value is awaited, and these changes may concern it.
    func wants(_ changes: ChangedKeys) -> Bool
    /// `position`: all events before it are in the state.
    func hold(_ view: ArchiveView, at position: UInt64) throws
}

/// Runs the readings of all observers of a store, one after the other.
final class ObservationLane: @unchecked Sendable {
    private struct Recent {
        var snapshot: ArchiveSnapshot
        var archive: Archive
        /// All events before this number had happened when the snapshot was taken.
        var position: UInt64
    }

    private let queue = DispatchQueue(label: "papyrus.observation", qos: .userInitiated)
    private let waiting = Guarded(0)
    /// Used on the queue only.
    private var recent: Recent?

    /// Calls `body` with the archive, and a snapshot that contains all events before `position`.
    func read<Value>(
        _ archive: Archive, after position: UInt64, _ body: @escaping @Sendable (ArchiveView) throws -> Value
    ) async throws -> Carried<Value> {
        try await serially {
            try body(ArchiveView(archive) { try self.snapshot(of: archive, after: position) })
        }
    }

    /// Calls `body` on the queue that all readings share.
    func serially<Value>(_ body: @escaping @Sendable () throws -> Value) async throws -> Carried<Value> {
        waiting.withLock { $0 += 1 }
        let result: Carried<Result<Value, any Error>> = await withCheckedContinuation { continuation in
            queue.async { [self] in
                let result = Result { try body() }
                // Released, because a snapshot keeps disk space in use.
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

    // MARK: Changes of this process

    private struct Holder {
        weak var holder: (any StateHolder)?
    }

    private struct Offers {
        var holders: [ObjectIdentifier: Holder] = [:]
        /// Changes before this event have been passed to the holders.
        var position: UInt64 = 0
        var pause = ContinuousClock.now
    }

    private let offers = Guarded(Offers())

    func add(_ holder: any StateHolder) {
        offers.withLock { $0.holders[ObjectIdentifier(holder)] = Holder(holder: holder) }
    }

    func remove(_ holder: any StateHolder) {
        offers.withLock { _ = $0.holders.removeValue(forKey: ObjectIdentifier(holder)) }
    }

    /// Passes the present state to the observations that the last changes concern. They return it even after later changes. Uses at
    /// most a twentieth of the time.
    func offer(_ archive: Archive) throws {
        let start = ContinuousClock.now
        let (holders, before) = offers.withLock { offers in
            (start < offers.pause ? [] : offers.holders.values.compactMap(\.holder), offers.position)
        }
        guard !holders.isEmpty else { return }
        let position = try ObservationLane.position(in: archive)
        let changes = ChangedKeys(try archive.events(from: min(before, position)))
        let view = viewToBegin(archive, at: position)
        for holder in holders where holder.wants(changes) { try holder.hold(view, at: position) }
        let end = ContinuousClock.now
        offers.withLock { ($0.position, $0.pause) = (position, end + (end - start) * 20) }
    }

    // MARK: Beginnings

    private struct Beginning {
        weak var archive: Archive?
        weak var snapshot: ArchiveSnapshot?
        var position: UInt64
    }

    private let latestBeginning = Guarded<Beginning?>(nil)

    /// The number of the first event that may follow. Waits until events that have begun are complete.
    static func position(in archive: Archive) throws -> UInt64 {
        let next = try archive.nextEvent()
        return try archive.events(from: next - min(next, 64)).next
    }

    /// The archive in its current state, which contains all events before `position`.
    func viewToBegin(_ archive: Archive, at position: UInt64) -> ArchiveView {
        ArchiveView(archive) { try self.snapshotToBegin(archive, at: position) }
    }

    /// Observations that begin between the same two changes share one snapshot.
    private func snapshotToBegin(_ archive: Archive, at position: UInt64) throws -> ArchiveSnapshot {
        // A change first claims the number of its event, so none was under way when the snapshot was taken.
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
