import Synchronization
import Vellum

/// What has happened in a ``RemoteArchives``, and at its tier. Counts are of this process unless noted.
public struct RemoteStatistics: Sendable, Hashable, Codable {
    /// Whether the tier tells this process of changes now.
    public var isCovered: Bool
    /// Questions to the tier. Several callers that look for the same key at a time ask once.
    public var fetches: Int
    /// Of these, those that found a copy here to be what the tier has.
    public var confirmed: Int
    /// Of these, those for which the tier had none.
    public var missing: Int
    /// Look-ups that another one's question answered.
    public var shared: Int
    /// Objects that the tier has taken.
    public var records: Int
    /// Questions and changes that failed.
    public var failures: Int
    /// Look-ups that were answered from copies that may be outdated, because the tier couldn't be reached.
    public var staleHits: Int

    /// Keys whose changes the tier hasn't got yet (``RemoteWrites/behind(mostKeys:mostBytes:)``).
    public var waitingKeys: Int
    /// The bytes that these take in this process's memory.
    public var waitingBytes: Int
    /// Changes that waited, and were sent again because the tier couldn't be reached or was full.
    public var resent: Int
    /// Changes that waited, and that the tier refused for good.
    public var lostChanges: Int

    /// The connection, for all archives of this tier in this process.
    public var health: RemoteHealth
    /// The near copies, of all processes of this machine.
    public var near: ArchiveStatistics

    init(
        near: ArchiveStatistics, health: RemoteHealth, isCovered: Bool, _ counts: RemoteCounts,
        waiting: (keys: Int, bytes: Int, lost: Int)
    ) {
        (waitingKeys, waitingBytes, lostChanges) = (waiting.keys, waiting.bytes, waiting.lost)
        self.near = near
        self.health = health
        self.isCovered = isCovered
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

/// Counts that any thread adds to.
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
