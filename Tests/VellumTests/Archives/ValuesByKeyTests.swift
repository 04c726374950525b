import Foundation
import StorageEngine
import TestSupport
import Testing
import Vellum

/// Who wanted to keep bytes or a text by a key, or two archives of one type, had to make up a type for each.
@Suite struct ValuesByKeyTests {
    private let store = TemporaryStore()

    @Test func bytesAreStoredAsTheyAre() async throws {
        let images = try store.factory().values(of: Data.self, named: "images")
        let bytes = Data([0xff, 0, 1, 2])
        images.record(bytes, forKey: "a", expiresIn: .seconds(36_000), owner: "o")
        #expect(images.value(forKey: "a") == bytes)
        #expect(images["a"] == bytes && images["b"] == nil)
        #expect(try images.core.archive.peek("a") == [UInt8](bytes))
        #expect(images.keys(ofOwner: "o") == ["a"])
        images["b"] = Data()
        #expect(images["b"] == Data())
        images["b"] = nil
        #expect(images.keys() == ["a"])
        try await images.asynchronous.record(bytes, forKey: "c")
        try images.throwing.record(bytes, forKey: "d")
        let elsewhere = try store.factory().values(of: Data.self, named: "images")
        #expect(elsewhere["c"] == bytes && elsewhere["c"] == bytes, "from disk, then from memory")
        #expect(try elsewhere.throwing.value(forKey: "d") == bytes)
        #expect(try await elsewhere.asynchronous.value(forKey: "a") == bytes)
        #expect(elsewhere.statistics?.memoryObjects == 3)
        #expect(elsewhere.accessAll().map(\.primaryKey) == ["a", "d", "c"])
    }

    @Test func textsAreStoredAsUTF8() throws {
        let texts = try store.factory().values(of: String.self, named: "texts")
        texts["a"] = "Grüße"
        #expect(try texts.core.archive.peek("a") == Array("Grüße".utf8))
        #expect(try texts.core.archive.metadata("a")?.encoding == .text)
        #expect(try store.factory().values(of: String.self, named: "texts")["a"] == "Grüße")
        try texts.core.archive.put([0xff], forKey: "b")
        #expect(texts["b"] == nil && texts.staleKeys() == ["b"])
        #expect(texts.where(\.value, .contains("rü")).getResults().map(\.primaryKey) == ["a"])
    }

    @Test func anythingElseIsCodable() async throws {
        let factory = store.factory()
        let scores = try factory.values(of: [String: Int].self, named: "scores")
        scores["a"] = ["x": 1]
        try scores.modify(archiveWithKey: "a") { $0.value["y"] = 2 }
        #expect(try store.factory().values(of: [String: Int].self, named: "scores")["a"] == ["x": 1, "y": 2])
        #expect(try scores.core.archive.metadata("a")?.encoding == .cbor)
        var values = scores.values(forKey: "a").makeAsyncIterator()
        #expect(await values.next()??.value == ["x": 1, "y": 2])
        let people = try factory.values(of: Person.self, named: "people")
        people["ada"] = Person(name: "Ada", age: 36)
        let read = try #require(people["ada"])
        read.age = 0
        #expect(people["ada"]?.age == 36, "an object of a class is a value here too")
        #expect(throws: ArchiveError.self) { try factory.values(of: Int.self, named: "scores") }
    }

    @Test func oneTypeHasSeveralArchives() throws {
        let factory = store.factory()
        let drafts = try factory.archives(for: Note.self, named: "drafts", trySetMaxDiskSize: 10_000)
        let notes = try factory.archives(for: Note.self)
        drafts.record(Note(primaryKey: "a", text: "draft"))
        #expect(notes.access(archiveWithKey: "a") == nil)
        #expect(try factory.archives(for: Note.self, named: "drafts") === drafts)
        #expect(drafts.maxDiskSize == 10_000 && notes.maxDiskSize == 2.megaBytes)
        #expect(try Store.open(at: store.path).archiveNames() == ["Note", "drafts"])
        try removeFolderInUse(store.path)
        drafts.record(Note(primaryKey: "b", text: ""))
        #expect(try store.factory().archives(for: Note.self, named: "drafts").keys() == ["b"])
        #expect(throws: StorageError.self) { try factory.archives(for: Note.self, named: "") }
    }
}
