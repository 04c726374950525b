import CBOR
import Foundation
import StorageEngine

/// P14 while another thread overwrites cities at full speed: the time until the result is on the screen for sorting a million
/// entries by a property, filtering, grouping, scrolling, finding a text at the end of a long value, and deleting and
/// restoring 50,000 entries. Keys with an immediate effect are pressed all the time: the longest time until the frame of one
/// of them. And the effect on the writer.
struct BusyStoreWorkload {
    static let title = "P14 browser beside a full-speed writer"
    private static let tail = "P14 busy: p99.9 of a put"

    /// Limits the duration to two minutes.
    private static let mostRuns = 2
    /// Duration of the writer without a browser.
    private static let seconds = 5.0
    private static let deleted = 50_000
    /// The first of the keys to delete, and their prefix. The writer doesn't overwrite them, since overwritten entries are
    /// neither deleted nor restored.
    private static let deletedKeys = "gone:"
    /// Letters that occur in two keys only, so that the cursor can move.
    private static let letters = ["z", "q", "x"]
    private static let lastKey = "zqx:2"
    /// The prefix of the first key.
    private static let firstCountry = "AE:"
    /// The only place with less than 100,000 inhabitants.
    private static let smallest = "smallest:0"
    private static let longKey = "long:0"
    /// The search text, and the text of its line.
    private static let wanted = "needle"
    private static let lastLine = "here is the needle at last"
    private static let longValueBytes = 100_000_000
    private static let pageDown = "\u{1b}[6~"
    private static let escape = "\u{1b}"
    private static let scrolling = 1.0

    let plan: Plan
    /// The built program; `nil`: not measured.
    let browser: String?

    func run() throws -> [Measurement] {
        guard plan.wants(BusyStoreWorkload.title), let browser else { return [] }
        plan.say("P14 busy: filling")
        let system = try VellumSystem(at: plan.scratch.fresh("busy"))
        defer { system.close() }
        let cities = try Cities(plan)
        try fill(system.archive, with: cities)
        // The first compaction moves records that were written in order, unlike later ones.
        try cities.storeAll(in: system.archive)
        var figures = Measured()
        let runs = min(plan.runs, BusyStoreWorkload.mostRuns)
        for run in 0..<runs {
            plan.say("P14 busy: run \(run + 1) of \(runs)")
            let alone = Writer(of: cities, into: system.archive)
            Thread.sleep(forTimeInterval: BusyStoreWorkload.seconds)
            try alone.end(&figures.alone)
            let watched = Writer(of: cities, into: system.archive)
            // The writer must end before the store is closed, also after an error.
            let looked = Result { try look(at: system.store.path, with: browser, &figures) }
            try watched.end(&figures.watched)
            try looked.get()
            try count(system.archive)
        }
        return figures.judged
    }

    // MARK: The store

    /// The writer's entries: a key for each in a random order, and its value.
    private struct Cities {
        let keys: [String]
        /// The number of the value for each key.
        let numbers: [Int]
        let values: [[UInt8]]

        /// The cities of the demonstration, repeated.
        init(_ plan: Plan) throws {
            let all = try City.all()
            values = try all.map { try CBOREncoder().encode($0) }
            let order = plan.shuffledEntries(16, run: 0)
            keys = order.map { number in
                let digits = String(number)
                let zeros = String(repeating: "0", count: max(0, 8 - digits.count))
                return "\(all[number % all.count].countrycode):\(zeros)\(digits)"
            }
            numbers = order.map { $0 % all.count }
        }

        func store(_ place: Int, in archive: Archive) throws {
            try archive.put(values[numbers[place]], forKey: keys[place], encoding: .cbor)
        }

        func storeAll(in archive: Archive) throws {
            for place in keys.indices { try store(place, in: archive) }
        }
    }

    private func fill(_ archive: Archive, with cities: Cities) throws {
        try cities.storeAll(in: archive)
        for number in 0..<BusyStoreWorkload.deleted {
            try archive.put(
                cities.values[number % cities.values.count], forKey: BusyStoreWorkload.deletedKey(number),
                encoding: .cbor)
        }
        for key in ["zqx:1", BusyStoreWorkload.lastKey] {
            try archive.put(cities.values[0], forKey: key, encoding: .cbor)
        }
        var city = try City.all()[0]
        city.population = 0
        try archive.put(CBOREncoder().encode(city), forKey: BusyStoreWorkload.smallest, encoding: .cbor)
        try archive.put(BusyStoreWorkload.longValue(), forKey: BusyStoreWorkload.longKey)
    }

    private static func deletedKey(_ number: Int) -> String {
        deletedKeys + String(String(100_000 + number).dropFirst())
    }

    /// Different lines, so that scrolling is visible.
    private static func longValue() -> [UInt8] {
        let rest = Array(" of a text that is long and says nothing but the number of its line\n".utf8)
        var value: [UInt8] = []
        value.reserveCapacity(longValueBytes + 100)
        var number = 10_000_000
        while value.count < longValueBytes {
            value += Array("line \(number)".utf8)
            value += rest
            number += 1
        }
        return value + Array((lastLine + "\n").utf8)
    }

    /// The number of entries besides the cities.
    private static let others = deleted + 4

    /// Checks that the deleted entries were restored.
    private func count(_ archive: Archive) throws {
        let entries = try archive.status().entries
        let back = try (0..<BusyStoreWorkload.deleted).count(where: {
            try archive.metadata(BusyStoreWorkload.deletedKey($0)) != nil
        })
        guard entries == plan.entries + BusyStoreWorkload.others, back == BusyStoreWorkload.deleted else {
            throw BenchmarkError("P14 busy: of \(entries) entries \(back) came back")
        }
    }

    // MARK: The writer

    /// Overwrites all entries in turn at full speed.
    private struct Writer {
        private let times = Times()
        private let work: Background

        init(of cities: Cities, into archive: Archive) {
            let times = times
            work = Background { round in
                for place in 0..<100 {
                    let begun = Clock.now()
                    try cities.store((round * 100 + place) % cities.keys.count, in: archive)
                    times.add(Clock.now() - begun)
                }
            }
        }

        func end(_ tail: inout Measurement) throws {
            let puts = try work.end() * 100
            tail.add(nanosecondsPerOp: Double(times.share(0.999)), ops: puts)
        }
    }

    // MARK: The browser

    private func look(at path: String, with browser: String, _ figures: inout Measured) throws {
        let browser = try ProbedBrowser(
            [browser, "browse", "--store", path], state: plan.scratch.fresh("busy-state"))
        try browser.ask("", "opening", pressing: .none) { $0.screen.shows(VellumSystem.archiveName) }
        try browser.ask("\r", "listing", pressing: .none) {
            BusyStoreWorkload.listsAll($0) && BusyStoreWorkload.header($0).contains("idle ▲")
        }
        figures.sort.add(time: try sort(browser))
        figures.filter.add(time: try filter(browser))
        figures.group.add(time: try group(browser))
        figures.scroll.add(time: try scroll(browser))
        figures.find.add(time: try find(browser))
        let (deleted, restored) = try delete(browser)
        figures.delete.add(time: deleted)
        figures.restore.add(time: restored)
        figures.key.add(nanosecondsPerOp: Double(browser.slowest), ops: browser.keys)
        let steps = browser.slowestOfSteps.map { "\($0.step) \($0.nanoseconds / 1_000_000) ms" }
        plan.say("P14 busy: the slowest of \(browser.keys) keys: " + steps.joined(separator: ", "))
        for key in browser.late { plan.say("P14 busy: late, " + key) }
        if let bytes = browser.ownMemory {
            figures.memory.add(nanosecondsPerOp: Double(bytes))
        }
    }

    /// Whether all entries are listed; else the browser shows how many of them are.
    private static func listsAll(_ browser: ProbedBrowser) -> Bool {
        let line = browser.screen.line(1)
        return line.contains(" entries") && !line.contains(" of ")
    }

    private static func status(_ browser: ProbedBrowser) -> String {
        browser.screen.line(ProbedBrowser.status)
    }

    private static func header(_ browser: ProbedBrowser) -> String {
        browser.screen.line(ProbedBrowser.body - 1)
    }

    private static func isPromptOpen(_ browser: ProbedBrowser) -> Bool {
        ["filter ", "find ", "column "].contains { status(browser).hasPrefix($0) }
    }

    /// Removes the filter. A key that follows Escape too soon would be taken for another key.
    private func clearFilter(_ browser: ProbedBrowser) throws {
        try browser.ask(BusyStoreWorkload.escape, "clearing", pressing: .none) {
            BusyStoreWorkload.listsAll($0) && !BusyStoreWorkload.isPromptOpen($0)
        }
    }

    private func openPrompt(_ browser: ProbedBrowser, _ step: String) throws {
        try browser.press("/", step, until: BusyStoreWorkload.isPromptOpen)
    }

    /// By a property of the values, for which a column is added first.
    private func sort(_ browser: ProbedBrowser) throws -> UInt64 {
        let step = "sorting"
        let box = " Columns"
        try browser.press("C", step) { $0.screen.shows(box) }
        try browser.press("a", step) { BusyStoreWorkload.status($0).hasPrefix("column ") }
        try browser.press("population", step) {
            BusyStoreWorkload.status($0).hasPrefix("column population")
        }
        try browser.press("\r", step) { $0.screen.shows(box) }
        try browser.press("C", step) {
            !$0.screen.shows(box) && BusyStoreWorkload.header($0).contains("population")
        }
        // The next order is that after the owner. Where the cursor keeps its key, that is in view and not the first row.
        try browser.ask("8", step, pressing: .none) { BusyStoreWorkload.header($0).contains("owner ▲") }
        try browser.press("F", step) { BusyStoreWorkload.status($0).hasPrefix("Following") }
        let time = try browser.ask("s", step, pressing: .rows) {
            $0.screen.line(ProbedBrowser.body).contains(BusyStoreWorkload.smallest)
        }
        try browser.ask("1", "sorting by key", pressing: .rows) {
            BusyStoreWorkload.header($0).contains("key ▲")
        }
        return time
    }

    private func filter(_ browser: ProbedBrowser) throws -> UInt64 {
        let step = "filtering"
        try openPrompt(browser, step)
        let begun = Clock.now()
        var typed = ""
        for letter in BusyStoreWorkload.letters {
            typed += letter
            let wanted = "filter \(typed)"
            try browser.press(letter, step) { BusyStoreWorkload.status($0).hasPrefix(wanted) }
        }
        try browser.ask("", step, pressing: .rows) {
            let rows = $0.screen
            return rows.line(1).contains("filter \"\(typed)\"")
                && rows.line(ProbedBrowser.body).contains("zqx:1")
                && rows.line(ProbedBrowser.body + 1).contains(BusyStoreWorkload.lastKey)
        }
        let time = Clock.now() - begun
        try clearFilter(browser)
        return time
    }

    private func group(_ browser: ProbedBrowser) throws -> UInt64 {
        let step = "grouping"
        let time = try browser.ask("z", step, pressing: .words) {
            $0.screen.line(1).contains(" groups by key")
        }
        try browser.press("h", step) { BusyStoreWorkload.header($0).contains("population") }
        return time
    }

    /// Scrolls to the end, back, and page by page.
    /// - Returns: the longest time until the cursor's row was shown.
    private func scroll(_ browser: ProbedBrowser) throws -> UInt64 {
        let step = "scrolling"
        func go(_ key: String, until isThere: (ProbedBrowser) -> Bool) throws -> UInt64 {
            let before = browser.selected
            let begun = Clock.now()
            try browser.press(key, step) { $0.selected != before }
            if !isThere(browser) { try browser.ask("", step, pressing: .none, until: isThere) }
            return Clock.now() - begun
        }
        try browser.ask("g", step, pressing: .none) { $0.selected.contains(BusyStoreWorkload.firstCountry) }
        var longest = try max(
            go("G") { $0.selected.contains(BusyStoreWorkload.lastKey) },
            go("g") { $0.selected.contains(BusyStoreWorkload.firstCountry) })
        let end = Clock.now() + UInt64(BusyStoreWorkload.scrolling * 1e9)
        while Clock.now() < end {
            let time = try go(BusyStoreWorkload.pageDown) { $0.selected.contains(":") }
            longest = max(longest, time)
            Thread.sleep(forTimeInterval: max(0, 0.05 - Double(time) / 1e9))
        }
        return longest
    }

    private func find(_ browser: ProbedBrowser) throws -> UInt64 {
        let step = "finding"
        try openPrompt(browser, step)
        try browser.ask(BusyStoreWorkload.longKey, step, pressing: .none) {
            $0.screen.line(1).contains("1 of ")
                && $0.screen.line(ProbedBrowser.body).contains(BusyStoreWorkload.longKey)
        }
        try browser.press("\r", step) { !BusyStoreWorkload.isPromptOpen($0) }
        try browser.ask("\r", step, pressing: .none) {
            $0.screen.line(ProbedBrowser.body).hasPrefix("line 10000000")
        }
        try openPrompt(browser, step)
        let time = try browser.ask(BusyStoreWorkload.wanted, step, pressing: .text) {
            $0.screen.shows(BusyStoreWorkload.lastLine)
        }
        try browser.press("\r", step) { !BusyStoreWorkload.isPromptOpen($0) }
        try browser.press("h", step) { BusyStoreWorkload.header($0).contains("population") }
        try clearFilter(browser)
        return time
    }

    /// Marks the results of a filter, deletes and restores them. In between, the list of all entries is shown, where the
    /// cursor can still move.
    private func delete(_ browser: ProbedBrowser) throws -> (deleted: UInt64, restored: UInt64) {
        let step = "deleting"
        let count = Figures.grouped(BusyStoreWorkload.deleted)
        try openPrompt(browser, step)
        try browser.ask(BusyStoreWorkload.deletedKeys, step, pressing: .rows) {
            $0.screen.line(1).contains("\(count) of ")
        }
        try browser.press("\r", step) { !BusyStoreWorkload.isPromptOpen($0) }
        try browser.ask("M", step, pressing: .rows) { $0.screen.line(1).contains("\(count) marked") }
        try clearFilter(browser)
        try browser.press("D", step) { $0.screen.shows("Delete \(count) entries?") }
        let deleted = try browser.ask("y", step, pressing: .rows) {
            lists($0, all: false)
        }
        try browser.ask("u", step, pressing: .none) { $0.screen.shows("Undo this?") }
        let restored = try browser.ask("y", "undoing", pressing: .rows) {
            lists($0, all: true)
        }
        return (deleted, restored)
    }

    /// Whether it lists all entries, or all but the deleted ones; the next key removes the message with these numbers. Some
    /// may have been overwritten during the listing.
    private func lists(_ browser: ProbedBrowser, all: Bool) -> Bool {
        let number = Int(browser.screen.line(1).prefix { $0 != "e" }.filter(\.isNumber)) ?? 0
        let wanted = plan.entries + BusyStoreWorkload.others - (all ? 0 : BusyStoreWorkload.deleted)
        return abs(number - wanted) < 100
    }

    // MARK: Figures

    /// Measurements in the order of the report.
    private struct Measured {
        var sort = Measurement("P14 busy: sorted by a property", "vellum")
        var filter = Measurement("P14 busy: filtered by three letters", "vellum")
        var group = Measurement("P14 busy: grouped by prefix", "vellum")
        var scroll = Measurement("P14 busy: to the end, back or a page, the slowest", "vellum")
        var find = Measurement("P14 busy: a text at the end of 100 MB", "vellum")
        var delete = Measurement("P14 busy: 50,000 deleted", "vellum")
        var restore = Measurement("P14 busy: 50,000 brought back", "vellum")
        var key = Measurement("P14 busy: a key until its frame, the slowest", "vellum")
        var memory = Measurement("P14 busy: memory of its own, bytes", "vellum")
        var alone = Measurement(BusyStoreWorkload.tail, "no browser")
        var watched = Measurement(BusyStoreWorkload.tail, "beside the browser")

        /// With goals, and without those that the system doesn't support.
        var judged: [Measurement] {
            var all = self
            all.key.verdict = .within(milliseconds: 100, nanoseconds: key.most)
            all.memory.verdict = Verdict(bar: "≤ 64 MiB", isMet: memory.median <= Double(64 << 20))
            all.watched.compare(with: alone, most: 2)
            return [
                all.sort, all.filter, all.group, all.scroll, all.find, all.delete, all.restore, all.key,
                all.memory, all.alone, all.watched,
            ].filter { !$0.samples.isEmpty }
        }
    }
}

extension Measurement {
    fileprivate mutating func add(time: UInt64) { add(nanoseconds: Double(time), ops: 1, bytes: 0) }
}
