import Foundation
import StorageEngine

/// P14: the built browser on a terminal of 120 × 40 with synchronized frames, on a store with one archive: the time until its
/// first frame, from a key to its frame, for the first sort and the first filter, its private memory after those, and its
/// share of a core when idle and beside a writer, with the writer's time without it.
struct BrowserWorkload {
    private static let put = "P14 a put of that writer"
    private static let tail = "P14 p99.9 of a put at full speed"

    /// The least recent entry, and the last by key; the first by size. Its letters occur in no other key, so that its
    /// appearance is always sent.
    private static let largest = "zLARGEST"
    /// The part of it after the letter that is typed to filter, which is highlighted.
    private static let rest = "ARGEST"
    private static let pageDown = "\u{1b}[6~"
    private static let keys = 300
    /// The writer's puts per second.
    private static let rate = 5_000
    private static let seconds = 6.0

    let plan: Plan
    /// The built program; `nil`: not measured.
    let browser: String?

    func run() throws -> [Measurement] {
        guard plan.wants("P14 browser") else { return [] }
        guard let browser else {
            plan.say("P14 is left out: --browser names no program")
            return []
        }
        plan.say("P14: filling")
        let path = try plan.scratch.fresh("browsed")
        let system = try VellumSystem(at: path)
        defer { system.close() }
        try system.archive.put([UInt8](repeating: 7, count: 5_000), forKey: BrowserWorkload.largest)
        try system.put(KeyBatch(plan.shuffledEntries(14, run: 0)), plan.values, generation: 0)
        var figures = Figures()
        for run in 0..<plan.runs {
            plan.say("P14: run \(run + 1) of \(plan.runs)")
            try look(at: path, with: browser, &figures)
            try write(into: system, watchedBy: nil, &figures)
            try write(into: system, watchedBy: browser, &figures)
            try storeAll(system, watchedBy: nil, &figures)
            try storeAll(system, watchedBy: browser, &figures)
        }
        return figures.judged
    }

    /// Measurements in the order of the report.
    private struct Figures {
        var firstFrame = Measurement("P14 browser's first frame", "vellum")
        var rows = Measurement("P14 first rows of an archive", "vellum")
        var key = Measurement("P14 a key until its frame, p99", "vellum")
        var sort = Measurement("P14 first sort", "vellum")
        var filter = Measurement("P14 first filter", "vellum")
        var busyFilter = Measurement("P14 first filter beside a writer at full speed", "vellum")
        var memory = Measurement("P14 memory of its own, bytes", "vellum")
        var idle = Measurement("P14 idle, ns of a core a second", "vellum")
        var beside = Measurement("P14 beside a writer of 5,000/s, ns of a core a second", "vellum")
        var alone = Measurement(BrowserWorkload.put, "no browser")
        var watched = Measurement(BrowserWorkload.put, "beside the browser")
        var aloneTail = Measurement(BrowserWorkload.tail, "no browser")
        var watchedTail = Measurement(BrowserWorkload.tail, "beside the browser")

        /// With goals, and without those that the system doesn't support.
        var judged: [Measurement] {
            var all = self
            all.firstFrame.verdict = .within(milliseconds: 50, nanoseconds: firstFrame.median)
            all.rows.verdict = .within(milliseconds: 200, nanoseconds: rows.median)
            all.key.verdict = .within(milliseconds: 16, nanoseconds: key.median)
            all.sort.verdict = .within(milliseconds: 100, nanoseconds: sort.median)
            all.filter.verdict = .within(milliseconds: 100, nanoseconds: filter.median)
            all.busyFilter.verdict = .within(milliseconds: 100, nanoseconds: busyFilter.median)
            all.memory.verdict = Verdict(bar: "≤ 64 MiB", isMet: memory.median <= Double(64 << 20))
            all.idle.verdict = Verdict(bar: "≤ 1 %", isMet: idle.median <= 1e7)
            all.beside.verdict = Verdict(bar: "≤ 2 %", isMet: beside.median <= 2e7)
            all.watched.compare(with: alone, most: 1.02)
            all.watchedTail.compare(with: aloneTail, most: 2)
            return [
                all.firstFrame, all.rows, all.key, all.sort, all.filter, all.busyFilter, all.memory, all.idle,
                all.beside, all.alone, all.watched, all.aloneTail, all.watchedTail,
            ].filter { !$0.samples.isEmpty }
        }
    }

    /// Measures the browser on an idle store.
    private func look(at path: String, with browser: String, _ figures: inout Figures) throws {
        let begun = Clock.now()
        let program = try open(path, with: browser)
        figures.firstFrame.add(
            nanoseconds: Double(try program.frame(showing: VellumSystem.archiveName) - begun))
        try program.settle()
        figures.rows.add(nanoseconds: try time("\r", until: "k:", program))
        try program.settle()
        var latencies = Latencies(capacity: BrowserWorkload.keys)
        for place in 0..<BrowserWorkload.keys {
            // Down, and sometimes a page, so that the browser has rows to load.
            latencies.add(
                UInt64(try time(place % 10 == 9 ? BrowserWorkload.pageDown : "j", until: "", program)))
            try program.watch(seconds: 0.02)
        }
        figures.key.add(
            nanosecondsPerOp: Double(latencies.sorted()[BrowserWorkload.keys * 99 / 100]),
            ops: BrowserWorkload.keys)
        // The cursor stays on its key, which moves from the last row to the first.
        try program.type("G")
        try program.settle()
        figures.sort.add(nanoseconds: try time("2", until: BrowserWorkload.largest, program))
        // At the top of the order by key, it isn't on the screen.
        for key in ["1", "g"] {
            try program.type(key)
            try program.settle()
        }
        try program.type("/")
        try program.settle()
        figures.filter.add(nanoseconds: try time("L", until: BrowserWorkload.rest, program))
        if let bytes = program.ownMemory {
            figures.memory.add(nanosecondsPerOp: Double(bytes))
        }
        try program.type("\u{1b}")
        try program.settle()
        try program.type("4")
        try program.settle(milliseconds: 500)
        try watch(program, &figures.idle)
    }

    /// Nanoseconds from a key until the frame that shows the text.
    private func time(_ key: String, until text: String, _ program: TerminalProgram) throws -> Double {
        try program.type(key)
        let begun = Clock.now()
        return Double(try program.frame(showing: text) - begun)
    }

    /// Measures the browser's share of a core without input.
    private func watch(_ program: TerminalProgram, _ taken: inout Measurement) throws {
        let before = program.processorTime
        try program.watch(seconds: BrowserWorkload.seconds)
        guard let before, let after = program.processorTime else { return }
        taken.add(nanosecondsPerOp: (after - before) / BrowserWorkload.seconds)
    }

    /// A writer that overwrites a fixed number of entries per second, with and without a browser that lists them in LRU
    /// order.
    private func write(
        into system: VellumSystem, watchedBy browser: String?, _ figures: inout Figures
    ) throws {
        let program = try browser.map { try openEntries(system.store.path, with: $0) }
        let archive = system.archive
        let keys = KeyBatch((0..<min(10_000, plan.entries)).map { $0 * max(1, plan.entries / 10_000) })
            .strings
        let values = (0..<16).map { [UInt8](repeating: $0, count: Plan.valueBytes) }
        let times = Times()
        let writer = Background { round in
            let begun = Clock.now()
            // Ten at once, since sleeping between two takes longer.
            for place in 0..<10 {
                let number = (round * 10 + place) % keys.count
                try archive.put(values[round % values.count], forKey: keys[number])
            }
            let done = Clock.now()
            times.add(done - begun)
            let pause = UInt64(10 * 1_000_000_000 / BrowserWorkload.rate)
            let spent = done - begun
            if spent < pause { Thread.sleep(forTimeInterval: Double(pause - spent) / 1e9) }
        }
        if let program {
            try watch(program, &figures.beside)
        } else {
            Thread.sleep(forTimeInterval: BrowserWorkload.seconds)
        }
        let puts = try writer.end() * 10
        let median = Double(times.median) / 10
        if program == nil {
            figures.alone.add(nanosecondsPerOp: median, ops: puts)
        } else {
            figures.watched.add(nanosecondsPerOp: median, ops: puts)
        }
    }

    /// A writer overwrites all entries in turn at full speed, so that listed entries have moved. The browser, if any, lists,
    /// sorts and filters them.
    private func storeAll(
        _ system: VellumSystem, watchedBy browser: String?, _ figures: inout Figures
    ) throws {
        let program = try browser.map { try openEntries(system.store.path, with: $0) }
        let archive = system.archive
        let keys = KeyBatch(plan.shuffledEntries(15, run: 0)).strings
        let value = [UInt8](repeating: 9, count: Plan.valueBytes)
        let times = Times()
        let writer = Background { round in
            for place in 0..<100 {
                let begun = Clock.now()
                try archive.put(value, forKey: keys[(round * 100 + place) % keys.count])
                times.add(Clock.now() - begun)
            }
        }
        if let program {
            try program.watch(seconds: BrowserWorkload.seconds)
            try program.type("/")
            try program.watch(seconds: 0.3)
            figures.busyFilter.add(nanoseconds: try time("L", until: BrowserWorkload.rest, program))
            try program.type("\u{1b}")
            for key in ["2", "1", "4"] {
                try program.type(key)
                try program.watch(seconds: 0.5)
            }
        } else {
            Thread.sleep(forTimeInterval: BrowserWorkload.seconds + 2)
        }
        let puts = try writer.end() * 100
        let tail = Double(times.share(0.999))
        if program == nil {
            figures.aloneTail.add(nanosecondsPerOp: tail, ops: puts)
        } else {
            figures.watchedTail.add(nanosecondsPerOp: tail, ops: puts)
        }
    }

    /// Shows the entries of the archive.
    private func openEntries(_ path: String, with browser: String) throws -> TerminalProgram {
        let program = try open(path, with: browser)
        try program.frame(showing: VellumSystem.archiveName)
        try program.settle()
        try program.type("\r")
        try program.frame(showing: "k:")
        try program.settle()
        return program
    }

    private func open(_ path: String, with browser: String) throws -> TerminalProgram {
        try TerminalProgram([browser, "browse", "--store", path, "--read-only"], columns: 120, rows: 40)
    }
}
