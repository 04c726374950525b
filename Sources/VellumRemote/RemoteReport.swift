import Vellum

/// What a process says of one of its archives at a tier. It is kept in the archive `Remote tiers` of the store with the near
/// copies, where the browser and `vellum query` show it, for all processes of the machine.
///
/// Written within a second of a change, every ten seconds while nothing changes, and gone half a minute after its process has
/// ended: its age says how old it is. Nothing is opened again for it, so that of a store that the program has closed nothing
/// is reported.
public struct RemoteReport: ArchiveCodable, Sendable, Hashable {
    /// `Remote tiers`.
    public static let archiveName = "Remote tiers"

    /// The near archive's name, the program's, and the process's number with a random mark: containers may share a store, and
    /// number their processes alike.
    public let primaryKey: String
    /// `connected`, `connecting`, or what is wrong.
    public let state: String
    /// What ``RemoteArchives/statistics()`` said.
    public let statistics: RemoteStatistics

    init(_ key: String, _ statistics: RemoteStatistics) {
        primaryKey = key
        self.statistics = statistics
        let health = statistics.health
        state = health.connections + health.failures > 0 ? health.trouble ?? "connected" : "connecting"
    }

    /// Whether it says something else than another, but for what goes on all the time: heartbeats, and what other processes do.
    func isNews(after other: RemoteReport?) -> Bool {
        guard let other else { return true }
        var (own, former) = (statistics, other.statistics)
        (own.near, own.health.requests) = (former.near, former.health.requests)
        (own.health.waiting, former.health.waiting) = (0, 0)
        return own != former || state != other.state
    }
}
