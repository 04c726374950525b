import Foundation
import StorageEngine
import Testing
import Vellum

@Suite struct CompositionTests {
    private let store = TemporaryStore()

    private func citizens() throws -> ArchiveManager<Citizen> {
        let archives = try store.factory().archives(for: Citizen.self)
        for number in (0..<20).reversed() {
            archives.record(
                Citizen(
                    name: "n\(number)", age: number, nick: number % 2 == 0 ? nil : "N\(number)",
                    work: number % 5 == 0 ? .init(city: "Bogor") : nil))
        }
        return archives
    }

    private func encoded(
        _ archives: ArchiveManager<Citizen>, _ find: (QueryFinder<Citizen>) -> QueryFinder<Citizen>
    ) throws -> String? {
        try #require(archives.findWhere(find).explain()).encoded
    }

    @Test("conditions are combined with or, and, not") func orAndNot() throws {
        let archives = try citizens()
        func ages(_ find: (QueryFinder<Citizen>) -> QueryFinder<Citizen>) -> [Int] {
            archives.findWhere(find).sorted { $0.age(.ascending) }.getResults().map(\.age)
        }
        #expect(ages { $0.age(.less(than: 2)) || $0.name(.isEqual("n7")) } == [0, 1, 7])
        #expect(ages { !$0.age(.greater(than: 1)) } == [0, 1])
        #expect(ages { !($0.age(.greater(than: 1)) || $0.nick(.isNil)) } == [1])
        #expect(ages { $0.age(.less(than: 9)) && !$0.work.city(.isNil) } == [0, 5])
        #expect(ages { !$0.age(.isValid { $0 > 1 }) } == [0, 1])
        #expect(ages { $0.age(.isValid { $0 > 17 }) || $0.nick(.matches(regex: "^N3$")) } == [3, 18, 19])
        #expect(ages { !$0.nick(.matches(regex: "N")) && $0.age(.less(than: 5)) } == [0, 2, 4])
    }

    @Test("conditions are tested on encoded values where the result is the same")
    func encodedConditions() throws {
        let archives = try citizens()
        #expect(
            try encoded(archives) { $0.age(.less(than: 2)) || $0.name(.isEqual("n7")) }
                == #"find age < 2 or name = "n7""#)
        #expect(try encoded(archives) { !$0.age(.greater(than: 1)) } == "find not age > 1")
        #expect(try encoded(archives) { !($0.age(.greater(than: 1)) || $0.nick(.isNil)) } != nil)
        #expect(try encoded(archives) { $0.age(.less(than: 2)) || $0.tags(.isValid { _ in true }) } == nil)
        #expect(try encoded(archives) { !$0.nick(.matches(regex: "N")) } == nil)
        #expect(
            try encoded(archives) { !($0.nick(.matches(regex: "N")) || $0.age(.less(than: 5))) }
                == "find not age < 5")
        let explanation = try #require(
            archives.findWhere { $0.age(.less(than: 2)).name(.isValid { _ in true }) }.explain())
        #expect(explanation.encoded == "find age < 2" && explanation.ofObjects.count == 1)
        #expect("\(explanation)".contains("name"))
    }

    @Test("key paths are conditions") func keyPaths() throws {
        let archives = try citizens()
        #expect(archives.where(\.age >= 18 || \.name == "n3").count() == 3)
        #expect(archives.where(\.age < 4 && \.nick == nil).count() == 2)
        #expect(archives.where(\.age <= 4 && \.nick != nil).count() == 2)
        #expect(archives.where(!(\.age != 4)).getResults().map(\.age) == [4])
        #expect(archives.where(\.nick > "N8").count() == 1)
        #expect(archives.where(\.name, .contains("n1")).where(\.nick, .isNotNil).count() == 6)
        #expect(archives.where(\.name, .contains("n1")).where(\.age > 10 && \.age < 13).count() == 2)
    }

    @Test("skipping and limits apply in their order") func skipping() throws {
        let archives = try citizens()
        func ages(_ query: QueryBuilder<ArchiveManager<Citizen>>) -> [Int] { query.getResults().map(\.age) }
        #expect(
            ages(archives.sorted { $0.age(.descending) }.skipResults(by: 3).limitResults(by: 2)) == [16, 15])
        #expect(
            ages(archives.sorted { $0.age(.ascending) }.limitResults(by: 5).skipResults(by: 3)) == [3, 4])
        #expect(ages(archives.skipResults(by: 18).sorted { $0.age(.ascending) }).count == 2)
        #expect(
            ages(archives.sorted { $0.age(.ascending) }.skipResults(by: .max).limitResults(by: .max)) == [])
        #expect(ages(archives.sorted { $0.age(.ascending) }.skipResults(by: -1).limitResults(by: 1)) == [0])
        #expect(
            ages(
                archives.sorted { $0.age(.ascending) }.skipResults(by: 2).findWhere { $0.nick(.isNil) }
                    .limitResults(by: 2)) == [2, 4])
    }

    @Test("counting changes no order") func counting() throws {
        let archives = try citizens()
        let order = try archives.keysByUse()
        #expect(archives.where(\.age > 9).count() == 10)
        #expect(try archives.throwing.where(\.age > 9).count() == 10)
        #expect(try archives.keysByUse() == order)
        #expect(Shelf(archives.accessAll()).where(\.age > 9).count() == 10)
    }

    @Test("deleting results returns their number") func deletingResults() async throws {
        let archives = try citizens()
        #expect(archives.where(\.age > 14).deleteResults() == 5)
        #expect(archives.findWhere { $0.age(.isValid { $0 > 12 }) }.deleteResults() == 2)
        #expect(try archives.throwing.where(\.age > 10).deleteResults() == 2)
        #expect(try await archives.asynchronous.where(\.age > 8).deleteResults() == 2)
        #expect(archives.accessAll().count == 9 && archives.access(archiveWithKey: "n9") == nil)
        let shelf = Shelf(archives.accessAll())
        #expect(shelf.where(\.age > 6).deleteResults() == 2 && shelf.keys.count == 7)
    }

    @Test("an object overwritten during the query isn't deleted") func concurrentOverwrite() throws {
        let archives = try citizens()
        let other = try store.factory().archives(for: Citizen.self)
        let didChange = Guarded(false)
        let deleted = archives.findWhere {
            $0.age(
                .isValid { age in
                    didChange.withLock { didChange in
                        if !didChange { other.record(Citizen(name: "n3", age: 3, nick: "new")) }
                        didChange = true
                    }
                    return age == 3
                })
        }.deleteResults()
        #expect(deleted <= 1)
        if deleted == 0 { #expect(archives.access(archiveWithKey: "n3")?.nick == "new") }
    }
}
