import Foundation
import StorageEngine
import TestSupport
import Testing

/// After a restart or crash of the machine, and with indexes of earlier closings.
extension StaleValueTests {
    @Test("after a restart, a reader shows what a repair keeps, and the repair is synced")
    func readerAfterRestart() throws {
        try filled(.collection)
        var place = 0
        try folder.withArchive { archive in
            _ = try archive.carryOut(.delete, on: archive.planned(["key"]))
            place = try logEnd()
            #expect(try archive.undo()?.entries == 1)
            try archive.put([2], forKey: "later")
            try archive.synchronize()
        }
        try folder.makeIndexOfAnotherBoot()
        try flip(segment, at: place + 20)
        // The log was written just now, so the reader leaves no index.
        try folder.withArchive(mode: .readOnly) { archive in
            let (value, forecast) = (try archive.peek("key"), try archive.olderValues(archive.check()))
            #expect(value == Self.new && forecast?.restored == 1, "\(String(describing: forecast))")
        }
        try folder.repair()
        let index = try contents(of: folder.archivePath("A", "index"))
        let (logTail, synced) = (Array(index[512..<520]), Array(index[568..<576]))
        #expect(logTail == synced)
        let rebuilt = try folder.rebuilt()
        defer { rebuilt.close() }
        #expect(try rebuilt.peek("key") == Self.new)
    }

    @Test("segments of deleted entries that were removed before a crash of the machine are not lost")
    func removedSegments() throws {
        let archive = try folder.archive(creating: .collection)
        var keys: [String] = []
        while try folder.segments().count < 3 {
            keys.append("key \(keys.count)")
            try archive.put([UInt8](repeating: 1, count: 2_000), forKey: keys[keys.count - 1])
        }
        _ = try archive.carryOut(.delete, on: archive.planned(keys))
        try archive.put([2], forKey: "later")
        try archive.synchronize()
        archive.close()
        let path = folder.archivePath("A", "index")
        let earlier = try contents(of: path)
        try folder.withArchive { try $0.compact(givingUpUndo: true) }
        #expect(try folder.segments().count < 3)
        try overwrite(path, at: 0, with: earlier)
        try folder.makeIndexOfAnotherBoot()
        #expect(try folder.check().clean)
        try folder.withArchive { archive in
            let (value, status) = (try archive.peek("later"), try archive.status())
            #expect(value == [2] && status.damagedPlaces == 0)
        }
    }

    @Test("a clock that was behind at closing shortens no expiry time")
    func clockBehindAtClosing() throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try folder.archive(creating: .cache())
            try archive.put([1], forKey: "key", attributes: .expiring(.seconds(7200)))
            try archive.put(Self.new, forKey: "damaged")
            try archive.synchronize()
            hand.setWallClock(by: -3 * 3_600_000_000)
            archive.close()
            try folder.makeIndexOfAnotherBoot()
            hand.setWallClock(by: 3 * 3_600_000_000)
            try flip(segment, at: last("new value"))
            let repaired = try repaired()
            defer { repaired.close() }
            let expires = try #require(try repaired.metadata("key")?.expires)
            let left = Double(expires.microseconds - Timestamp.now().microseconds) / 1_000_000
            #expect(abs(left - 7200) < 10, "\(left)")
        }
    }

    @Test(
        "a clock that was ahead at closing prolongs expiry times by the lead, if at all",
        arguments: [(0, 4), (1, 5), (3, 4)] as [(Int64, Double)])
    func clockAheadAtClosing(lead: Int64, hoursLeft: Double) throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try folder.archive(creating: .cache())
            try archive.put([1], forKey: "key", attributes: .expiring(.seconds(6 * 3600)))
            try archive.put(Self.new, forKey: "damaged")
            try archive.synchronize()
            hand.setWallClock(by: lead * 3_600_000_000)
            archive.close()
            try folder.makeIndexOfAnotherBoot()
            hand.setWallClock(by: -lead * 3_600_000_000)
            hand.pass(.seconds(2 * 3600))
            try flip(segment, at: last("new value"))
            let repaired = try repaired()
            defer { repaired.close() }
            let expires = try #require(try repaired.metadata("key")?.expires)
            let left = Double(expires.microseconds - Timestamp.now().microseconds) / 3_600_000_000
            #expect(abs(left - hoursLeft) < 0.01, "\(left)")
        }
    }

    @Test(
        "without the clocks of its closing, an index is no evidence of entries, and a repair asks first",
        arguments: [ArchiveKind.cache, .collection], [(-3, false), (-3, true), (3, false)] as [(Int64, Bool)])
    func unknownExpiry(kind: ArchiveKind, clock: (hours: Int64, opens: Bool)) throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try folder.archive(creating: kind == .cache ? .cache() : .collection)
            try archive.put([1], forKey: "key")
            let place = try logEnd()
            try archive.setLifetime(.seconds(7200), forKey: "key")
            try archive.put([2], forKey: "behind")
            try archive.synchronize()
            hand.setWallClock(by: clock.hours * 3_600_000_000)
            archive.close()
            try folder.makeIndexOfAnotherBoot()
            hand.setWallClock(by: -clock.hours * 3_600_000_000)
            try flip(segment, at: place + 33)
            if clock.opens { try folder.archive().close() }
            let forecast = try folder.withArchive(mode: .readOnly) { try $0.olderValues($0.check()) }
            #expect(forecast == nil)
            let repaired = try repaired()
            defer { repaired.close() }
            // A cache has no entry rather than one without its expiry time.
            #expect(try repaired.peek("key") == (kind == .cache ? nil : [1]))
            #expect(try repaired.peek("behind") == [2])
        }
    }

    @Test("a repair after an opening that used the old index doesn't ask")
    func forecastAfterOpening() throws {
        try filled(.collection)
        var place = 0
        try folder.withArchive { archive in
            _ = try archive.carryOut(.delete, on: archive.planned(["key"]))
            place = try logEnd()
            #expect(try archive.undo()?.entries == 1)
            try archive.put([2], forKey: "later")
            try archive.synchronize()
        }
        try flip(segment, at: place + 20)
        for _ in 0..<2 {
            try folder.withArchive { try $0.synchronize() }
            try folder.makeIndexOfAnotherBoot()
        }
        try folder.archive().close()
        try folder.withArchive(mode: .readOnly) { archive in
            let report = try archive.check()
            let forecast = try #require(try archive.olderValues(report))
            #expect(report.damaged == 1 && forecast == (0, 0, 0), "\(forecast), \(report)")
        }
        // An older value that is current needs a decision.
        try flip(segment, at: last("new value"))
        try folder.makeIndexOfAnotherBoot()
        try folder.archive().close()
        let forecast = try folder.withArchive(mode: .readOnly) { try $0.olderValues($0.check()) }
        #expect(forecast == nil)
    }

    @Test(
        "the index of a copy of the archive, both of which have changed since, changes nothing",
        arguments: [ArchiveKind.cache, .collection])
    func indexOfChangedCopy(kind: ArchiveKind) throws {
        let archive = try folder.archive(creating: kind == .cache ? .cache() : .collection)
        for key in ["k0", "k1", "k2"] { try archive.put([1], forKey: key) }
        archive.close()
        let copy = try TemporaryFolder(inMemory: true)
        try FileManager.default.copyItem(atPath: folder.store, toPath: copy.store)
        for (place, stored, deleted) in [(folder, "here", "k1"), (copy, "copy", "k2")] {
            try place.withArchive { archive in
                try archive.put([3], forKey: stored)
                _ = try archive.carryOut(.delete, on: archive.planned([deleted]))
                try archive.put(Self.new, forKey: "damaged")
                try archive.put([5], forKey: "last")
                try archive.synchronize()
            }
        }
        try contents(of: copy.archivePath("A", "index")).write(
            to: URL(fileURLWithPath: folder.archivePath("A", "index")))
        try flip(segment, at: last("new value"))
        let repaired = try repaired()
        defer { repaired.close() }
        #expect(try Set(repaired.entries().keys) == ["k0", "k2", "here", "last"])
    }

    enum LogState: CaseIterable { case intact, damaged, halfRepaired }

    @Test(
        "an index of an earlier closing, which a crash of the machine left, changes nothing",
        arguments: [ArchiveKind.cache, .collection], LogState.allCases)
    func indexOfEarlierClosing(kind: ArchiveKind, log: LogState) throws {
        try indexOfEarlierClosing(kind, log, afterRestart: true)
    }

    @Test(
        "an index of an earlier closing that was put back changes nothing",
        arguments: [ArchiveKind.cache, .collection], LogState.allCases)
    func restoredIndex(kind: ArchiveKind, log: LogState) throws {
        try indexOfEarlierClosing(kind, log, afterRestart: false)
    }

    private func indexOfEarlierClosing(_ kind: ArchiveKind, _ log: LogState, afterRestart: Bool) throws {
        let isDamaged = log != .intact
        try filled(kind)
        let folder = folder
        func closeSynced(_ body: (Archive) throws -> Void) throws {
            try folder.withArchive { archive in
                try body(archive)
                try archive.synchronize()
            }
        }
        try closeSynced { archive in
            try archive.put([4], forKey: "damaged")
            _ = try archive.carryOut(.delete, on: archive.planned(["before"]))
        }
        let path = folder.archivePath("A", "index")
        let earlier = try contents(of: path)
        try closeSynced { archive in
            #expect(try archive.undo()?.entries == 1)
            try archive.delete("key")
        }
        try overwrite(path, at: 0, with: earlier)
        if afterRestart { try folder.makeIndexOfAnotherBoot() }
        if isDamaged { try flip(segment, at: last("damaged")) }
        if log == .halfRepaired {
            let plan = FaultPlan(
                .fails(EIO), call: .rename, under: folder.store, number: 1, isLasting: true)
            #expect(withFaults(plan) { try? folder.repair() } == nil && plan.injected > 0)
        }
        let hand = ClockHand()
        hand.pass(.seconds(1800))
        try Clock.$hand.withValue(hand) {
            // Opening the archive would replace the index.
            if !isDamaged { #expect(try folder.check().clean) }
            let repaired = try repaired()
            defer { repaired.close() }
            #expect(try repaired.peek("key") == nil && repaired.peek("before") == [1])
            #expect(try repaired.peek("behind") == [2])
            #expect(try (repaired.peek("damaged") == nil) == isDamaged)
        }
    }

    @Test(
        "an opening after a crash keeps the index's entries of a damaged log",
        arguments: [ArchiveKind.cache, .collection])
    func damageAfterCrash(kind: ArchiveKind) async throws {
        try filled(kind)
        var place = 0
        try folder.withArchive { archive in
            _ = try archive.carryOut(.delete, on: archive.planned(["before", "key"]))
            place = try logEnd()
            #expect(try archive.undo()?.entries == 2)
            try archive.put([2], forKey: "later")
        }
        let worker = try Worker(["hold", folder.store, "A", "1"], in: folder)
        let observer = try folder.archive(mode: .readOnly)
        #expect(
            try await eventually(within: 10) { try observer.metadata("worker 1") != nil },
            "\(worker.linesSoFar())")
        try await worker.kill()
        // In the length of the frame, so that the index's log tail seems to be within a frame.
        try flip(segment, at: place + 5)
        try folder.withArchive { archive in
            try archive.put([3], forKey: "last")
            #expect(try archive.peek("key") == Self.new && archive.peek("before") == [1])
            #expect(try archive.invariantViolations() == [])
        }
        _ = try Store.open(at: folder.store).repair(archiveNamed: "A")
        let repaired = try folder.rebuilt()
        defer { repaired.close() }
        #expect(try repaired.peek("key") == Self.new && repaired.peek("before") == [1])
        #expect(try repaired.peek("last") == [3] && repaired.check().clean)
    }

    @Test("an undo counts damaged entries apart") func undoOfDamage() throws {
        try filled(.collection)
        try folder.withArchive { archive in
            let plan = try archive.planned(["before", "key"])
            #expect(try archive.carryOut(.delete, on: plan).entries == 2)
        }
        try flip(segment, at: last("new value"))
        let archive = try folder.archive()
        defer { archive.close() }
        #expect(try archive.peek("key") == nil)
        let outcome = try #require(try archive.undo())
        #expect(outcome.entries == 1 && outcome.damaged == 1, "\(outcome)")
        #expect(outcome.bytes == 1 && outcome.skippedCount == 0, "\(outcome)")
        #expect(try archive.peek("before") == [1])
        #expect(throws: StorageError.self) { _ = try archive.peek("key") }
    }

    @Test("a collection keeps the older value of a damaged entry") func collection() throws {
        try filled(.collection)
        try flip(segment, at: last("new value"))
        let archive = try folder.rebuilt()
        defer { archive.close() }
        #expect(try archive.peek("key") == Self.old)
        #expect(try archive.check().problems.first?.contains("\"key\"") == true)
    }
}
