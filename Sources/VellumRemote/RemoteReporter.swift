import Dispatch
import Foundation
import StorageEngine
import Vellum

/// Writes the ``RemoteReport``s of this process on a separate queue.
final class RemoteReporter: Sendable {
    static let shared = RemoteReporter()

    private struct Reported {
        let key: String
        let factory: ArchivesFactory
        let statistics: @Sendable () throws -> Found
        var reports: ArchiveManager<RemoteReport>?
        var last: RemoteReport?
        var written = ContinuousClock.now
        var hasFailed = false
    }

    private enum Found {
        case open(RemoteStatistics)
        /// The store is closed or removed.
        case closed
        case released
    }

    private let queue = DispatchQueue(label: "vellum.remote-reports", qos: .utility)
    private let reported = Guarded<[Reported]>([])

    private static let pause = DispatchTimeInterval.seconds(1)
    /// Interval of unchanged reports, and the lifetime of each.
    private static let (longest, lifetime) = (Duration.seconds(10), Duration.seconds(30))

    private static let mark = String(UInt16.random(in: 0...(.max)), radix: 16)

    /// - Parameter name: of the near archive.
    func add<Object>(_ archives: RemoteArchives<Object>, named name: String, in factory: ArchivesFactory) {
        let process = ProcessInfo.processInfo
        let entry = Reported(
            key: "\(name) \(process.processName) \(process.processIdentifier)-\(RemoteReporter.mark)",
            factory: factory,
            statistics: { [weak archives] in
                guard let archives else { return .released }
                return try archives.presentStatistics().map { .open($0) } ?? .closed
            })
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
            // Archives that were added since are at the end.
            current = reported.compactMap(\.entry) + current.dropFirst(all.count)
            return current.isEmpty
        }
        if !isOver { queue.asyncAfter(deadline: .now() + RemoteReporter.pause) { self.report() } }
    }

    /// Returns `nil` if the archive is released.
    private static func report(_ entry: Reported) -> Reported? {
        var entry = entry
        do {
            switch try entry.statistics() {
            case .open(let statistics):
                let report = RemoteReport(entry.key, statistics)
                guard report.isWorthWriting(after: entry.last) || .now - entry.written >= longest else {
                    return entry
                }
                let reports = try entry.reports ?? RemoteReporter.reports(of: entry.factory)
                entry.reports = reports
                // Calls of the archive would reopen a store that the program has closed.
                let core = reports.handle.core
                _ = try core.keepNear(core.prepare(report), EntryAttributes(lifetime: lifetime))
                (entry.last, entry.written, entry.hasFailed) = (report, .now, false)
            case .closed: entry.last = nil
            case .released:
                guard let core = entry.reports?.handle.core, !core.archive.isClosed else { return nil }
                try core.delete(entry.key)
                return nil
            }
        } catch StorageError.closed {
            (entry.reports, entry.last) = (nil, nil)
        } catch {
            if !entry.hasFailed {
                entry.factory.logger.warning(
                    "vellum: cannot report the state of a tier",
                    metadata: ["key": "\(entry.key)", "reason": "\(error)"])
            }
            entry.hasFailed = true
        }
        return entry
    }

    private static func reports(of factory: ArchivesFactory) throws -> ArchiveManager<RemoteReport> {
        try factory.archives(trySetMaxMemorySize: 1, trySetMaxDiskSize: 1 << 20, kind: .cache)
    }
}
