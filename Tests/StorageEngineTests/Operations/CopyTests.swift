import Foundation
import StorageEngine
import TestSupport
import Testing

/// Copies of an archive under another name, in a store in use.
@Suite struct CopyTests {
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "A", orCreate: .cache())
        for number in 0..<1000 { try archive.put([UInt8(number & 255)], forKey: "k\(number)") }
    }

    private func names() throws -> [String] {
        let all = try FileManager.default.contentsOfDirectory(atPath: folder.store)
        return all.filter { !$0.hasPrefix("vellum-store") }.sorted()
    }

    @Test("opening the store keeps a copy in progress") func openedDuringCopy() throws {
        var opened = 0
        let report = try store.copyArchive(named: "A", to: store, as: "B") { _ in
            let other = try? Store.open(at: folder.store)
            if (try? other?.archiveNames()) == ["A"] { opened += 1 }
            other?.close()
            return true
        }
        #expect(opened > 3)
        #expect(report?.archives.map(\.entries) == [1000])
        #expect(try store.archive(named: "B").peek("k999") == [UInt8(999 & 255)])
        #expect(try names() == ["A.archive", "B.archive"])
        #expect(try store.bytesOfRemovedArchives() == 0)
    }

    @Test("refuses a copy whose name was taken during the copy") func sameName() throws {
        var isMade = false
        #expect(throws: StorageError.self) {
            try store.copyArchive(named: "A", to: store, as: "B") { _ in
                if !isMade {
                    isMade = true
                    try? store.archive(named: "B", orCreate: .cache()).put([7], forKey: "other")
                }
                return true
            }
        }
        let other = try store.archive(named: "B")
        #expect(try other.peek("other") == [7] && other.status().entries == 1)
        #expect(try names() == ["A.archive", "B.archive"])
    }

    @Test("a stopped copy leaves no files") func stoppedCopy() throws {
        #expect(try store.copyArchive(named: "A", to: store, as: "B") { $0.done < 500 } == nil)
        #expect(try names() == ["A.archive"])
        #expect(throws: StorageError.self) { try store.copyArchive(named: "None", to: store, as: "B") }
        #expect(try names() == ["A.archive"])
    }

    @Test("the next opening removes a killed copy") func killedCopy() throws {
        let left = try Store.open(at: folder.store + "/0123456789abcdef.removed")
        let copied = try left.archive(named: "B", orCreate: .cache())
        try copied.put(repeated(1, 10_000), forKey: "b")
        left.close()
        #expect(try store.bytesOfRemovedArchives() > 10_000)
        #expect(try store.archiveNames() == ["A"])
        try Store.open(at: folder.store).close()
        #expect(try names() == ["A.archive"])
    }

    @Test("doesn't remove an archive that changed since the copy") func changedArchive() throws {
        let archive = try store.archive(named: "A")
        let version = try copied("B")
        try archive.put([1], forKey: "late")
        #expect(try !store.removeArchive(named: "A", ifStill: version))
        #expect(try archive.peek("late") == [1])
        #expect(try store.removeArchive(named: "A", ifStill: copied("C")))
        #expect(try names() == ["B.archive", "C.archive"])
    }

    @Test("an expiry doesn't count as a change") func expiryIsNoChange() throws {
        let hand = ClockHand()
        try Clock.$hand.withValue(hand) {
            let archive = try store.archive(named: "A")
            for (key, seconds) in [("soon", 1), ("later", 100)] {
                try archive.put([1], forKey: key, attributes: .expiring(.seconds(seconds)))
            }
            let version = try copied("B")
            hand.pass(.seconds(2))
            #expect(try archive.access("soon") == nil)
            #expect(try archive.status().expirations == 1)
            #expect(try store.archive(named: "B").peek("soon") == nil)
            #expect(try archive.carryOut(.expireNow, on: archive.planned(["later"])).entries == 1)
            #expect(try !store.removeArchive(named: "A", ifStill: version))
            try archive.put([1], forKey: "last", attributes: .expiring(.seconds(1)))
            let other = try copied("C")
            hand.pass(.seconds(2))
            #expect(try archive.access("last") == nil)
            #expect(try store.removeArchive(named: "A", ifStill: other))
        }
    }

    private func copied(_ name: String) throws -> ArchiveVersion {
        try #require(try store.copyVersion(ofArchive: "A", to: store, as: name) { _ in true }).version
    }

    @Test("doesn't remove a recreated archive") func recreatedArchive() throws {
        let version = try copied("B")
        try store.removeArchive(named: "A")
        let other = try store.archive(named: "A", orCreate: .cache())
        for number in 0..<1000 { try other.put([9], forKey: "k\(number)") }
        #expect(try !store.removeArchive(named: "A", ifStill: version))
        #expect(try other.peek("k7") == [9])
    }

    @Test("an emptied log counts as changed") func emptiedLog() throws {
        let configuration = ArchiveConfiguration.log(1_000_000)
        let log = try store.archive(named: "L", orCreate: configuration)
        for number in 0..<10 { try log.append([UInt8(number)]) }
        let copied = try #require(try store.copyVersion(ofArchive: "L", to: store, as: "M") { _ in true })
        let next = try log.nextEvent()
        #expect(try log.deleteAllMessages().entries == 10)
        #expect(try !store.removeArchive(named: "L", ifStill: copied.version))
        let events = try log.events(from: next).events
        #expect(events.map(\.kind) == [.delete] && events.first?.key == nil)
    }

    @Test("copies into a store that was moved") func movedStore() throws {
        let moved = folder.path + "/moved"
        try FileManager.default.moveItem(atPath: folder.store, toPath: moved)
        let report = try store.copyArchive(named: "A", to: store, as: "B")
        #expect(report?.archives.map(\.entries) == [1000])
        #expect(!FileManager.default.fileExists(atPath: folder.store))
        #expect(try Store.open(at: moved, mode: .readOnly).archiveNames() == ["A", "B"])
    }

    @Test("an emptied log releases its space") func emptiedLogSpace() throws {
        let log = try store.archive(named: "L", orCreate: .log(100_000_000))
        for _ in 0..<300 { try log.append(repeated(1, 10_000)) }
        #expect(try log.deleteAllMessages().entries == 300)
        #expect(try log.status().footprint < 600_000)
        try log.append([5])
        #expect(try log.status().entries == 1 && log.check().clean)
    }

    @Test("creates no store inside an archive") func storeInArchive() throws {
        #expect(throws: StorageError.self) { try Store.open(at: folder.archivePath("A", "inside")) }
        #expect(!FileManager.default.fileExists(atPath: folder.archivePath("A", "inside/vellum-store")))
    }
}
