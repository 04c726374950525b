import Vellum
import VellumMetrics

/// Metrics of remote archives, in addition to those of all archives, which are of the near copies.
///
/// ```swift
/// metrics.add(users)
/// metrics.add(tier)
/// ```
///
/// | metric | kind | meaning |
/// |---|---|---|
/// | `vellum.remote.fetches`, `vellum.remote.confirmed`, `vellum.remote.missing` | counter | requests for objects; confirmed near copies; absent objects |
/// | `vellum.remote.records`, `vellum.remote.failures` | counter | objects stored at the tier; failed requests |
/// | `vellum.remote.stale.hits` | counter | accesses answered with copies that may be outdated |
/// | `vellum.remote.lost.changes` | counter | queued changes that the tier refused permanently |
/// | `vellum.remote.covered` | meter | 1 while the tier reports changes, else 0 |
/// | `vellum.remote.waiting.keys`, `vellum.remote.waiting.bytes` | meter | queued changes |
///
/// They are of this process, with the dimension `archive`. Metrics of a tier have the dimension `tier`:
///
/// | metric | kind | meaning |
/// |---|---|---|
/// | `vellum.tier.connections`, `vellum.tier.failures` | counter | connections opened; lost or failed |
/// | `vellum.tier.requests`, `vellum.tier.timeouts`, `vellum.tier.refusals`, `vellum.tier.redirections`, `vellum.tier.unsent` | counter | requests: sent, timed out, refused, redirected, not sent |
/// | `vellum.tier.invalidations` | counter | keys that other clients changed |
/// | `vellum.tier.connected` | meter | 1 while it is connected, else 0 |
/// | `vellum.tier.waiting` | meter | requests without an answer yet |
extension ArchiveMetrics {
    /// Starts reporting a remote archive.
    /// - Parameters:
    ///   - archives: the archive to report.
    ///   - name: the value of the dimension `archive`; `nil`: `Archivable.archiveName`.
    public func add<Object>(_ archives: RemoteArchives<Object>, named name: String? = nil) {
        let dimensions = [("archive", name ?? Object.archiveName)]
        let read: @Sendable () -> RemoteStatistics? = {
            do { return try archives.statistics() } catch {
                archives.near.log("read the statistics of", nil, error)
                return nil
            }
        }
        addStatistics(dimensions) { read()?.near }
        add(dimensions, counting: counted, measuring: measured, read)
    }

    /// Starts reporting a tier's connection, which all of its archives in this process share.
    public func add(_ tier: any RemoteTier) {
        add([("tier", tier.name)], counting: countedOfTiers, measuring: measuredOfTiers) { tier.health }
    }
}

private let counted: [(String, @Sendable (RemoteStatistics) -> Int)] = [
    ("remote.fetches", { $0.fetches }), ("remote.confirmed", { $0.confirmed }),
    ("remote.missing", { $0.missing }), ("remote.records", { $0.records }),
    ("remote.failures", { $0.failures }), ("remote.stale.hits", { $0.staleHits }),
    ("remote.lost.changes", { $0.lostChanges }),
]
private let measured: [(String, @Sendable (RemoteStatistics) -> Int)] = [
    ("remote.covered", { $0.isTracked ? 1 : 0 }), ("remote.waiting.keys", { $0.waitingKeys }),
    ("remote.waiting.bytes", { $0.waitingBytes }),
]
private let countedOfTiers: [(String, @Sendable (RemoteHealth) -> Int)] = [
    ("tier.connections", { $0.connections }), ("tier.failures", { $0.failures }),
    ("tier.requests", { $0.requests }), ("tier.timeouts", { $0.timeouts }),
    ("tier.refusals", { $0.refusals }), ("tier.redirections", { $0.redirections }),
    ("tier.unsent", { $0.unsent }), ("tier.invalidations", { $0.invalidations }),
]
private let measuredOfTiers: [(String, @Sendable (RemoteHealth) -> Int)] = [
    ("tier.connected", { $0.trouble == nil && $0.connections > 0 ? 1 : 0 }),
    ("tier.waiting", { $0.waiting }),
]
