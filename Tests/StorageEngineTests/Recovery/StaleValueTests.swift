import Foundation
import StorageEngine
import TestSupport
import Testing

/// Values that a damaged or missing part of the log replaced or removed.
@Suite struct StaleValueTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    static let old = Array("old value of the key".utf8)
    static let new = Array("new value of the key".utf8)

    enum Change { case put, update, delete, expiry, batch }

    /// A closed archive with an entry that was changed, and later entries. Returns the place of the change.
    @discardableResult func filled(_ kind: ArchiveKind, _ change: Change = .put) throws -> Int {
        let archive = try folder.archive(creating: kind == .cache ? .cache() : .collection)
        defer { archive.close() }
        try archive.put([1], forKey: "before")
        try archive.put(Self.old, forKey: "key")
        let place = try logEnd()
        switch change {
        case .put: try archive.put(Self.new, forKey: "key")
        case .update: try archive.update(Self.new, forKey: "key")
        case .delete: try archive.delete("key")
        case .expiry: #expect(try archive.setLifetime(.seconds(1), forKey: "key"))
        case .batch:
            var batch = Batch()
            batch.put([3], forKey: "first")
            batch.put(Self.new, forKey: "key")
            batch.put([3], forKey: "last")
            try archive.apply(batch)
        }
        try archive.put([2], forKey: "behind")
        return place
    }

    func logEnd() throws -> Int {
        (try #require(contents(of: segment).lastIndex { $0 != 0 }) / 8 + 1) * 8
    }

    /// Repairs the archive, and opens it with an index rebuilt from its log. Both are valid.
    func repaired() throws -> Archive {
        try folder.repair()
        #expect(try folder.check().clean)
        let archive = try folder.rebuilt()
        try archive.expectValid()
        return archive
    }

    var segment: String { folder.archivePath("A", "00000001.segment") }

    /// The last place of a text in the segment.
    func last(_ text: String) throws -> Int {
        try #require(contents(of: segment).range(of: Data(text.utf8), options: .backwards)?.lowerBound)
    }

    @Test(
        "a cache has no older value in place of a damaged one",
        arguments: [Change.put, .update, .delete, .expiry, .batch])
    func damagedChange(change: Change) throws {
        let place = try filled(.cache, change)
        // A byte of the value or, in a frame without one, of the time.
        let isBare = change == .delete || change == .expiry
        try flip(segment, at: isBare ? place + 33 : last("new value"))
        try folder.removeIndex("A")
        for mode in [AccessMode.readOnly, .readWrite] {
            let archive = try folder.archive(mode: mode)
            defer { archive.close() }
            #expect(try archive.peek("key") == nil)
            #expect(try archive.peek("before") == [1] && archive.peek("behind") == [2])
            let report = try archive.check()
            #expect(report.damaged == 1 && report.problems.first?.contains("\"key\"") == true, "\(report)")
            #expect(try archive.status().damagedPlaces == 1)
        }
        let repair = try folder.repair()
        #expect(repair.damaged == 1 && repair.problems.first?.contains("\"key\"") == true, "\(repair)")
        for _ in 0..<2 {
            let archive = try folder.rebuilt()
            defer { archive.close() }
            #expect(try archive.peek("key") == nil)
            #expect(try archive.peek("behind") == [2])
            let others = [try archive.peek("first"), try archive.peek("last")]
            #expect(others == (change == .batch ? [[3], [3]] : [nil, nil]))
            #expect(try archive.check().clean)
        }
    }

    @Test(
        "a batch keeps its intact entries if another names a wrong batch",
        arguments: [ArchiveKind.cache, .collection])
    func damagedBatchPart(kind: ArchiveKind) throws {
        try filled(kind, .batch)
        // The location of the batch's first frame, before that of the previous frame and the key.
        try flip(segment, at: last("new value") - 3 - 16)
        for _ in 0..<2 {
            let report = try folder.repair()
            #expect(report.damaged == 1 || report.problems.isEmpty, "\(report)")
            let archive = try folder.rebuilt()
            defer { archive.close() }
            #expect(try archive.peek("first") == [3] && archive.peek("last") == [3])
            #expect(try archive.peek("key") == (kind == .cache ? nil : Self.old))
            #expect(try archive.check().problems == [])
        }
    }

    @Test("an entry stored after the damage stays") func storedAgain() throws {
        try filled(.cache)
        let archive = try folder.archive()
        try archive.put(Self.old, forKey: "key")
        archive.close()
        try flip(segment, at: last("new value"))
        #expect(try folder.rebuilt().peek("key") == Self.old)
    }

    @Test("a damaged record evicts the entries that it names") func damagedEviction() throws {
        let archive = try folder.archive(creating: .cache(10_000))
        for number in 0..<10 { try archive.put(repeated(9, 1_000), forKey: "key \(number)") }
        try archive.put(repeated(7, 2_000), forKey: "large")
        for number in 2..<4 { try archive.delete("key \(number)") }
        #expect(try archive.peek("key 0") == nil && archive.peek("key 1") == nil)
        archive.close()
        try flip(segment, at: last("large") + 500)
        for _ in 0..<2 {
            try folder.removeIndex("A")
            let archive = try folder.archive()
            #expect(try archive.peek("large") == nil)
            #expect(try archive.peek("key 0") == nil && archive.peek("key 1") == nil)
            #expect(try archive.entries().count == 6)
            archive.close()
            try folder.repair()
        }
    }

    @Test("a key that may be damaged removes no entry", arguments: ["key", "new value"])
    func damagedKey(text: String) throws {
        try filled(.cache)
        // One bit of the key, or many of the header and the key.
        let place = try last("new value")
        if text == "key" {
            try flip(segment, at: place - 3)
        } else {
            try overwrite(segment, at: place - 40, with: repeated(0x5a, 50))
        }
        try folder.removeIndex("A")
        let archive = try folder.archive()
        defer { archive.close() }
        #expect(try archive.entries().count == 3)
        #expect(try archive.check().problems.first?.contains("can't be read") == true)
    }

    @Test(
        "a repair removes entries that the old index did not list", arguments: ArchiveKind.allCases.dropLast()
    )
    func oldIndex(kind: ArchiveKind) throws {
        try filled(kind)
        try flip(segment, at: last("new value") - 3)
        let report = try folder.repair()
        #expect(report.entries == (kind == .cache ? 2 : 3), "\(report)")
        let archive = try folder.rebuilt()
        defer { archive.close() }
        #expect(try archive.peek("key") == (kind == .cache ? nil : Self.old))
        #expect(try archive.peek("before") == [1] && archive.peek("behind") == [2])
        try archive.expectValid()
    }

    @Test("a repair removes entries whose deletion was in a missing segment") func missingDeletions() throws {
        let archive = try folder.archive(creating: .cache(4_000_000))
        var number = 0
        func fill(untilSegments count: Int) throws {
            while try folder.segments().count < count {
                try archive.put(repeated(1, 2_000), forKey: "key \(number)")
                number += 1
            }
        }
        try fill(untilSegments: 3)
        for key in 0..<10 { try archive.delete("key \(key)") }
        try fill(untilSegments: 5)
        let present = Set(try archive.entries().keys)
        archive.close()
        let missing = try folder.segments()[2]
        try FileManager.default.removeItem(atPath: folder.archivePath("A", missing))
        #expect(try !folder.check().clean)
        let repaired = try repaired()
        let found = Set(try repaired.entries().keys)
        #expect(found.isSubset(of: present) && found.count > 40)
    }

    @Test(
        "a repair keeps entries deleted that the old index has as deleted",
        arguments: [ArchiveKind.cache, .collection])
    func knownDeletions(kind: ArchiveKind) throws {
        let archive = try folder.archive(creating: kind == .cache ? .cache(4_000_000) : .collection)
        var number = 0
        while try folder.segments().count < 3 {
            try archive.put(repeated(1, 2_000), forKey: "key \(number)")
            number += 1
        }
        let deleted = (0..<10).map { "key \($0)" }
        #expect(try archive.carryOut(.delete, on: archive.planned(deleted)).entries == 10)
        archive.close()
        let newest = try #require(try folder.segments().last)
        try FileManager.default.removeItem(atPath: folder.archivePath("A", newest))
        let forecast = try folder.withArchive(mode: .readOnly) { try $0.olderValues($0.check()) }
        let (removed, current, restored) = try #require(forecast)
        #expect(removed == 10 && current == 0 && restored == 0)
        let repaired = try repaired()
        let keys = Set(try repaired.entries().keys)
        #expect(keys.isDisjoint(with: deleted) && keys.contains("key 10"))
    }

    enum Expiry: CaseIterable { case hour, never }

    @Test(
        "a repair keeps expiry times that the old index has",
        arguments: [ArchiveKind.cache, .collection], Expiry.allCases)
    func knownExpiry(kind: ArchiveKind, expiry: Expiry) throws {
        let archive = try folder.archive(creating: kind == .cache ? .cache() : .collection)
        try archive.put([1], forKey: "other")
        try archive.put(Self.new, forKey: "key")
        if expiry == .never { #expect(try archive.setLifetime(.seconds(60), forKey: "key")) }
        let place = try logEnd()
        #expect(try archive.setLifetime(expiry == .never ? nil : .seconds(3600), forKey: "key"))
        let expires = try archive.metadata("key")?.expires
        #expect((expires == nil) == (expiry == .never))
        archive.close()
        let end = try contents(of: segment).count
        try overwrite(segment, at: place, with: repeated(0, end - place))
        let repaired = try repaired()
        let kept = try repaired.metadata("key")?.expires
        #expect((kept == nil) == (expires == nil))
        #expect(abs((kept?.microseconds ?? 0) - (expires?.microseconds ?? 0)) < 1_000_000)
        #expect(try repaired.peek("key") == Self.new)
        #expect(try repaired.metadata("other")?.expires == nil && repaired.check().clean)
    }

    enum PresentIndex: CaseIterable { case own, copied, missing }

    @Test(
        "a check forecasts what the repair does with older values",
        arguments: [ArchiveKind.cache, .collection], PresentIndex.allCases)
    func forecast(kind: ArchiveKind, index: PresentIndex) throws {
        try filled(kind)
        try flip(segment, at: last("new value") - 3)
        let path = folder.archivePath("A", "index")
        let bytes = try contents(of: path)
        if index != .own { try FileManager.default.removeItem(atPath: path) }
        if index == .copied { try bytes.write(to: URL(fileURLWithPath: path)) }
        let forecast = try folder.withArchive(mode: .readOnly) { try $0.olderValues($0.check()) }
        #expect(forecast?.removed == (index == .missing ? nil : kind == .cache ? 1 : 0))
        #expect(forecast?.current == (index == .missing ? nil : kind == .cache ? 0 : 1))
        let report = try folder.repair()
        #expect(report.entries == 3 - (forecast?.removed ?? 0), "\(report)")
    }

    @Test(
        "a check counts a damaged frame once", arguments: [ArchiveKind.cache, .collection], ["new", "before"])
    func countedOnce(kind: ArchiveKind, text: String) throws {
        try filled(kind)
        // In the value: behind the key "before", or within "new value".
        try flip(segment, at: last(text) + (text == "new" ? 2 : 6))
        for rebuilds in [false, true] {
            if rebuilds { try folder.removeIndex("A") }
            let report = try folder.check()
            #expect(report.damaged == 1, "\(report)")
        }
    }

    enum Loss: CaseIterable { case value, valueBeforeDeletion, valueAndIndex, key }

    @Test("a deleted entry stays deleted if it is damaged", arguments: Loss.allCases)
    func deletedDamage(loss: Loss) throws {
        try filled(.collection)
        let damaged = try last("new value") - (loss == .key ? 3 : 0)
        let planned = try folder.withArchive { try $0.planned(["key"]) }
        if loss == .valueBeforeDeletion { try flip(segment, at: damaged) }
        try folder.withArchive { archive in
            #expect(try archive.carryOut(.delete, on: planned).entries == 1)
            try archive.put([2], forKey: "later")
        }
        if loss != .valueBeforeDeletion { try flip(segment, at: damaged) }
        if loss == .valueAndIndex { try folder.removeIndex("A") }
        try folder.withArchive(mode: .readOnly) { archive in
            #expect(try archive.peek("key") == nil)
            let report = try archive.check()
            #expect(report.entries == 3 + (loss == .key ? 1 : 0), "\(report)")
            if loss != .valueAndIndex { #expect(try archive.olderValues(report)?.current == 0) }
        }
        let report = try folder.repair()
        #expect(report.entries == 3, "\(report)")
        let repaired = try folder.rebuilt()
        defer { repaired.close() }
        #expect(try repaired.peek("key") == nil && repaired.check().clean)
        try repaired.expectValid()
    }

    @Test("the older value of a damaged entry returns with an undo of its deletion") func undoneDamage()
        throws
    {
        try filled(.collection)
        try folder.withArchive { archive in
            _ = try archive.carryOut(.delete, on: archive.planned(["key"]))
            #expect(try archive.undo()?.entries == 1)
        }
        try flip(segment, at: last("new value"))
        for repairs in [false, true] {
            if repairs { try folder.repair() }
            let archive = try folder.rebuilt()
            defer { archive.close() }
            #expect(try archive.peek("key") == Self.old)
        }
    }

    @Test(
        "a repair keeps a restored entry if the record of the undo is damaged",
        arguments: [ArchiveKind.cache, .collection], [false, true])
    func damagedUndo(kind: ArchiveKind, isLast: Bool) throws {
        try filled(kind)
        var place = 0
        try folder.withArchive { archive in
            _ = try archive.carryOut(.delete, on: archive.planned(["key"]))
            place = try logEnd()
            #expect(try archive.undo()?.entries == 1)
            if !isLast { try archive.put([2], forKey: "later") }
        }
        try flip(segment, at: place + 20)
        let forecast = try folder.withArchive(mode: .readOnly) { try $0.olderValues($0.check()) }
        #expect(forecast?.restored == 1 && forecast?.removed == 0)
        let report = try folder.repair()
        #expect(report.problems.contains { $0.contains("stored 1 entry again") }, "\(report)")
        let repaired = try repaired()
        #expect(try repaired.peek("key") == Self.new)
    }

    @Test(
        "a repair keeps an entry if the record of a former expiry time is damaged",
        arguments: [ArchiveKind.cache, .collection])
    func damagedFormerExpiry(kind: ArchiveKind) throws {
        try filled(kind)
        var (place, expires) = (0, Timestamp?.none)
        try folder.withArchive { archive in
            place = try logEnd()
            try archive.setLifetime(.seconds(3600), forKey: "key")
            try archive.setLifetime(.seconds(7200), forKey: "key")
            expires = try archive.metadata("key")?.expires
            try archive.put([2], forKey: "later")
        }
        try flip(segment, at: place + 20)
        let repaired = try repaired()
        let kept = try #require(try repaired.metadata("key")?.expires)
        #expect(abs(kept.microseconds - (expires?.microseconds ?? 0)) < 1_000_000)
        #expect(try repaired.peek("key") == Self.new)
    }

    enum LostChange: CaseIterable { case put, deletion, expiry, undo }

    @Test(
        "a repair keeps the old index's entries of a segment with a blank end",
        arguments: [ArchiveKind.cache, .collection], LostChange.allCases)
    func blankEnd(kind: ArchiveKind, change: LostChange) throws {
        try blankEnd(kind, change, afterRestart: false)
    }

    @Test(
        "a repair after a restart keeps these entries if the archive was synced",
        arguments: LostChange.allCases)
    func blankEndOfSynced(change: LostChange) throws { try blankEnd(.cache, change, afterRestart: true) }

    func blankEnd(_ kind: ArchiveKind, _ change: LostChange, afterRestart: Bool) throws {
        let archive = try folder.archive(creating: kind == .cache ? .cache(4_000_000) : .collection)
        var number = 0
        func fill(untilSegments count: Int) throws {
            while try folder.segments().count < count {
                try archive.put([UInt8](repeating: 1, count: 2_000), forKey: "key \(number)")
                number += 1
            }
        }
        try archive.put(Self.old, forKey: "key")
        if change == .undo { _ = try archive.carryOut(.delete, on: archive.planned(["key"])) }
        try fill(untilSegments: 2)
        let second = folder.archivePath("A", try #require(try folder.segments().last))
        let place = (try #require(contents(of: second).lastIndex { $0 != 0 }) / 8 + 1) * 8
        switch change {
        case .put: try archive.put(Self.new, forKey: "key")
        case .deletion: _ = try archive.carryOut(.delete, on: archive.planned(["key"]))
        case .expiry: #expect(try archive.setLifetime(.seconds(3600), forKey: "key"))
        case .undo: #expect(try archive.undo()?.entries == 1)
        }
        try fill(untilSegments: 3)
        if afterRestart { try archive.synchronize() }
        archive.close()
        let end = try contents(of: second).count
        try overwrite(second, at: place, with: [UInt8](repeating: 0, count: end - place))
        guard afterRestart else { return try expectRepaired(kind, change, hoursLeft: 1) }
        try folder.makeIndexOfAnotherBoot()
        let hand = ClockHand()
        hand.pass(.seconds(1800))
        hand.boot.store(5_000_000, ordering: .relaxed)
        try Clock.$hand.withValue(hand) { try expectRepaired(kind, change, hoursLeft: 0.5) }
    }

    func expectRepaired(_ kind: ArchiveKind, _ change: LostChange, hoursLeft: Double) throws {
        // A copy has no index that a process trusts, but the loss is known.
        let copy = try TemporaryFolder(inMemory: true)
        try FileManager.default.copyItem(atPath: folder.store, toPath: copy.store)
        #expect(try copy.withArchive(mode: .readOnly) { try $0.status().damagedPlaces == 1 })
        for place in [folder, copy] {
            #expect(try place.withArchive(mode: .readOnly) { try !$0.check().clean })
            _ = try Store.open(at: place.store).repair(archiveNamed: "A")
            let repaired = try place.rebuilt()
            defer { repaired.close() }
            let value: [UInt8]? = if change == .put { kind == .cache ? nil : Self.old } else { Self.old }
            #expect(try repaired.peek("key") == (change == .deletion ? nil : value))
            let expires = try repaired.metadata("key")?.expires
            #expect((expires != nil) == (change == .expiry))
            if let expires {
                let left = Double(expires.microseconds - Timestamp.now().microseconds) / 3_600_000_000
                #expect(abs(left - hoursLeft) < 0.1)
            }
            #expect(try repaired.check().clean)
            try repaired.expectValid()
        }
    }
}
