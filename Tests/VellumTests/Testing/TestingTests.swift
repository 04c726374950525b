import Foundation
import Testing
import Vellum
import VellumTesting

@Suite struct TestingTests {
    private let store = TestStore()

    @Test("the test's clock controls expiry") func manualClock() async throws {
        let notes = try store.factory.archives(for: Note.self)
        let clock = ManualClock()
        try await clock.run {
            notes.record(Note("a"), options: .init(expiresIn: .seconds(3_600), inMemory: .seconds(60)))
            clock.advance(by: .seconds(3_599))
            #expect(notes.access(archiveWithKey: "a") != nil)
            let left = try await notes.perform { try $0.throwing.remainingLifetime(for: "a") }
            #expect(left == .seconds(1))
            clock.advance(by: .seconds(1))
            let expired = try await notes.asynchronous.peek(archiveWithKey: "a")
            #expect(expired == nil)
            #expect(notes.access(archiveWithKey: "a") == nil)
        }
        let sessions = try store.factory.archives(
            for: Note.self, named: "sessions", lifetime: .seconds(80), slides: true)
        clock.run {
            for key in ["used", "listed", "left"] { sessions.record(Note(key)) }
            for _ in 0..<5 {
                clock.advance(by: .seconds(60))
                #expect(sessions.access(archiveWithKey: "used") != nil)
                #expect(sessions.where(\.primaryKey == "listed").getResults().count == 1)
            }
            #expect(sessions.access(archiveWithKey: "left") == nil)
            #expect(sessions.accessAll().count == 2)
            clock.advance(by: .seconds(60))
            #expect(sessions.accessAll().count == 2, "listing all counts as an access")
        }
    }

    @Test("a test store can be emptied, and is removed with its last reference") func testStore() throws {
        var other: TestStore? = TestStore(inMemory: false)
        let path = try #require(other).path
        let notes = try #require(other).factory.archives(for: Note.self)
        notes.record(Note("a", "1"))
        let elsewhere = try #require(other).otherProcess().archives(for: Note.self)
        #expect(elsewhere.access(archiveWithKey: "a") != nil)
        try #require(other).reset()
        #expect(elsewhere.access(archiveWithKey: "a") == nil, "absent from the memory of other processes")
        #expect(notes.count == 0 && notes.access(archiveWithKey: "a") == nil)
        notes.record(Note("b", "1"))
        #expect(notes.accessAll().map(\.primaryKey) == ["b"])
        #expect(try store.factory.archives(for: Note.self).count == 0, "another store")
        #expect(FileManager.default.fileExists(atPath: path))
        other = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// Most programs need a fake with only three calls.
    @Test("a fake needs only three calls") func aFakeIsSmall() {
        final class Nobody: ArchiveAccess {
            func record(_ object: Note) {}
            func access(archiveWithKey key: String) -> Note? { nil }
            func delete(archiveWithKey key: String) {}
        }
        func visit(_ notes: any ArchiveAccess<Note>) -> String {
            let text = (notes.access(archiveWithKey: "visits")?.text ?? "") + "|"
            notes.update(Note("visits", text))
            return text
        }
        #expect(visit(Nobody()) == "|" && visit(Nobody()) == "|")
        let fake = FakeArchives<Note>()
        #expect(visit(fake) == "|" && visit(fake) == "||")
        #expect(fake.contents["visits"]?.text == "||")
    }

    @Test("the fake has the results of an archive") func fakeArchives() throws {
        let real = try store.factory.archives(for: Citizen.self)
        func play<Archives: Archivist>(_ archives: Archives) -> [[String]] where Archives.Object == Citizen {
            for age in 0..<20 { archives.record(Citizen(name: "c\(age)", age: age)) }
            // Equal texts in Swift, but two keys in a store.
            for (age, name) in ["caf\u{e9}", "cafe\u{301}"].enumerated() {
                archives.record(Citizen(name: name, age: 10 + age))
            }
            _ = archives.access(archiveWithKey: "c3")
            archives.delete(keys: "c5", "never")
            archives.where(\.age > 15).deleteResults()
            let all = archives.accessAll(limitedBy: 4).map(\.name)
            let some = archives.where(\.age < 9).sorted { $0.age(.descending) }.limitResults(by: 3)
                .getResults()
            archives.deleteAllInvalidateArchives(invalidateTimeInterval: 1_000)
            let count = archives.accessAll().count
            archives.deleteAll()
            return [all, some.map(\.name), ["\(count)", "\(archives.accessAll().count)"]]
        }
        #expect(play(FakeArchives<Citizen>()) == play(real))
    }
}
