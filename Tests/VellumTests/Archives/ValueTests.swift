import Foundation
import Testing
import Vellum

/// Objects of types that aren't proven `Sendable` are kept as bytes, since their coding may hide a class that callers would
/// share. With the thread sanitizer, the last tests also fail by its report.
@Suite struct ValueTests {
    private let store = TemporaryStore()

    final class Counter {
        var count = 0
    }

    /// The coding hides the class.
    struct OwnEncoding: ArchiveCodable {
        var primaryKey: String
        var counter = Counter()

        init(primaryKey: String) { self.primaryKey = primaryKey }

        enum CodingKeys: CodingKey { case primaryKey, count }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(primaryKey, forKey: .primaryKey)
            try container.encode(counter.count, forKey: .count)
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            primaryKey = try container.decode(String.self, forKey: .primaryKey)
            counter.count = try container.decode(Int.self, forKey: .count)
        }
    }

    /// Has no properties, only its own encoding.
    struct OwnBytes: Archivable {
        var primaryKey: String
        var counter = Counter()

        func archive() throws -> Data { Data("\(primaryKey) \(counter.count)".utf8) }

        static func deArchive(fromData data: Data) throws -> Archivable {
            let words = String(decoding: data, as: UTF8.self).split(separator: " ")
            let bytes = OwnBytes(primaryKey: String(words[0]))
            bytes.counter.count = Int(words[1]) ?? 0
            return bytes
        }
    }

    /// The coding leaves out the class.
    struct LeftOut: ArchiveCodable {
        var primaryKey: String
        var counter = Counter()

        enum CodingKeys: CodingKey { case primaryKey }
    }

    private func expectCopies<Object: Archivable>(
        of object: Object, counter: (Object) -> Counter
    ) throws {
        let key = object.primaryKey
        let objects = try store.factory().archives(for: Object.self)
        objects.record(object)
        counter(object).count = 7
        #expect(objects.core.memory.keys == [key], "read from memory")
        let first = try #require(objects.access(archiveWithKey: key))
        #expect(counter(first).count == 0, "an unrecorded change is visible")
        let second = try #require(objects.access(archiveWithKey: key))
        #expect(counter(first) !== counter(second), "callers share a part")
        counter(first).count = 8
        #expect(objects.peek(archiveWithKey: key).map { counter($0).count } == 0)

        // Read from disk into memory.
        let elsewhere = try store.factory().archives(for: Object.self)
        let read = try #require(elsewhere.access(archiveWithKey: key))
        counter(read).count = 9
        let again = try #require(elsewhere.access(archiveWithKey: key))
        #expect(counter(again).count == 0 && counter(again) !== counter(read))
    }

    @Test("a structure with its own encoding is copied") func structureWithOwnEncoding() throws {
        try expectCopies(of: OwnEncoding(primaryKey: "k")) { $0.counter }
    }

    @Test("a structure with its own bytes is copied") func structureWithOwnBytes() throws {
        try expectCopies(of: OwnBytes(primaryKey: "k")) { $0.counter }
    }

    @Test("a structure with an instance outside its encoding is copied") func structureWithUnencodedClass()
        throws
    {
        try expectCopies(of: LeftOut(primaryKey: "k")) { $0.counter }
    }

    @Test("objects of different threads share no mutable part", arguments: 0..<2)
    func threadsShareNothing(round: Int) throws {
        let objects = try store.factory().archives(for: OwnBytes.self)
        objects.record(OwnBytes(primaryKey: "k"))
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for turn in 0..<50 {
                guard let object = objects.access(archiveWithKey: "k") else { continue }
                #expect(object.counter.count == 0)
                object.counter.count = number * 50 + turn + 1
            }
        }
    }

    private func keepsObjects<Object>(_ archives: ArchiveManager<Object>) -> Bool {
        archives.core.keepsObjects(false)
    }

    private func archives<Object: Archivable>(of type: Object.Type) throws -> ArchiveManager<Object> {
        try store.factory().archives(for: type)
    }

    @Test("Sendable types are kept without encoding") func sendableTypes() throws {
        let factory = store.factory()
        #expect(keepsObjects(try factory.archives(for: Note.self)))
        let notes: ArchiveManager<Note> = try factory.archives()
        #expect(keepsObjects(notes))
        #expect(!keepsObjects(try factory.archives(for: OwnBytes.self)))
        #expect(keepsObjects(try #require(Archived<Citizen>(in: factory).projectedValue)))
        #expect(!keepsObjects(try #require(Archived<LeftOut>(in: factory).projectedValue)))
        #expect(!keepsObjects(try archives(of: Note.self)), "unknown to a generic function")
        _ = try factory.archives(for: Note.self)
    }
}
