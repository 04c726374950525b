import Foundation
/// The slowest of many operations, with the kernel's counts of events during each: of the thread, of the archive's files and
/// of their file system.
struct Outliers {
    private struct Moment {
        let faults: Int
        let waits: Int
        let preemptions: Int
        let processor: UInt64
        let freeBytes: Int
        let indexBytes: Int
        /// When a file was created or removed.
        let changed: timespec

        init(_ index: String, _ folder: String) {
            var usage = rusage()
            #if os(Linux)
            // RUSAGE_THREAD, which is not imported.
            getrusage(1, &usage)
            #else
            getrusage(RUSAGE_SELF, &usage)
            #endif
            faults = usage.ru_minflt + usage.ru_majflt
            (waits, preemptions) = (usage.ru_nvcsw, usage.ru_nivcsw)
            var space = statvfs()
            statvfs(folder, &space)
            freeBytes = Int(space.f_bfree) * Int(space.f_frsize)
            var facts = stat()
            stat(index, &facts)
            indexBytes = Int(facts.st_size)
            stat(folder, &facts)
            #if canImport(Darwin)
            changed = facts.st_mtimespec
            #else
            changed = facts.st_mtim
            #endif
            processor = Clock.processorNow()
        }
    }

    private let index: String
    private let folder: String
    private let most: Int
    private var slowest: [(nanoseconds: UInt64, text: String)] = []

    /// - Parameter index: the path of the archive's index, in the folder of its other files.
    init(index: String, most: Int = 10) {
        self.index = index
        self.most = most
        folder = String(index[..<(index.lastIndex(of: "/") ?? index.startIndex)])
    }

    /// Runs the operation, and records it if it is one of the slowest.
    mutating func time(_ name: String, _ body: () throws -> Void) rethrows {
        let before = Moment(index, folder)
        let start = Clock.now()
        try body()
        let time = Clock.now() - start
        guard slowest.count < most || time > slowest[most - 1].nanoseconds else { return }
        let after = Moment(index, folder)
        let running = min(time, after.processor - before.processor)
        let taken = before.freeBytes - after.freeBytes
        let hasFile =
            (before.changed.tv_sec, before.changed.tv_nsec) != (after.changed.tv_sec, after.changed.tv_nsec)
        let causes = [
            (after.faults - before.faults, "page faults"), (after.waits - before.waits, "waits"),
            (after.preemptions - before.preemptions, "preemptions"),
            (max(0, taken) >> 10, "KiB taken of the file system"),
            (max(0, -taken) >> 10, "KiB given back to it"),
            ((after.indexBytes - before.indexBytes) >> 10, "KiB more of index"),
            (hasFile ? 1 : 0, "segment made or removed"),
        ].filter { $0.0 != 0 }.map { "\($0) \($1)" }
        let spent = "\(name) \(time / 1000) µs, \(running / 1000) of them running"
        slowest.append((time, ([spent] + causes).joined(separator: ", ")))
        slowest.sort { $0.nanoseconds > $1.nanoseconds }
        if slowest.count > most { slowest.removeLast() }
    }

    var lines: [String] { slowest.map(\.text) }
}
