import Foundation
import Testing
import Vellum

/// After a change of a type each access to each old value was logged again, and nobody could find or delete them all.
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

    @Test func theyAreSaidOnceListedAndDeleted() async throws {
        let old = try store.factory().archives(for: Old.Thing.self)
        for number in 0..<5 { old.record(.init(primaryKey: "\(number)", number: "one")) }
        let factory = store.factory()
        let messages = LoggedMessages()
        factory.logger = messages.logger
        let things = try factory.archives(for: New.Thing.self)
        things.record(.init(primaryKey: "new", number: 1))
        for _ in 0..<3 {
            for number in 0..<5 { #expect(things.access(archiveWithKey: "\(number)") == nil) }
        }
        #expect(messages.all.count == 1 && things.statistics?.undecodable == 5)
        #expect(messages.all[0].contains("deleteStale"))
        let keys = Set((0..<5).map { "\($0)" })
        #expect(Set(things.staleKeys()) == keys)
        #expect(Set(try await things.asynchronous.staleKeys()) == keys)
        old.delete(archiveWithKey: "0")
        #expect(things.deleteStale() == 4)
        #expect(try things.throwing.staleKeys().isEmpty)
        #expect(things.accessAll().map(\.primaryKey) == ["new"])
    }
}
