import Foundation
import StorageEngine
import Testing
import Vellum

@Suite struct DamagedEntriesTests {
    private let store = TemporaryStore()

    private struct Thing: ArchiveCodable {
        var primaryKey: String
        var number: Int
        var text = String(repeating: "text ", count: 40)
    }

    @Test("damaged entries are omitted and logged", arguments: [false, true])
    func damagedEntries(byCondition: Bool) throws {
        let first = store.factory()
        let recorded = try first.archives(for: Thing.self)
        for number in 0..<20 { recorded.record(Thing(primaryKey: "\(number)", number: number)) }
        first.close()
        let segment = store.path + "/Thing.archive/00000001.segment"
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: segment))
        try file.seek(toOffset: 1_000)
        try file.write(contentsOf: Data("damaged".utf8))
        try file.close()

        let (factory, messages) = store.loggedFactory()
        let things = try factory.archives(for: Thing.self)
        let found =
            byCondition
            ? try things.throwing.findWhere { $0.number(.greater(than: -1)) }.getResults()
            : things.accessAll()
        #expect(found.count == 19)
        #expect(messages.all.count == 1 && messages.all[0].hasPrefix("warning"), "\(messages.all)")
        if byCondition { #expect(messages.all[0].contains("1 damaged and left out")) }
    }
}
