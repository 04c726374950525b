import Vellum

/// A process's report on one of its remote archives. It is kept in the archive `Remote tiers` of the store with the near copies,
/// where the browser and `vellum query` show it.
///
/// Written within a second of a change and every ten seconds without one. Expires half a minute after its process has ended. No
/// reports are written for a store that the program has closed.
public struct RemoteReport: ArchiveCodable, Sendable, Hashable {
    /// `Remote tiers`.
    public static let archiveName = "Remote tiers"

    /// The names of near archive and program, and the process ID with a random number, because processes in two containers may have
    /// one ID.
    public let primaryKey: String
    /// `connected`, `connecting`, or the problem.
    public let state: String
    /// ``RemoteArchives/statistics()`` at the time of the report.
    public let statistics: RemoteStatistics

    init(_ key: String, _ statistics: RemoteStatistics) {
        primaryKey = key
        self.statistics = statistics
        let health = statistics.health
        state = health.connections + health.failures > 0 ? health.trouble ?? "connected" : "connecting"
    }

    /// Whether it differs from another report, apart from heartbeats and the activity of other processes.
    func isWorthWriting(after other: RemoteReport?) -> Bool {
        guard let other else { return true }
        var (own, former) = (statistics, other.statistics)
        (own.near, own.health.requests) = (former.near, former.health.requests)
        (own.health.waiting, former.health.waiting) = (0, 0)
        return own != former || state != other.state
    }
}
