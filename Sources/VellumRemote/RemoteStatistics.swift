import Synchronization
import Vellum

/// Statistics of a ``RemoteArchives`` and of its tier. Counts are of this process unless noted.
public struct RemoteStatistics: Sendable, Hashable, Codable {
    /// Whether the tier reports changes to this process.
    public var isTracked: Bool
    /// Requests for objects at the tier. Concurrent accesses to a key share one.
    public var fetches: Int
    /// Fetches that confirmed a near copy.
    public var confirmed: Int
    /// Fetches of objects that the tier doesn't have.
    public var missing: Int
    /// Accesses answered by the fetch of another one.
    public var shared: Int
    /// Objects stored at the tier.
    public var records: Int
    /// Failed fetches and changes.
    public var failures: Int
    /// Accesses answered with copies that may be outdated, because the tier was unreachable.
    public var staleHits: Int

    /// Keys with queued changes (``RemoteWrites/behind(mostKeys:mostBytes:)``).
    public var waitingKeys: Int
    /// Bytes of the queued changes in this process's memory.
    public var waitingBytes: Int
    /// Queued changes that were sent again because the tier was unreachable or full.
    public var resent: Int
    /// Queued changes that the tier refused permanently.
    public var lostChanges: Int

    /// The connection of all archives of this tier in this process.
    public var health: RemoteHealth
    /// The near copies of all processes of this machine.
    public var near: ArchiveStatistics

    init(
        near: ArchiveStatistics, health: RemoteHealth, isTracked: Bool, _ counts: RemoteCounts,
        waiting: (keys: Int, bytes: Int, lost: Int)
    ) {
        (waitingKeys, waitingBytes, lostChanges) = (waiting.keys, waiting.bytes, waiting.lost)
        self.near = near
        self.health = health
        self.isTracked = isTracked
        fetches = counts.fetches.load(ordering: .relaxed)
        shared = counts.shared.load(ordering: .relaxed)
        resent = counts.resent.load(ordering: .relaxed)
        confirmed = counts.confirmed.load(ordering: .relaxed)
        missing = counts.missing.load(ordering: .relaxed)
        records = counts.records.load(ordering: .relaxed)
        failures = counts.failures.load(ordering: .relaxed)
        staleHits = counts.staleHits.load(ordering: .relaxed)
    }
}

final class RemoteCounts: Sendable {
    let fetches = Atomic(0)
    let shared = Atomic(0)
    let resent = Atomic(0)
    let confirmed = Atomic(0)
    let missing = Atomic(0)
    let records = Atomic(0)
    let failures = Atomic(0)
    let staleHits = Atomic(0)
}
