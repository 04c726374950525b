#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageEngine

/// The slowest of many operations, and what happened meanwhile: to the thread, as the kernel tells, and in the archive, as the
/// engine does.
struct Outliers {
    private struct Moment {
        var faults = 0
        var fileFaults = 0
        var waits = 0
        var preemptions = 0
        var processor: UInt64 = 0
        var footprint: UInt64 = 0
        var evictions: UInt64 = 0

        init(_ archive: Archive) throws {
            var usage = rusage()
            #if os(Linux)
            // RUSAGE_THREAD, which is not imported.
            getrusage(1, &usage)
            #else
            getrusage(RUSAGE_SELF, &usage)
            #endif
            (faults, fileFaults) = (usage.ru_minflt, usage.ru_majflt)
            (waits, preemptions) = (usage.ru_nvcsw, usage.ru_nivcsw)
            let status = try archive.status()
            (footprint, evictions) = (status.footprint, status.evictions)
            processor = Clock.processorNow()
        }
    }

    private let most: Int
    private var slowest: [(nanoseconds: UInt64, text: String)] = []

    init(_ most: Int = 10) { self.most = most }

    /// Does it, and remembers it if it was one of the slowest.
    mutating func time(_ name: String, _ archive: Archive, _ body: () throws -> Void) throws {
        let before = try Moment(archive)
        let start = Clock.now()
        try body()
        let time = Clock.now() - start
        guard slowest.count < most || time > slowest[most - 1].nanoseconds else { return }
        let after = try Moment(archive)
        let running = min(time, after.processor - before.processor)
        let growth = Int(after.footprint) - Int(before.footprint)
        let causes = [
            (after.faults - before.faults, "page faults"),
            (after.fileFaults - before.fileFaults, "of them read"),
            (after.waits - before.waits, "waits"), (after.preemptions - before.preemptions, "preemptions"),
            (growth >> 10, "KiB of files more"), (Int(after.evictions - before.evictions), "evictions"),
        ].filter { $0.0 != 0 }.map { "\($0) \($1)" }
        let text =
            "\(name) \(time / 1000) µs, \(running / 1000) of them running; " + causes.joined(separator: ", ")
        slowest.append((time, text))
        slowest.sort { $0.nanoseconds > $1.nanoseconds }
        if slowest.count > most { slowest.removeLast() }
    }

    var lines: [String] { slowest.map(\.text) }
}
