import TestSupport
import Testing
import Vellum

/// Compares random queries with the same steps in Swift's own methods.
@Suite struct RandomQueryTests {
    private typealias Plain = ([Citizen]) -> [Citizen]

    @Test("random queries have the results of plain Swift") func randomQueries() {
        var random = SeededGenerator.announced("random queries")
        var results = 0
        for round in 0..<400 {
            let citizens = (0..<Int.random(in: 0...600, using: &random)).map { citizen($0, &random) }
            let steps = (0..<Int.random(in: 0...5, using: &random)).map { _ in step(&random) }
            let expected = steps.reduce(citizens) { $1.plain($0) }.map(\.name)
            let found = Shelf(citizens).process(queries: steps.map(\.query)).map(\.name)
            #expect(found == expected, "round \(round): \(steps.map(\.query))")
            results += found.count
        }
        #expect(results > 2_000)
    }

    /// A store tests encoded values first.
    @Test("random queries over a store have the results of plain Swift") func randomQueriesInAStore() throws {
        var random = SeededGenerator.announced("random queries in a store")
        var results = 0
        var asked = 0
        for round in 0..<60 {
            let store = TemporaryStore()
            let archives = try store.factory().archives(for: Citizen.self, trySetMaxMemorySize: 4_000)
            let citizens = (0..<Int.random(in: 0...200, using: &random)).map { citizen($0, &random) }
            for citizen in citizens.reversed() { archives.record(citizen) }
            for _ in 0..<5 {
                let steps = (0..<Int.random(in: 0...5, using: &random)).map { _ in step(&random) }
                let queries = steps.map(\.query)
                if try archives.core.encodedPredicate(of: queries) != nil { asked += 1 }
                // Results become the most recent, so each query starts with the order that the previous one left.
                let present = try archives.keysByUse().compactMap { key in citizens.first { $0.name == key } }
                let expected = steps.reduce(present) { $1.plain($0) }.map(\.name)
                #expect(
                    archives.process(queries: queries).map(\.name) == expected, "round \(round): \(queries)")
                results += expected.count
            }
        }
        #expect(results > 2_000)
        #expect(asked > 60)
    }

    private func citizen(_ number: Int, _ random: inout SeededGenerator) -> Citizen {
        func few(_ most: Int) -> Int { Int.random(in: 0...most, using: &random) }
        return Citizen(
            name: "\(number)", age: few(9), nick: few(3) == 0 ? nil : String("Anna".prefix(few(4))),
            children: few(2) == 0 ? nil : few(3), tags: Array(["a", "b", "c"].prefix(few(3))),
            former: few(2) == 0 ? nil : Array(["x", "y"].prefix(few(2))),
            work: few(1) == 0 ? nil : .init(city: few(1) == 0 ? "Jakarta" : "Bandung"))
    }

    private func step(_ random: inout SeededGenerator) -> (query: Query<Citizen>, plain: Plain) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return sort(&random)
        case 5:
            let count = Int.random(in: -1...40, using: &random)
            return (.skip(by: count), { Array($0.dropFirst(max(0, count))) })
        case 1:
            let limit = Int.random(in: -1...400, using: &random)
            return (.limit(by: limit), { Array($0.prefix(max(0, limit))) })
        default: return find(&random)
        }
    }

    private func sort(_ random: inout SeededGenerator) -> (query: Query<Citizen>, plain: Plain) {
        let direction: QuerySortDirection = Bool.random(using: &random) ? .ascending : .descending
        let way = direction == .ascending ? 1 : -1
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return (.sort { $0.age(direction) }, stable { ($0.age - $1.age) * way })
        case 1:
            return (
                .sort { $0.children(direction).age(.descending) },
                stable {
                    switch ($0.children, $1.children) {
                    case (nil, nil): $1.age - $0.age
                    case (nil, _): 1
                    case (_, nil): -1
                    case (let left?, let right?): left == right ? $1.age - $0.age : (left - right) * way
                    }
                }
            )
        case 2:
            return (
                .sort { $0.work.city(direction) },
                stable {
                    switch ($0.work, $1.work) {
                    case (nil, nil): 0
                    case (nil, _): 1
                    case (_, nil): -1
                    case (let left?, let right?):
                        left.city < right.city ? -way : left.city > right.city ? way : 0
                    }
                }
            )
        default:
            return (
                .sort {
                    $0.manual(direction: direction) { left, right in
                        left.tags.count < right.tags.count
                            ? .leftLessThanRight
                            : left.tags.count > right.tags.count ? .leftGreaterThanRight : .leftEqualWithRight
                    }
                }, stable { ($0.tags.count - $1.tags.count) * way }
            )
        }
    }

    private func stable(_ compare: @escaping (Citizen, Citizen) -> Int) -> Plain {
        { citizens in
            citizens.enumerated().sorted { left, right in
                let order = compare(left.element, right.element)
                return order != 0 ? order < 0 : left.offset < right.offset
            }.map(\.element)
        }
    }

    private func find(_ random: inout SeededGenerator) -> (query: Query<Citizen>, plain: Plain) {
        let number = Int.random(in: 0...9, using: &random)
        let few = number % 4
        let letter = ["a", "b", "c", "n"][few]
        let finders: [((QueryFinder<Citizen>) -> QueryFinder<Citizen>, (Citizen) -> Bool)] = [
            ({ $0.age(.isEqual(number)) }, { $0.age == number }),
            ({ $0.age(.isNotEqual(with: number)) }, { $0.age != number }),
            ({ $0.age(.greater(than: number)) }, { $0.age > number }),
            ({ $0.age(.less(than: number)) }, { $0.age < number }),
            ({ $0.age(.greaterOrEqual(with: number)) }, { $0.age >= number }),
            ({ $0.age(.lessOrEqual(with: number)) }, { $0.age <= number }),
            ({ $0.children(.isEqual(few)) }, { $0.children == few }),
            ({ $0.children(.isNotEqual(few)) }, { $0.children != few }),
            ({ $0.children(.less(than: few)) }, { $0.children.map { $0 < few } ?? false }),
            ({ $0.nick(.contains(letter)) }, { $0.nick?.contains(letter) ?? false }),
            (
                { $0.nick(.contains(string: letter, caseSensitive: false)) },
                { $0.nick?.lowercased().contains(letter) ?? false }
            ),
            ({ $0.nick(.matches(regex: "\(letter)$")) }, { $0.nick?.hasSuffix(letter) ?? false }),
            ({ $0.nick(.isNil) }, { $0.nick == nil }),
            ({ $0.nick(.isNotNil) }, { $0.nick != nil }),
            ({ $0.nick(.isNilOrEmpty()) }, { ($0.nick ?? "").isEmpty }),
            ({ $0.nick(.isNotEmpty) }, { !($0.nick ?? "").isEmpty }),
            ({ $0.tags(.contains(with: letter)) }, { $0.tags.contains(letter) }),
            (
                { $0.tags(.contains(atLeastOne: ["b", letter])) },
                { $0.tags.contains("b") || $0.tags.contains(letter) }
            ),
            ({ $0.tags(.contains("a", letter)) }, { $0.tags.contains("a") && $0.tags.contains(letter) }),
            (
                { $0.tags(.contains(all: ["a", letter])) },
                { $0.tags.contains("a") && $0.tags.contains(letter) }
            ),
            ({ $0.tags(.countEqual(with: few)) }, { $0.tags.count == few }),
            ({ $0.tags(.countLess(than: few)) }, { $0.tags.count < few }),
            ({ $0.tags(.countGreaterOrEqual(with: few)) }, { $0.tags.count >= few }),
            ({ $0.nick(.countEqual(with: few)) }, { $0.nick?.count == few }),
            ({ $0.nick(.countGreater(than: few)) }, { ($0.nick?.count ?? -1) > few }),
            ({ $0.nick(.countLess(than: few)) }, { ($0.nick?.count ?? .max) < few }),
            ({ $0.nick(.countGreaterOrEqual(with: few)) }, { ($0.nick?.count ?? -1) >= few }),
            ({ $0.nick(.countLessOrEqual(with: few)) }, { ($0.nick?.count ?? .max) <= few }),
            ({ $0.former(.countGreater(than: few)) }, { ($0.former?.count ?? -1) > few }),
            ({ $0.former(.countLessOrEqual(with: few)) }, { ($0.former?.count ?? .max) <= few }),
            ({ $0.work.city(.isEqual("Jakarta")) }, { $0.work?.city == "Jakarta" }),
            ({ $0.work.city(.isNil) }, { $0.work == nil }),
            (
                { $0.age(.greater(than: few)).children(.isNotNil) },
                { $0.age > few && $0.children != nil }
            ),
            ({ $0.age(.isValid { $0 % 2 == 0 }) }, { $0.age % 2 == 0 }),
        ]
        let (conditions, isMet) = finders[Int.random(in: 0..<finders.count, using: &random)]
        let (others, areMet) = finders[Int.random(in: 0..<finders.count, using: &random)]
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return (.find { conditions($0) || others($0) }, { $0.filter { isMet($0) || areMet($0) } })
        case 1: return (.find { !conditions($0) }, { $0.filter { !isMet($0) } })
        case 2:
            return (
                .find { !(conditions($0) || !others($0)) && conditions($0) || others($0) },
                { $0.filter { areMet($0) } }
            )
        case 3:
            return (.find { !(conditions($0) && others($0)) }, { $0.filter { !(isMet($0) && areMet($0)) } })
        default: return (.find(conditions), { $0.filter(isMet) })
        }
    }
}
