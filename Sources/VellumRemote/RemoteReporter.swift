import Dispatch
import Foundation
import StorageEngine
import Vellum

/// Writes the ``RemoteReport``s of this process, one after the other, on a queue of its own. It does nothing while there are no
/// archives at a tier. Safe from any thread.
final class RemoteReporter: Sendable {
    static let shared = RemoteReporter()

    private struct Reported {
        let key: String
        let reports: ArchiveManager<RemoteReport>
        /// `nil` once the archive isn't used any more. Doesn't keep it.
        let statistics: @Sendable () throws -> RemoteStatistics?
        var last: RemoteReport?
        var written = ContinuousClock.now
        /// Whether the latest report failed: that is logged once.
        var hasFailed = false
    }

    private let queue = DispatchQueue(label: "vellum.remote-reports", qos: .utility)
    /// Used on the queue, and guarded for those that add.
    private let reported = Guarded<[Reported]>([])

    private static let pause = DispatchTimeInterval.seconds(1)
    /// How long an unchanged report stands before it is written again, and how long each lasts.
    private static let (longest, lifetime) = (Duration.seconds(10), Duration.seconds(30))

    /// - Parameter name: of the near archive.
    func add<Object>(
        _ archives: RemoteArchives<Object>, named name: String, _ reports: ArchiveManager<RemoteReport>
    ) {
        let process = ProcessInfo.processInfo
        let entry = Reported(
            key: "\(name) \(process.processName) \(process.processIdentifier)", reports: reports,
            statistics: { [weak archives] in try archives?.statistics() })
        let isFirst = reported.withLock { reported in
            reported.append(entry)
            return reported.count == 1
        }
        if isFirst { queue.async { self.report() } }
    }

    private func report() {
        let all = reported.withLock { $0 }
        let reported = all.map { (key: $0.key, entry: RemoteReporter.report($0)) }
        let isOver = self.reported.withLock { current in
            // Those that came meanwhile stand behind.
            current = reported.compactMap(\.entry) + current.dropFirst(all.count)
            return current.isEmpty
        }
        if !isOver { queue.asyncAfter(deadline: .now() + RemoteReporter.pause) { self.report() } }
    }

    /// What is known of it now; `nil` if it isn't used any more.
    private static func report(_ entry: Reported) -> Reported? {
        var entry = entry
        do {
            guard let statistics = try entry.statistics() else {
                try entry.reports.throwing.delete(archiveWithKey: entry.key)
                return nil
            }
            let report = RemoteReport(entry.key, statistics)
            guard report != entry.last || .now - entry.written >= longest else { return entry }
            try entry.reports.throwing.record(report, expiresIn: lifetime)
            (entry.last, entry.written, entry.hasFailed) = (report, .now, false)
        } catch {
            if !entry.hasFailed { entry.reports.handle.log("report the state of", entry.key, error) }
            entry.hasFailed = true
        }
        return entry
    }
}
