import Foundation
import StorageEngine
import Testing

/// Names of archives and folders, compared as bytes.
@Suite struct NameTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    @Test("names with equal text but other bytes are two archives") func equalText() throws {
        let store = try Store.open(at: folder.store)
        try store.archive(named: "caf\u{e9}", orCreate: .cache()).put([1], forKey: "a")
        try store.archive(named: "cafe\u{301}", orCreate: .cache()).put([2], forKey: "a")
        #expect(try store.archiveNames().count == 2)
        #expect(try store.archive(named: "caf\u{e9}").peek("a") == [1])
        #expect(try store.archive(named: "cafe\u{301}").peek("a") == [2])
        #expect(ExactText("caf\u{e9}") != ExactText("cafe\u{301}"))
    }

    @Test("a collection has no default limit") func defaultLimits() throws {
        let archive = try folder.archive(creating: ArchiveConfiguration(kind: .collection))
        #expect(try archive.configuration().diskLimit == nil)
        #expect(ArchiveConfiguration().diskLimit == 2_000_000)
        #expect(ArchiveConfiguration(kind: .log).diskLimit == 2_000_000)
    }

    @Test("a renamed folder has its new name and is reported") func renamedFolder() throws {
        let store = try Store.open(at: folder.store)
        try store.archive(named: "Old", orCreate: .cache()).put([1], forKey: "a")
        store.close()
        try FileManager.default.moveItem(
            atPath: folder.store + "/Old.archive", toPath: folder.store + "/New.archive")
        let again = try Store.open(at: folder.store)
        #expect(try again.archiveNames() == ["New"])
        let archive = try again.archive(named: "New")
        #expect(try archive.status().name == "New")
        let report = try archive.check()
        #expect(!report.clean && report.problems.count == 1 && report.problems[0].contains("Old"))
        again.close()
        let other = try Store.open(at: folder.store)
        #expect(try other.repair(archiveNamed: "New").entries == 1)
        #expect(try other.archive(named: "New").check().clean)
        #expect(try other.archive(named: "New").peek("a") == [1])
    }

    @Test("names of archives have no control characters") func controlCharacters() throws {
        let store = try Store.open(at: folder.store)
        try store.archive(named: "A", orCreate: .cache()).put([1], forKey: "a")
        for name in ["x%0aB: clean, 9 entries", "x%7f", "raw\u{1b}[31m", "UPPER%4A"] {
            try FileManager.default.copyItem(
                atPath: folder.store + "/A.archive", toPath: folder.store + "/\(name).archive")
        }
        #expect(try store.archiveNames() == ["A"])
        let stray = try store.strayFolderNames()
        #expect(stray.count == 4)
        #expect(!stray.joined().utf8.contains { $0 < 0x20 || $0 == 0x7f })
    }
    @Test("reports links and files in place of archive folders") func linksAndFiles() throws {
        let store = try Store.open(at: folder.store)
        for name in ["A", "B"] { try store.archive(named: name, orCreate: .cache()).put([1], forKey: "a") }
        store.close()
        let files = FileManager.default
        try files.moveItem(atPath: folder.store + "/A.archive", toPath: folder.path + "/elsewhere")
        try files.createSymbolicLink(
            atPath: folder.store + "/A.archive", withDestinationPath: folder.path + "/elsewhere")
        try Data().write(to: URL(fileURLWithPath: folder.store + "/C.archive"))
        let again = try Store.open(at: folder.store)
        #expect(try again.archiveNames() == ["B"])
        #expect(try again.strayFolderNames() == ["A.archive", "C.archive"])
        for name in ["A.archive", "C.archive"] {
            #expect(again.strayFolderProblem(name).contains("is a link or a file"))
        }
        for name in ["A", "C"] {
            #expect(throws: StorageError.self) {
                try again.archive(named: name, orCreate: .cache()).put([1], forKey: "b")
            }
        }
    }
}
