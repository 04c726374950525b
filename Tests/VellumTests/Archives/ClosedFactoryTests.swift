import Foundation
import StorageEngine
import Synchronization
import TestSupport
import Testing
import Vellum

/// Closes a factory while threads use its archives.
@Suite struct ClosedFactoryTests {
    private let store = TemporaryStore()

    @Test("a call during closing reopens the archive and makes its change once")
    func changesDuringClosing() async throws {
        let factory = store.factory()
        let notes = try factory.archives(for: Note.self)
        notes.record(Note("n", "0"))
        let isOver = Atomic(false)
        let closing = Background {
            while !isOver.load(ordering: .relaxed) {
                factory.close()
                usleep(300)
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<1_500 {
                        do {
                            try notes.modify(archiveWithKey: "n") { $0.text = "\((Int($0.text) ?? 0) + 1)" }
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
        isOver.store(true, ordering: .relaxed)
        try closing.wait()
        #expect(notes.access(archiveWithKey: "n")?.text == "3000")
    }

    @Test("an archive that can't be opened blocks no other") func blockedOpening() throws {
        let factory = store.factory()
        let notes = try factory.archives(for: Note.self, named: "A")
        notes.record(Note("n", "0"))
        let others = try factory.archives(for: Note.self, named: "B")
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: store.path).first { $0.hasPrefix("A.") })
        factory.close()
        _ = others.access(archiveWithKey: "n")
        let opening = open(store.path + "/" + name + "/opening", O_RDWR)
        defer { close(opening) }
        try #require(flock(opening, LOCK_EX) == 0)
        let waiting = Thread { _ = notes.access(archiveWithKey: "n") }
        waiting.start()
        Thread.sleep(forTimeInterval: 0.2)
        let start = ContinuousClock.now
        #expect(try factory.archives(for: Note.self, named: "B") === others)
        _ = factory.storePath
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(flock(opening, LOCK_UN) == 0)
    }

    @Test("a refused kind is refused again") func repeatedRefusals() throws {
        let factory = store.factory()
        _ = try factory.archives(for: Note.self, named: "C")
        for _ in 0..<3 {
            #expect(throws: ArchiveError.self) {
                try factory.archives(for: Note.self, named: "C", kind: .collection)
            }
        }
        for _ in 0..<2 {
            let notes = try factory.archives(
                for: Note.self, named: "C", trySetMaxDiskSize: 5_000_000, appliesSettings: true)
            #expect(notes.maxDiskSize == 5_000_000)
            notes.resize(disk: 3_000_000)
        }
    }

    @Test("a batch doesn't drop a newer object from memory") func batchesBesideMemory() throws {
        let notes = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 40_000_000, trySetMaxDiskSize: 20_000)
        let isOver = Atomic(false)
        let batches = Background {
            while !isOver.load(ordering: .relaxed) { notes.record(all: [Note("k", "small")]) }
        }
        let large = Note.sized("k", 30_000)
        for _ in 0..<20_000 {
            notes.record(large)
            guard notes.peek(archiveWithKey: "k") != nil else { Issue.record("lost"); break }
        }
        isOver.store(true, ordering: .relaxed)
        try batches.wait()
    }
}
