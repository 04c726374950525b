import Foundation
import StorageEngine
import TestSupport
import Testing
import Vellum

@Suite struct ValuesByKeyTests {
    private let store = TemporaryStore()

    @Test("bytes are stored unchanged") func bytes() async throws {
        let images = try store.factory().values(of: Data.self, named: "images")
        let bytes = Data([0xff, 0, 1, 2])
        images.record(bytes, forKey: "a", options: .init(expiresIn: .seconds(36_000), owner: "o"))
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

    @Test("texts are stored as UTF-8") func texts() throws {
        let texts = try store.factory().values(of: String.self, named: "texts")
        texts["a"] = "Grüße"
        #expect(try texts.core.archive.peek("a") == Array("Grüße".utf8))
        #expect(try texts.core.archive.metadata("a")?.encoding == .text)
        #expect(try store.factory().values(of: String.self, named: "texts")["a"] == "Grüße")
        try texts.core.archive.put([0xff], forKey: "b")
        #expect(texts["b"] == nil && texts.staleKeys() == ["b"])
        #expect(texts.where(\.value, .contains("rü")).getResults().map(\.primaryKey) == ["a"])
    }

    @Test("Codable values are stored as CBOR") func codableValues() async throws {
        let factory = store.factory()
        let scores = try factory.values(of: [String: Int].self, named: "scores")
        scores["a"] = ["x": 1]
        try scores.modify(forKey: "a") { $0["y"] = 2 }
        try scores.modify(archiveWithKey: "a") { $0.value["y"]? += 0 }
        #expect(try store.factory().values(of: [String: Int].self, named: "scores")["a"] == ["x": 1, "y": 2])
        #expect(try scores.core.archive.metadata("a")?.encoding == .cbor)
        var values = scores.values(forKey: "a").makeAsyncIterator()
        #expect(await values.next() == ["x": 1, "y": 2])
        let people = try factory.values(of: Person.self, named: "people")
        people["ada"] = Person(name: "Ada", age: 36)
        let read = try #require(people["ada"])
        read.age = 0
        #expect(people["ada"]?.age == 36, "instances of classes are values, too")
        #expect(throws: ArchiveError.self) { try factory.values(of: Int.self, named: "scores") }
    }

    @Test("values are computed, changed and followed without a wrapper") func callsWithValues() throws {
        let texts = try store.factory().values(of: String.self, named: "texts")
        #expect(try texts.value(forKey: "/") { "hello" } == "hello")
        #expect(try texts.value(forKey: "/") { KeyedValue("other", forKey: "/") }.value == "hello")
        #expect(try texts.modify(forKey: "/") { $0 += "x" } == "hellox")
        #expect(try texts.modify(forKey: "none") { $0 += "x" } == nil)
        #expect(try texts.modify(forKey: "new", default: "y") { $0 += "x" } == "yx")
        texts.record("a", forKey: "/", options: .init(owner: "o"))
        texts.update("b", forKey: "/")
        #expect(texts["/"] == "b" && texts.keys(ofOwner: "o") == ["/"])
        #expect(try texts.record("c", forKey: "/", replacing: "b"))
        #expect(try !texts.record("d", forKey: "/", replacing: "b"))
        #expect(try !texts.record("d", forKey: "/", replacing: nil))
        texts.record(all: ["m": "1", "n": "2"], options: .init(owner: "batch"))
        #expect(texts.keys(ofOwner: "batch") == ["m", "n"])
        try texts.transaction { transaction in
            let moved = try transaction.value(forKey: "m") ?? ""
            try transaction.update(moved, forKey: "n")
            try transaction.record("3", forKey: "o")
            transaction.delete(archiveWithKey: "m")
        }
        #expect(texts["m"] == nil && texts["n"] == "1" && texts["o"] == "3")
    }

    @Test("values by key have throwing and asynchronous calls") func throwingAndAsynchronousCalls()
        async throws
    {
        let texts = try store.factory().values(of: String.self, named: "texts")
        let throwing = texts.throwing
        #expect(try texts.value(forKey: "a") { "1" } == "1")
        try throwing.update("2", forKey: "a")
        #expect(try texts.modify(forKey: "a") { $0 += "3" } == "23")
        #expect(try texts.modify(forKey: "b", default: "4") { $0 += "5" } == "45")
        #expect(try texts.record("6", forKey: "b", replacing: "45"))
        try throwing.record(all: ["c": "7"])
        try texts.transaction { try $0.update("8", forKey: "c") }
        #expect(texts["a"] == "23" && texts["b"] == "6" && texts["c"] == "8")

        let asynchronous = texts.asynchronous
        #expect(try await asynchronous.value(forKey: "/") { "1" } == "1")
        try await asynchronous.update("2", forKey: "/")
        #expect(try await texts.perform { try $0.modify(forKey: "/") { $0 += "3" } } == "23")
        texts["d"] = "6"
        try await asynchronous.record(all: ["e": "7"])
        #expect(texts["/"] == "23" && texts["d"] == "6" && texts["e"] == "7")
        var followed = texts.values(forKey: "/").makeAsyncIterator()
        let first: String?? = await followed.next()
        #expect(first == "23")
        let objects: FollowedValues<KeyedValue<String>?> = texts.values(forKey: "/")
        var iterator = objects.makeAsyncIterator()
        #expect(await iterator.next() == KeyedValue("23", forKey: "/"))
    }

    @Test("one type has several archives") func severalArchives() throws {
        let factory = store.factory()
        let drafts = try factory.archives(for: Note.self, named: "drafts", trySetMaxDiskSize: 10_000)
        let notes = try factory.archives(for: Note.self)
        drafts.record(Note("a", "draft"))
        #expect(notes.access(archiveWithKey: "a") == nil)
        #expect(try factory.archives(for: Note.self, named: "drafts") === drafts)
        #expect(drafts.maxDiskSize == 10_000 && notes.maxDiskSize == 2.megaBytes)
        #expect(try Store.open(at: store.path).archiveNames() == ["Note", "drafts"])
        try removeFolderInUse(store.path)
        drafts.record(Note("b"))
        #expect(try store.factory().archives(for: Note.self, named: "drafts").keys() == ["b"])
        #expect(throws: StorageError.self) { try factory.archives(for: Note.self, named: "") }
    }
}
