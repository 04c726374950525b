import Vellum

/// What a process says of one of its archives at a tier. It is kept in the archive `Remote tiers` of the store with the near
/// copies, where the browser and `vellum query` show it, for all processes of the machine.
///
/// Written within a second of a change, every ten seconds while nothing changes, and gone half a minute after its process has
/// ended.
public struct RemoteReport: ArchiveCodable, Sendable, Hashable {
    /// `Remote tiers`.
    public static let archiveName = "Remote tiers"

    /// The near archive's name, the program's, and the process's number.
    public let primaryKey: String
    /// `connected`, `connecting`, or what is wrong.
    public let state: String
    /// What ``RemoteArchives/statistics()`` said.
    public let statistics: RemoteStatistics

    init(_ key: String, _ statistics: RemoteStatistics) {
        primaryKey = key
        self.statistics = statistics
        let isBegun = statistics.health.connections + statistics.health.failures > 0
        state = statistics.health.trouble.map { isBegun ? $0 : "connecting" } ?? "connected"
    }
}
