import Foundation
import StorageEngine
import Testing
import Vellum

@Suite struct ChangesTests {
    private let store = TemporaryStore()

    /// The kinds of changes of `keys` while `body` runs, oldest first.
    private func kinds(
        _ archives: ArchiveManager<Note>, count: Int, _ body: () throws -> Void
    ) async throws -> [ArchiveChange] {
        var changes = archives.changes.makeAsyncIterator()
        try body()
        var seen: [ArchiveChange] = []
        while seen.count < count, let change = await changes.next() { seen.append(change) }
        return seen
    }

    @Test("every kind of change is reported") func everyKind() async throws {
        let notes = try store.factory().archives(
            for: Note.self, trySetMaxMemorySize: 1_000, trySetMaxDiskSize: 250)
        let elsewhere = try store.factory().archives(for: Note.self)
        let begun = Date()
        let seen = try await kinds(notes, count: 10) {
            elsewhere.record(Note.sized("a", 100))
            elsewhere.update(Note.sized("a", 90))
            _ = notes.access(archiveWithKey: "a")
            notes.record(Note.sized("b", 100))
            notes.record(Note.sized("c", 100))
            notes.delete(archiveWithKey: "b")
            notes.record(Note.sized("too large", 2_000))
            notes.record(Note.sized("brief", 80), options: .init(expiresIn: .zero))
            _ = notes.access(archiveWithKey: "brief")
        }
        let expected: [(ArchiveChange.Kind, String?, Int)] = [
            (.recorded, "a", 100), (.updated, "a", 90), (.promoted, "a", 90), (.recorded, "b", 100),
            (.evicted, "a", 90), (.recorded, "c", 100), (.deleted, "b", 100), (.rejected, "too large", 2_000),
            (.recorded, "brief", 80), (.expired, "brief", 80),
        ]
        #expect(seen.map(\.kind) == expected.map(\.0))
        #expect(seen.map(\.key) == expected.map(\.1))
        #expect(seen.map(\.bytes) == expected.map(\.2))
        // The engine's clock may lag by some milliseconds.
        let span = begun.addingTimeInterval(-1)...Date().addingTimeInterval(1)
        #expect(seen.allSatisfy { $0.process == getpid() && span.contains($0.time) })
    }

    @Test("changes report expiry times, sizes, and operations of the browser")
    func expirySizesAndPlans() async throws {
        let notes = try store.factory().archives(for: Note.self)
        notes.record(Note("a"))
        let archive = notes.core.archive
        let seen = try await kinds(notes, count: 4) {
            try archive.setLifetime(.seconds(36_000), forKey: "a")
            notes.resize(memory: 500_000)
            let sequence = try #require(try archive.metadata("a")).sequence
            let action = try #require(
                try archive.carryOut(.delete, on: [PlannedEntry(key: "a", sequence: sequence)]).action)
            #expect(notes.access(archiveWithKey: "a") == nil, "deleted from memory, too")
            _ = try archive.undo(action.id)
        }
        #expect(seen.map(\.kind) == [.lifetimeChanged, .resized, .deleted, .restored])
        #expect(seen.map(\.key) == ["a", nil, "a", "a"])
        #expect(notes.access(archiveWithKey: "a") != nil)
    }

    @Test("a value that can't be decoded is reported as rejected") func undecodableValues() async throws {
        let notes = try store.factory().archives(for: Note.self)
        try notes.core.archive.put(Array("no note".utf8), forKey: "a")
        let seen = try await kinds(notes, count: 1) { #expect(notes.access(archiveWithKey: "a") == nil) }
        #expect(seen.map(\.kind) == [.rejected] && seen.first?.key == "a")
        let event = try #require(try notes.core.archive.history(of: "a").events.last)
        #expect(event.kind == .rejection && event.cause == .undecodable)
        #expect(try notes.core.archive.peek("a") == Array("no note".utf8))
    }

    @Test("a slow follower gets the number of lost changes, then the rest")
    func slowFollowers() async throws {
        let notes = try store.factory().archives(for: Note.self)
        var changes = notes.changes.makeAsyncIterator()
        for number in 0..<3_000 { notes.record(Note("\(number)")) }
        guard case .lost(let count) = try #require(await changes.next()).kind else {
            Issue.record("nothing was lost")
            return
        }
        #expect(count >= 3_000 - 2_048 && count < 3_000)
        #expect(await changes.next()?.key == "\(count)")
    }

    @Test("each loop follows independently, until its task ends") func independentLoops() async throws {
        let notes = try store.factory().archives(for: Note.self)
        var first = notes.changes.makeAsyncIterator()
        notes.record(Note("a"))
        var second = notes.changes.makeAsyncIterator()
        notes.record(Note("b"))
        let change = await first.next()
        #expect(change?.key == "a" && change?.keyIsComplete == true)
        #expect(await first.next()?.key == "b")
        #expect(await second.next()?.key == "b")
        let task = Task {
            var iterator = notes.changes.makeAsyncIterator()
            return await iterator.next()
        }
        task.cancel()
        #expect(await task.value == nil)
    }
}
