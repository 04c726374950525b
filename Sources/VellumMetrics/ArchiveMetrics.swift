import CoreMetrics
import Foundation
import Vellum

/// Reports archives to swift-metrics. Their statistics are read at intervals, and their calls that reach the store
/// are timed. Timing costs each such call two clock readings and a call of the metrics backend. Hits in memory are
/// not timed. Safe from any thread.
///
/// ```swift
/// let metrics = ArchiveMetrics()
/// metrics.add(users, named: "users")
/// try await metrics.run()  // until its task is cancelled
/// ```
///
/// Each of these metrics has the dimension `archive`. Metrics of all processes come from the store, so only one process should
/// report them; those named `memory` are of this process.
///
/// | metric | kind | meaning |
/// |---|---|---|
/// | `vellum.hits`, `vellum.misses` | counter | look-ups, of all processes |
/// | `vellum.memory.hits` | counter | look-ups that this process's memory answered |
/// | `vellum.records`, `vellum.deletes`, `vellum.evictions`, `vellum.expirations`, `vellum.rejections` | counter | objects, of all processes |
/// | `vellum.failures`, `vellum.conflicts` | counter | calls of this process that could only log an error; changes that were retried |
/// | `vellum.objects`, `vellum.memory.objects` | meter | objects |
/// | `vellum.disk.bytes`, `vellum.memory.bytes`, `vellum.footprint.bytes` | meter | bytes |
/// | `vellum.duration` | timer | calls of this process, by the dimension `call`: `access` (look-ups that memory can't answer), `record`, `delete`, `change` (batches, transactions), `query`, `compute` |
public final class ArchiveMetrics: Sendable {
    private let factory: any MetricsFactory
    /// A lock that the thread sanitizer understands.
    private let lock = NSLock()
    /// Guarded by the lock.
    nonisolated(unsafe) private var sources: [Source] = []

    /// Creates metrics without any archives.
    /// - Parameter factory: receives the metrics; by default the program's metrics system.
    public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    /// Reports an archive from now on. Durations are reported until the program ends, even without this object. `name`:
    /// the value of the dimension `archive`; `nil`: `Archivable.archiveName`.
    public func add<Object>(_ archives: ArchiveManager<Object>, named name: String? = nil) {
        let name = name ?? Object.archiveName
        addStatistics([("archive", name)]) { archives.statistics }
        let timers = TimedCall.allCases.map { call in
            Timer(
                label: "vellum.duration", dimensions: [("archive", name), ("call", "\(call)")],
                factory: factory)
        }
        archives.core.shared.times.add { call, nanoseconds in
            timers[call.rawValue].recordNanoseconds(nanoseconds)
        }
    }

    package func addStatistics(
        _ dimensions: [(String, String)], _ read: @escaping @Sendable () -> ArchiveStatistics?
    ) { add(dimensions, counting: counted, measuring: measured, read) }

    /// Reports statistics of another source: counters and measured values. The names get the prefix `vellum.`.
    package func add<Statistics>(
        _ dimensions: [(String, String)], counting counted: [(String, @Sendable (Statistics) -> Int)],
        measuring measured: [(String, @Sendable (Statistics) -> Int)],
        _ read: @escaping @Sendable () -> Statistics?
    ) {
        let source = Source(dimensions, factory, counting: counted, measuring: measured, read)
        lock.withLock { sources.append(source) }
    }

    /// Reports now. An archive whose statistics can't be read is left out, and logs the reason.
    public func report() {
        lock.withLock {
            for place in sources.indices { sources[place].report() }
        }
    }

    /// Reports at intervals until the task is cancelled, and then once more. Throws `CancellationError`.
    public func run(every interval: Duration = .seconds(10)) async throws {
        defer { report() }
        while true {
            report()
            try await Task.sleep(for: interval)
        }
    }
}

private let counted: [(String, @Sendable (ArchiveStatistics) -> Int)] = [
    ("hits", { $0.hits }), ("misses", { $0.misses }), ("memory.hits", { $0.memoryHits }),
    ("records", { $0.records }), ("deletes", { $0.deletes }), ("evictions", { $0.evictions }),
    ("expirations", { $0.expirations }), ("rejections", { $0.rejections }),
    ("failures", { $0.failedCalls }), ("conflicts", { $0.conflicts }),
]
private let measured: [(String, @Sendable (ArchiveStatistics) -> Int)] = [
    ("objects", { $0.objects }), ("memory.objects", { $0.memoryObjects }),
    ("disk.bytes", { $0.diskBytes }),
    ("memory.bytes", { $0.memoryBytes }), ("footprint.bytes", { $0.footprint }),
]

/// The metrics of an archive or another source, with the counts that were reported last.
private struct Source: Sendable {
    private let counters: [Counter]
    private let meters: [Meter]
    private let read: @Sendable () -> (counts: [Int], measures: [Int])?
    private var reported: [Int]

    init<Statistics>(
        _ dimensions: [(String, String)], _ factory: any MetricsFactory,
        counting counted: [(String, @Sendable (Statistics) -> Int)],
        measuring measured: [(String, @Sendable (Statistics) -> Int)],
        _ statistics: @escaping @Sendable () -> Statistics?
    ) {
        counters = counted.map {
            Counter(label: "vellum.\($0.0)", dimensions: dimensions, factory: factory)
        }
        meters = measured.map {
            Meter(label: "vellum.\($0.0)", dimensions: dimensions, factory: factory)
        }
        read = {
            statistics().map { now in (counted.map { $0.1(now) }, measured.map { $0.1(now) }) }
        }
        reported = read()?.counts ?? counted.map { _ in 0 }
    }

    mutating func report() {
        guard let now = read() else { return }
        for (place, count) in now.counts.enumerated() {
            // The counters of a recreated archive restart.
            counters[place].increment(by: Int64(count >= reported[place] ? count - reported[place] : count))
            reported[place] = count
        }
        for (meter, measure) in zip(meters, now.measures) { meter.set(measure) }
    }
}
