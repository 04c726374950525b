import Foundation
import Testing
import Vellum

@Suite struct StaleTests {
    private let store = TemporaryStore()

    private enum Old {
        struct Thing: ArchiveCodable {
            static var archiveTypeName: String { "Thing" }
            var primaryKey: String
            var number: String
        }
    }

    private enum New {
        struct Thing: ArchiveCodable {
            static var archiveTypeName: String { "Thing" }
            var primaryKey: String
            var number: Int
        }
    }

    @Test("undecodable values are logged once, listed and deleted") func staleValues() async throws {
        let old = try store.factory().archives(for: Old.Thing.self)
        for number in 0..<5 { old.record(.init(primaryKey: "\(number)", number: "one")) }
        let (factory, messages) = store.loggedFactory()
        let things = try factory.archives(for: New.Thing.self)
        things.record(.init(primaryKey: "new", number: 1))
        for _ in 0..<3 {
            for number in 0..<5 { #expect(things.access(archiveWithKey: "\(number)") == nil) }
        }
        #expect(messages.all.count == 1 && things.statistics?.undecodable == 5)
        #expect(messages.all[0].contains("deleteStale"))
        let keys = Set((0..<5).map { "\($0)" })
        #expect(Set(things.staleKeys()) == keys)
        #expect(Set(try await things.perform { try $0.throwing.staleKeys() }) == keys)
        old.delete(archiveWithKey: "0")
        #expect(things.deleteStale() == 4)
        #expect(try things.throwing.staleKeys().isEmpty)
        #expect(things.accessAll().map(\.primaryKey) == ["new"])
    }

    @Test("damage found during a rebuild of the index is logged at opening") func damage() throws {
        let factory = store.factory()
        let notes = try factory.archives(for: Note.self)
        for key in ["a", "b", "c"] { notes.record(Note(key, "text of \(key)")) }
        factory.close()
        let folder = store.path + "/Note.archive/"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "00000001.segment"))
        let place = try #require(bytes.firstRange(of: Data("text of b".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: URL(fileURLWithPath: folder + "00000001.segment"))
        try FileManager.default.removeItem(atPath: folder + "index")
        let (again, messages) = store.loggedFactory()
        let found = try again.archives(for: Note.self)
        #expect(messages.all.count == 1 && messages.all[0].contains("damaged in 1 place"), "\(messages.all)")
        #expect(found.access(archiveWithKey: "a") != nil && found.access(archiveWithKey: "b") == nil)
    }
}
