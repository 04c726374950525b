import Foundation
import StorageEngine
import TestSupport
import Testing

/// Copying an archive under another name, beside others that use the store.
@Suite struct CopyTests {
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        store = try Store.open(at: folder.store)
        let archive = try store.archive(named: "A", orCreate: ArchiveConfiguration())
        for number in 0..<1000 { try archive.put([UInt8(number & 255)], forKey: "k\(number)") }
    }

    private func names() throws -> [String] {
        let all = try FileManager.default.contentsOfDirectory(atPath: folder.store)
        return all.filter { !$0.hasPrefix("vellum-store") }.sorted()
    }

    /// Whoever opens a store removes what was left of removals and copies, but not a copy that is being made.
    @Test func aStoreIsOpenedDuringTheCopy() throws {
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

    /// What broke: of two that copied to one name at once the second replayed its entries into the archive of the first, and
    /// one that failed removed what the other had made.
    @Test func ofTwoThatTakeTheSameNameTheSecondIsRefused() throws {
        var isMade = false
        #expect(throws: StorageError.self) {
            try store.copyArchive(named: "A", to: store, as: "B") { _ in
                if !isMade {
                    isMade = true
                    try? store.archive(named: "B", orCreate: ArchiveConfiguration()).put([7], forKey: "other")
                }
                return true
            }
        }
        let other = try store.archive(named: "B")
        #expect(try other.peek("other") == [7] && other.status().entries == 1)
        #expect(try names() == ["A.archive", "B.archive"])
    }

    @Test func aCopyThatIsStoppedLeavesNothing() throws {
        #expect(try store.copyArchive(named: "A", to: store, as: "B") { $0.done < 500 } == nil)
        #expect(try names() == ["A.archive"])
        #expect(throws: StorageError.self) { try store.copyArchive(named: "None", to: store, as: "B") }
        #expect(try names() == ["A.archive"])
    }

    @Test func whatAKilledCopyLeftIsRemovedByTheNextOpening() throws {
        let left = try Store.open(at: folder.store + "/0123456789abcdef.removed")
        let copied = try left.archive(named: "B", orCreate: ArchiveConfiguration())
        try copied.put([UInt8](repeating: 1, count: 10_000), forKey: "b")
        left.close()
        #expect(try store.bytesOfRemovedArchives() > 10_000)
        #expect(try store.archiveNames() == ["A"])
        try Store.open(at: folder.store).close()
        #expect(try names() == ["A.archive"])
    }

    /// What another process stores between the copy and the removal of a renamed archive isn't lost.
    @Test func anArchiveThatChangedIsNotRemoved() throws {
        let archive = try store.archive(named: "A")
        let event = try archive.nextEvent()
        try archive.put([1], forKey: "late")
        #expect(try !store.removeArchive(named: "A", ifNextEventIs: event))
        #expect(try archive.peek("late") == [1])
        #expect(try store.removeArchive(named: "A", ifNextEventIs: archive.nextEvent()))
        #expect(try names() == [])
    }
}
