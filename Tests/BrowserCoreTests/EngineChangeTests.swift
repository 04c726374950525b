import BrowserCore
import Foundation
import StorageEngine
import StoreInspection
import TerminalKit
import Testing

/// Changes in a real store have the announced effect.
struct EngineChangeTests {
    private let folder: EngineSourceTests.Folder
    private let store: Store
    private let archive: StorageEngine.Archive
    private var path: String { folder.path + "/store" }

    /// A cache with a limit of 4 MiB.
    init() throws {
        folder = EngineSourceTests.Folder()
        store = try Store.open(at: folder.path + "/store")
        archive = try store.archive(
            named: "City", orCreate: ArchiveConfiguration(diskLimit: 4 << 20, memoryLimit: nil))
    }

    private func browser(
        _ keys: String, environment: BrowserEnvironment = Fixture.environment,
        programs: @escaping @Sendable (TerminalProgram) -> Result<Int32, SourceError> = { _ in .success(0) }
    ) throws -> HeadlessBrowser {
        try Fixture.browser(
            at: folder.path, store: path, columns: 90, look: Fixture.unicode, environment: environment,
            keys: keys, programs: programs)
    }

    @Test("an archive is resized, compacted and renamed after a plan, and dropped by its name")
    func archivesAreChanged() throws {
        for number in 0..<40 {
            try archive.put([UInt8](repeating: 7, count: 50_000), forKey: "key \(number)")
        }
        var browser = try browser("L<ctrl+u>disk 1MB<enter>")
        let plan = browser.boxWords
        #expect(plan.contains("About 20 entries, 1 MB, are evicted, least recently used first"), "\(plan)")
        #expect(plan.contains("was used "), "\(plan)")
        #expect(try archive.configuration().diskLimit == 4 << 20)
        // Evictions are confirmed by the archive's name.
        try browser.press("y<enter><esc>")
        #expect(try archive.configuration().diskLimit == 4 << 20)
        try browser.press("L<ctrl+u>disk 1MB<enter>City<enter>")
        #expect(try archive.configuration().diskLimit == 1_000_000)
        #expect(browser.model.said?.contains("evictions") == true, "\(browser.text)")
        try browser.press("K<enter>", says: "Nothing was changed.")
        try browser.press("Ky")
        #expect(browser.model.said?.hasPrefix("Compacted City: ") == true, "\(browser.text)")
        try browser.press("NTown<enter>y")
        #expect(try store.archiveNames() == ["Town"], "\(browser.text)")
        try browser.press("DTow<enter>")
        #expect(try store.archiveNames() == ["Town"])
        try browser.press("n<enter>")
        #expect(try store.archiveNames() == [], "\(browser.text)")
        browser.refresh()
        try browser.press("u", says: "A dropped archive can't be restored.")
    }

    @Test("the plan of a compaction and its report agree on what is released")
    func compactionStatesItsEffect() throws {
        for number in 0..<3 { try archive.put([1, 2, 3], forKey: "key \(number)") }
        _ = try archive.delete("key 1")
        // The segment being written to isn't released.
        var nothing = try browser("K")
        #expect(nothing.boxWords.contains("Nothing to release"), "\(nothing.boxWords)")
        nothing.press([.character("y")])
        #expect(nothing.model.said?.contains("nothing to release") == true, "\(nothing.text)")
        for number in 0..<400 { try archive.put([UInt8](repeating: 7, count: 5_000), forKey: "\(number)") }
        for number in 0..<300 { _ = try archive.delete("\(number)") }
        var some = try browser("K")
        #expect(some.boxWords.contains("Releases about 1."), "\(some.boxWords)")
        some.press([.character("y")])
        #expect(some.model.said?.hasPrefix("Compacted City: 1.") == true, "\(some.text)")
        some.press([.character("K")])
        #expect(some.boxWords.contains("Nothing to release"), "\(some.boxWords)")
    }

    @Test("the prompt has the limits as shown, and an unedited one stays exact")
    func limitsAreSpelledAsShown() throws {
        try archive.setLimits(disk: 400_000, memory: 4_194_305)
        var browser = try browser("L")
        #expect(browser.text.contains("disk 400 kB memory 4.19 MB"), "\(browser.text)")
        try browser.press("<enter>")
        #expect(!browser.model.isPlanOpen && browser.model.said != nil, "\(browser.text)")
        try browser.press("L<ctrl+u>disk 500 kB memory 4.19 MB<enter>y")
        #expect(try archive.configuration().diskLimit == 500_000)
        #expect(try archive.configuration().memoryLimit == 4_194_305)
    }

    @Test("removing a disk limit shows a warning")
    func unlimitedCacheGrows() throws {
        let none = try browser("L<ctrl+u>disk none<enter>").boxWords
        #expect(none.contains("until the disk is full"), "\(none)")
        #expect(try !browser("L<ctrl+u>20KB<enter>").boxWords.contains("until the disk is full"))
    }

    @Test("a renamed and a dropped archive leave an event")
    func removalsLeaveEvents() throws {
        _ = try store.archive(
            named: "Town", orCreate: ArchiveConfiguration(diskLimit: 4 << 20, memoryLimit: nil))
        var browser = try browser("NZoo<enter>y")
        try store.removeArchive(named: "Town")
        browser.refresh()
        let lines = browser.text.split(separator: "\n")
        #expect(
            lines.contains { $0.contains("City") && $0.contains("renamed") && $0.contains("to Zoo") },
            "\(browser.text)")
        #expect(lines.contains { $0.contains("Town") && $0.contains("dropped") })
        #expect(!lines.contains { $0.contains("City") && $0.contains("dropped") })
    }

    @Test(
        "limits have units, with or without a space",
        arguments: [
            ("500 MB", "-> 500 MB", "memory limit: none"),
            ("disk 2GiB memory 1.5 GB", "-> 2.15 GB", "-> 1.5 GB"),
            ("memory 10 kb", "disk limit: 4.19 MB, unchanged", "-> 10 kB"),
        ]) func limitsHaveUnits(typed: String, disk: String, memory: String) throws
    {
        let plan = try browser("L<ctrl+u>\(typed)<enter>").boxWords
        #expect(plan.contains(disk) && plan.contains(memory), "\(plan)")
    }

    @Test("the cursor follows an archive that is renamed")
    func cursorFollowsRename() throws {
        _ = try store.archive(
            named: "Town", orCreate: ArchiveConfiguration(diskLimit: 4 << 20, memoryLimit: nil))
        var browser = try browser("NZoo<enter>y")
        #expect(try store.archiveNames().contains("Zoo"))
        try browser.press("K", shows: "Compact Zoo?")
    }

    @Test("groups show the limit at the time of grouping")
    func groupsKeepTheirLimit() throws {
        for number in 0..<40 {
            try archive.put([UInt8](repeating: 7, count: 50_000), forKey: "key:\(number % 2):\(number)")
        }
        var browser = try browser("z")
        #expect(browser.text.contains("(47.7% of the limit)"), "\(browser.text)")
        try archive.setLimits(disk: 100_000, memory: nil)
        browser.refresh()
        #expect(browser.text.contains("(47.7% of the limit)"), "\(browser.text)")
        try browser.press("R", hides: "47.7%")
    }

    @Test("a new entry causes a record event, and a changed entry an update event")
    func newEntriesAreRecorded() throws {
        let first = try archive.put([1], forKey: "a", ifSequence: nil)
        guard case .stored(let sequence) = first else { throw SourceError("\(first)") }
        _ = try archive.put([2], forKey: "a", ifSequence: sequence)
        #expect(try archive.events(from: 0).events.map(\.kind).suffix(2) == [.record, .update])
    }

    @Test(
        "invalid limits change nothing and are explained",
        arguments: [
            ("disk", "write pairs"), ("dsk 1MB", "write disk, memory or policy"), ("disk 1XB", "not a size"),
            ("disk 0", "not a size"), ("", "write pairs"), ("9000", "9000 is not a size"),
            ("disk 9000 memory none", "9000 is not a size"), ("disk 0 MB", "not a size"),
            ("policy arc", "arc is not a policy: write lru or s3fifo"),
        ]) func refusesWrongLimits(typed: String, said: String) throws
    {
        let browser = try browser("L<ctrl+u>\(typed)<enter>")
        #expect(browser.text.contains(said), "\(browser.text)")
        #expect(browser.lines.contains { $0.contains("limits of City: \(typed)") }, "\(browser.text)")
        #expect(try archive.configuration().diskLimit == 4 << 20)
    }

    @Test("a policy is changed by a plan, and u plans to restore it")
    func policy() throws {
        var browser = try browser("L<ctrl+u>policy s3fifo<enter>")
        #expect(browser.model.isPlanOpen && browser.boxWords.contains("policy: lru -> s3fifo"))
        try browser.press("y")
        #expect(try archive.configuration().evictionPolicy == .s3fifo, "\(browser.text)")
        #expect(try archive.configuration().diskLimit == 4 << 20)
        try browser.press("uy")
        #expect(try archive.configuration().evictionPolicy == .lru, "\(browser.text)")
    }

    @Test("a policy stays if the limits that were typed with it are refused")
    func refusesBoth() throws {
        let browser = try browser("L<ctrl+u>disk 300 GB policy s3fifo<enter>y")
        #expect(browser.text.contains("Nothing was changed"), "\(browser.text)")
        #expect(try archive.configuration().evictionPolicy == .lru)
        #expect(try archive.configuration().diskLimit == 4 << 20)
    }

    @Test("limits that another process changed since the plan are kept")
    func changedMeanwhile() throws {
        var browser = try browser("L<ctrl+u>disk 8 MB<enter>")
        #expect(browser.model.isPlanOpen)
        try archive.setLimits(disk: 16 << 20, memory: nil)
        try browser.press("y")
        #expect(try archive.configuration().diskLimit == 16 << 20)
        #expect(browser.boxWords.contains("changed the limits"), "\(browser.text)")
    }

    @Test("a disk limit of a collection is refused before its plan opens")
    func collectionHasNoDiskLimit() throws {
        try store.removeArchive(named: "City")
        _ = try store.archive(named: "City", orCreate: ArchiveConfiguration(kind: .collection))
        var browser = try browser("L")
        #expect(browser.text.contains("limits of City: memory 1 MB"), "\(browser.text)")
        try browser.press(
            "<ctrl+u>disk 5 MB<enter>", shows: "a collection never evicts", hides: "Resize City?")
    }

    @Test(
        "an archive that was replaced since it was shown isn't changed",
        arguments: [
            ArchiveChange.resize(disk: 1 << 20, memory: nil, policy: .lru), .rename("Zoo"), .compact, .clear,
            .drop,
        ])
    func replacedArchiveIsNotChanged(change: ArchiveChange) throws {
        let seen = try ArchiveSample(archive)
        try store.removeArchive(named: "City")
        let present = try store.archive(named: "City", orCreate: ArchiveConfiguration(diskLimit: 4 << 20))
        #expect(throws: SourceError.self) {
            _ = try EngineSource(folder: folder.path)
                .change(ArchiveAddress("City", in: path), change, seen: seen) { _ in true }
        }
        #expect(try store.archiveNames() == ["City"])
        #expect(try present.configuration().diskLimit == 4 << 20)
    }

    @Test("an archive that changed since it was shown isn't dropped")
    func changedArchiveIsNotDropped() throws {
        let seen = try ArchiveSample(archive)
        try archive.put([1], forKey: "new")
        #expect(throws: SourceError.self) {
            _ = try EngineSource(folder: folder.path)
                .change(ArchiveAddress("City", in: path), .drop, seen: seen) { _ in true }
        }
        #expect(try store.archiveNames() == ["City"])
    }

    @Test("an archive that changes while its name is typed needs a second plan", arguments: [false, true])
    func changeDuringDropNeedsSecondPlan(isReplaced: Bool) throws {
        var browser = try browser("DCit")
        if isReplaced {
            try store.removeArchive(named: "City")
            _ = try store.archive(named: "City", orCreate: ArchiveConfiguration(diskLimit: 4 << 20))
        } else {
            try archive.put([1], forKey: "new")
        }
        browser.refresh()
        try browser.press("y<enter>")
        #expect(try store.archiveNames() == ["City"])
        try browser.press("<esc>DCity<enter>")
        #expect(try store.archiveNames() == [], "\(browser.text)")
    }

    private func planned() throws -> [PlannedEntry] {
        let entries = try archive.entries()
        return try entries.indices.compactMap { index in
            try entries.metadata(at: index).map { PlannedEntry(key: $0.key, sequence: $0.sequence) }
        }
    }

    // MARK: Plans

    @Test func planStatesEffectOfDelete() throws {
        let value = [UInt8](repeating: 7, count: 260_000)
        // An earlier delete uses most of the undo space.
        for number in 0..<10 { try archive.put(value, forKey: "old \(number)") }
        #expect(try archive.carryOut(.delete, on: planned()).entries == 10)
        for number in 0..<10 { try archive.put(value, forKey: "big \(number)") }
        for number in 0..<3 { try archive.put([1, 2, 3], forKey: "other \(number)") }
        var browser = try browser("<enter>/big<enter>M<esc>D")
        let plan = browser.boxWords
        #expect(plan.contains("10 entries, 2.6 MB, in City"), "\(plan)")
        let bound = "Larger than the undo space: u can undo it for ten minutes, or until 210 kB are written"
        #expect(plan.contains(bound), "\(plan)")
        let before = try archive.status()
        #expect(before.entries == 13, "the plan wrote")
        try browser.press("y")
        #expect(browser.lines[28].hasPrefix("Deleted 10 entries, 2.6 MB; u undoes it."))
        let after = try archive.status()
        #expect(after.entries == 3 && before.diskBytes - after.diskBytes == 2_600_000)
        let action = try #require(try archive.reversibleActions().first)
        #expect(action.entries == 10 && action.bytes == 2_600_000 && action.kind == .delete)
        #expect(action.bytesLeft == 209_715, "differs from the plan")
        try archive.put([UInt8](repeating: 1, count: 210_000), forKey: "more")
        #expect(try !archive.reversibleActions().contains { $0.id == action.id })
    }

    /// Within the undo space, writes don't shorten the time.
    @Test func smallDeleteHasNoBound() throws {
        for number in 0..<20 { try archive.put([1, 2, 3], forKey: "small \(number)") }
        var browser = try browser("<enter>MD")
        #expect(browser.boxWords.contains("20 entries, 60 B, in City"))
        #expect(browser.boxWords.contains("u can undo it for ten minutes, or until the disk is full."))
        try browser.press("y")
        let action = try #require(try archive.reversibleActions().first)
        #expect(action.entries == 20 && action.bytes == 60 && action.bytesLeft == nil)
        for number in 0..<10 {
            try archive.put([UInt8](repeating: 1, count: 400_000), forKey: "new \(number)")
        }
        #expect(try archive.reversibleActions().first?.id == action.id)
        try browser.press("uy")
        #expect(try archive.peek("small 7") == [1, 2, 3])
    }

    // MARK: Progress

    /// The status line at each progress report of an effect.
    private func reports(of effect: Effect, _ test: inout UpdateTest) -> [String] {
        let clock = TestClock()
        let performer = EffectPerformer(source: EngineSource(folder: folder.path)) {
            // Reports are sent at intervals.
            clock.advance(1)
            return clock.now
        }
        var messages: [Message] = []
        performer.perform(effect, isStopped: { false }, send: { messages.append($0) })
        test.send(.clock(Fixture.start.adding(seconds: 1)))
        var lines: [String] = []
        for message in messages {
            guard case .progress = message else { continue }
            test.send(message)
            lines.append(Browser.frame(test.model).lines[28])
        }
        return lines
    }

    @Test func longChangesShowProgress() throws {
        for number in 0..<1_500 { try archive.put([1], forKey: "city \(number)") }
        #expect(try archive.carryOut(.setLifetime(.seconds(86_400)), on: planned()).entries == 1_500)
        for (keys, title) in [("<enter>u", "undoing"), ("<enter>MD", "deleting")] {
            let source = EngineSource(folder: folder.path)
            let start = Fixture.model(columns: 90, rows: 30, folder: folder.path, store: path)
            var test = try UpdateTest(start, source, keys: keys)
            #expect(test.model.isPlanOpen, "\(test.text)")
            let effect = try #require(test.press(.character("y"), source, settling: false).last)
            let lines = reports(of: effect, &test)
            let shares = try lines.compactMap { line -> (percent: Int, done: Int)? in
                let match = try Regex("^([0-9]+)% \(title) ([0-9,]+) of 1,500, esc stops ").firstMatch(
                    in: line)
                guard let percent = match?[1].substring, let done = match?[2].substring else { return nil }
                return (Int(percent) ?? -1, Int(done.filter { $0 != "," }) ?? -1)
            }
            #expect(shares.count > 1 && shares.count >= lines.count - 1, "\(title): \(lines)")
            #expect(shares.map(\.done) == shares.map(\.done).sorted())
            #expect(shares.contains { 10..<90 ~= $0.percent }, "\(title): \(lines)")
            for (percent, done) in shares { #expect(abs(percent - done * 100 / 1_500) <= 1, "\(lines)") }
        }
        #expect(try archive.status().entries == 0)
    }

    // MARK: New entries

    /// `{"name": "Oslo"}` as CBOR.
    private static let document: [UInt8] = [0xa1, 0x64] + Array("name".utf8) + [0x64] + Array("Oslo".utf8)

    @Test(arguments: [
        (
            typed: "{\"name\": \"Oslo\"}\n", stored: document, encoding: ValueEncoding.cbor,
            shown: "· name: \"Oslo\""
        ), (typed: "north of it\n", stored: Array("north of it".utf8), encoding: .text, shown: "north of it"),
    ])
    func storesNewEntry(
        typed: String, stored: [UInt8], encoding: ValueEncoding, shown: String
    ) throws {
        try archive.put([1], forKey: "Bergen")
        var browser = try browser("<enter>nOslo<enter>") { program in
            guard let path = program.arguments.first,
                (try? Data(typed.utf8).write(to: URL(fileURLWithPath: path))) != nil
            else { return .failure(SourceError("there is no file to edit")) }
            return .success(0)
        }
        #expect(browser.text.contains("New entry Oslo?"), "\(browser.text)")
        #expect(try archive.peek("Oslo") == nil && archive.status().entries == 1)
        try browser.press("y")
        #expect(try archive.peek("Oslo") == stored)
        #expect(try archive.metadata("Oslo")?.encoding == encoding)
        #expect(try archive.status().entries == 2 && archive.peek("Bergen") == [1])
        #expect(browser.lines[28].hasPrefix("Stored Oslo, \(stored.count) B."))
        #expect(browser.lines[0].contains("writes 1, "))
        // Another browser finds it, and no process is left attached.
        let other = try self.browser("<enter>/Oslo<enter><enter>")
        #expect(other.text.contains(shown), "\(other.text)")
        #expect(try archive.processes().filter(\.isAlive).count == 1)
    }

    /// The default button stores nothing, and an entry stored first stays.
    @Test func newEntryReplacesNothing() throws {
        let (archive, folder) = (archive, folder)
        try archive.put([1], forKey: "Bergen")
        var environment = Fixture.environment
        // A text that can't be stored is kept.
        environment.temporaryFolder = folder.path
        for (keys, first) in [("<enter>", nil), ("y", [9])] as [(String, [UInt8]?)] {
            let browser = try browser("<enter>nOslo<enter>" + keys, environment: environment) { program in
                try? Data("text".utf8).write(to: URL(fileURLWithPath: program.arguments[0]))
                if let first { try? archive.put(first, forKey: "Oslo") }
                return .success(0)
            }
            #expect(browser.boxWords.contains("Nothing was stored"), "\(browser.text)")
            #expect(try archive.peek("Oslo") == first)
        }
    }

    // MARK: Last use

    /// The recency of an entry without hits is its creation, which isn't an access.
    @Test func lastAccessIsLastHit() throws {
        try archive.put([1], forKey: "Oslo")
        var lines = try browser("<enter><enter>b").boxLines
        #expect(lines.contains("accessed never") && lines.contains { $0 == "hits 0" }, "\(lines)")
        _ = try archive.access("Oslo")
        lines = try browser("<enter><enter>b").boxLines
        let accessed = try #require(lines.first { $0.hasPrefix("accessed ") })
        #expect(accessed.hasSuffix(" ago") || accessed.hasSuffix(", just now"), "\(accessed)")
        #expect(lines.contains { $0.hasPrefix("hits 1") })
    }

    @Test("under S3-FIFO, the list shows queues, and the next victims in the order of eviction")
    func queues() throws {
        try archive.setEvictionPolicy(.s3fifo)
        try archive.setLimits(disk: 20_000, memory: nil)
        for number in 0..<300 {
            try archive.put([UInt8](repeating: 7, count: 100), forKey: "key \(number)")
            for _ in 0..<number % 4 { _ = try archive.access("key \(number - number % 7)") }
        }
        let listed = try archive.entries(order: .nextEvictedFirst)
        let expected = try listed.indices.compactMap { try listed.key(at: $0) }
        var browser = try browser("<enter>0")
        let rows = browser.lines.filter { $0.contains(" small ") || $0.contains(" main ") }
        let keys = rows.compactMap { $0.firstMatch(of: /key \d+/).map { String($0.output) } }
        #expect(keys.count > 5 && keys == Array(expected.prefix(keys.count)), "\(browser.text)")
        #expect(rows.map { $0.contains("▼") } == rows.indices.map { $0 < 2 }, "\(browser.text)")
        for (key, row) in zip(keys, rows) {
            let state = try #require(try archive.metadata(key)?.queue)
            #expect(row.contains("\(state.isSmall ? "small" : "main") \(state.frequency)"), "\(row)")
        }
        try browser.press("V")
        #expect(browser.text.contains("\(expected[1])  evicted next"), "\(browser.text)")
        let plan = try self.browser("L<ctrl+u>disk 10 kB<enter>").boxWords
        #expect(plan.contains("S3-FIFO") && !plan.contains("least recently"), "\(plan)")
    }

    @Test("under LRU, no queue can be sorted by")
    func noQueues() throws {
        try archive.put([1], forKey: "a")
        var browser = try browser("<enter>")
        #expect(!browser.text.contains("queue"))
        try browser.press("0")
        #expect(browser.model.said?.contains("S3-FIFO") == true)
    }
}
