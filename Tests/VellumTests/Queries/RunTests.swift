import Testing
import Vellum

/// Queries run in order, and take no more items than necessary.
@Suite struct RunTests {
    /// Counts the taken items.
    private final class Source: Sequence, IteratorProtocol {
        private(set) var taken = 0
        private let count: Int

        init(_ count: Int) { self.count = count }

        func next() -> Int? {
            guard taken < count else { return nil }
            taken += 1
            return taken - 1
        }
    }

    private func run(_ queries: [Query<Citizen>], _ source: Source) -> [Int] {
        Query.run(queries, over: source) { Citizen(name: "\($0)", age: $0) }
    }

    private let even = Query<Citizen>.find { $0.age(.isValid { $0 % 2 == 0 }) }
    private let oldestFirst = Query<Citizen>.sort { $0.age(.descending) }

    @Test("no queries return all objects") func noQueries() {
        #expect(run([], Source(3)) == [0, 1, 2])
        #expect(run([even], Source(0)) == [])
        #expect(run([oldestFirst, .limit(by: 2)], Source(0)) == [])
    }

    @Test("queries run in their order") func order() {
        #expect(run([even, .limit(by: 3)], Source(10)) == [0, 2, 4])
        #expect(run([.limit(by: 3), even], Source(10)) == [0, 2])
        #expect(run([oldestFirst, .limit(by: 3)], Source(10)) == [9, 8, 7])
        #expect(run([.limit(by: 3), oldestFirst], Source(10)) == [2, 1, 0])
        #expect(run([oldestFirst, .limit(by: 3), even], Source(10)) == [8])
        #expect(run([oldestFirst, even, .limit(by: 3)], Source(10)) == [8, 6, 4])
        let youngestFirst = Query<Citizen>.sort { $0.age(.ascending) }
        #expect(run([oldestFirst, .limit(by: 3), youngestFirst], Source(10)) == [7, 8, 9])
        #expect(run([oldestFirst, .limit(by: 4), youngestFirst, .limit(by: 2)], Source(10)) == [6, 7])
        #expect(run([.limit(by: 6), even, oldestFirst, .limit(by: 2), youngestFirst], Source(10)) == [2, 4])
        #expect(run([.limit(by: 5), .limit(by: 2), .limit(by: 4)], Source(10)) == [0, 1])
    }

    @Test("negative limits are 0") func negativeLimits() {
        #expect(run([.limit(by: -1)], Source(3)) == [])
        #expect(run([oldestFirst, .limit(by: -5)], Source(3)) == [])
        #expect(run([oldestFirst, .limit(by: .max)], Source(3)) == [2, 1, 0])
    }

    private func taken(_ queries: [Query<Citizen>]) -> Int {
        let source = Source(1_000)
        _ = run(queries, source)
        return source.taken
    }

    @Test("reading ends at a limit") func limitsEndReading() {
        #expect(taken([]) == 1_000)
        #expect(taken([even]) == 1_000)
        #expect(taken([.limit(by: 0)]) == 0)
        #expect(taken([.limit(by: 1)]) == 1)
        #expect(taken([.limit(by: 7)]) == 7)
        #expect(taken([even, .limit(by: 3)]) == 5)
        #expect(taken([.limit(by: 3), even]) == 3)
        #expect(taken([.limit(by: 20), even, .limit(by: 2)]) == 3)
        #expect(taken([.limit(by: 4), oldestFirst]) == 4)
        #expect(taken([.limit(by: 4), .find { $0.age(.less(than: 0)) }]) == 4)
    }

    @Test("a sort reads all items, unless the limit is 0") func sortsReadAll() {
        #expect(taken([oldestFirst]) == 1_000)
        #expect(taken([oldestFirst, .limit(by: 3)]) == 1_000)
        #expect(taken([oldestFirst, .limit(by: 0)]) == 0)
    }

    @Test("items without an object don't count toward the limit") func itemsWithoutObjects() {
        let source = Source(100)
        let left = Query<Citizen>.run([.limit(by: 3)], over: source) { item in
            item % 10 == 0 ? Citizen(name: "\(item)") : nil
        }
        #expect(left == [0, 10, 20])
        #expect(source.taken == 21)
    }

    private struct Unreadable: Error {}

    @Test("errors end the query") func errors() {
        let source = Source(100)
        #expect(throws: Unreadable.self) {
            _ = try Query<Citizen>.run([oldestFirst], over: source) { item in
                if item == 5 { throw Unreadable() }
                return Citizen(name: "\(item)")
            }
        }
        #expect(source.taken == 6)
    }

    @Test("a query can run again") func repeatedRuns() {
        let queries = [even, .limit(by: 2), oldestFirst]
        #expect(run(queries, Source(10)) == [2, 0])
        #expect(run(queries, Source(10)) == [2, 0])
    }

    @Test("builders can be stored and continued") func storedBuilders() {
        let archive = Shelf((0..<10).map { Citizen(name: "\($0)", age: $0) })
        let found = archive.findWhere { $0.age(.greater(than: 4)) }
        let limited = found.limitResults(by: 2)
        #expect(found.queries.count == 1 && limited.queries.count == 2)
        #expect(found.getResults().count == 5)
        #expect(limited.getResults().map(\.age) == [5, 6])
        #expect(archive.process(queries: limited.queries) == limited.getResults())
        #expect(found.firstResult()?.age == 5 && found.lastResult()?.age == 9)
        #expect(limited.lastResult()?.age == 6)
        #expect(archive.limitResults(by: 0).firstResult() == nil)
        #expect(archive.limitResults(by: -3).lastResult() == nil)
    }
}
