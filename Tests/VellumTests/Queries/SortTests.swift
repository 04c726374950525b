import Testing
import Vellum

@Suite struct SortTests {
    private func sorted(
        _ citizens: [Citizen], _ orders: (QuerySorter<Citizen>) -> QuerySorter<Citizen>
    ) -> [String] {
        Shelf(citizens).sorted(orders).getResults().map(\.name)
    }

    private let citizens = [
        Citizen(name: "c1", age: 3, children: nil), Citizen(name: "a1", age: 1, children: 2),
        Citizen(name: "b1", age: 2, children: 1), Citizen(name: "a2", age: 1, children: nil),
        Citizen(name: "c2", age: 3, children: 2), Citizen(name: "b2", age: 2, children: 1),
    ]

    @Test("sorts are stable") func stableSorts() {
        #expect(sorted(citizens) { $0.age(.ascending) } == ["a1", "a2", "b1", "b2", "c1", "c2"])
        #expect(sorted(citizens) { $0.age(.descending) } == ["c1", "c2", "b1", "b2", "a1", "a2"])
        #expect(sorted(citizens) { $0 } == citizens.map(\.name))
    }

    @Test("absent values are last in both directions") func absentValues() {
        #expect(sorted(citizens) { $0.children(.ascending) } == ["b1", "b2", "a1", "c2", "c1", "a2"])
        #expect(sorted(citizens) { $0.children(.descending) } == ["a1", "c2", "b1", "b2", "c1", "a2"])
    }

    @Test("NaN is after all numbers, before absent values") func nan() {
        let heights = [Double.nan, 2, nil, 1, .infinity].enumerated().map {
            Citizen(name: "\($0)", height: $1)
        }
        #expect(sorted(heights) { $0.height(.ascending) } == ["3", "1", "4", "0", "2"])
        #expect(sorted(heights) { $0.height(.descending) } == ["4", "1", "3", "0", "2"])
    }

    @Test("the second order applies to equal values of the first") func severalOrders() {
        #expect(
            sorted(citizens) { $0.age(.descending).name(.descending) } == [
                "c2", "c1", "b2", "b1", "a2", "a1",
            ])
        #expect(
            sorted(citizens) { $0.children(.ascending).age(.descending).name(.descending) }
                == ["b2", "b1", "c2", "a1", "c1", "a2"])
    }

    @Test("the last of several sorts has precedence") func repeatedSorts() {
        let results = Shelf(citizens).sorted { $0.name(.descending) }.sorted { $0.age(.ascending) }
            .getResults()
        #expect(results.map(\.name) == ["a2", "a1", "b2", "b1", "c2", "c1"])
    }

    @Test("objects are sorted by properties of properties") func propertiesOfProperties() {
        let housed = [
            Citizen(name: "none", home: .init(city: "B", zip: nil), work: nil),
            Citizen(name: "2", home: .init(city: "C", zip: 2), work: .init(city: "X", zip: nil)),
            Citizen(name: "1", home: .init(city: "A", zip: 1), work: .init(city: "W", zip: 7)),
        ]
        #expect(sorted(housed) { $0.home.city(.ascending) } == ["1", "none", "2"])
        #expect(sorted(housed) { $0.home.zip(.descending) } == ["2", "1", "none"])
        #expect(sorted(housed) { $0.work.city(.ascending) } == ["1", "2", "none"])
        #expect(sorted(housed) { $0.work.zip(.ascending).work.city(.ascending) } == ["1", "2", "none"])
    }

    private func byLastLetter(_ left: Citizen, _ right: Citizen) -> QueryCompareResult {
        let (left, right) = (left.name.suffix(1), right.name.suffix(1))
        return left < right ? .leftLessThanRight : left > right ? .leftGreaterThanRight : .leftEqualWithRight
    }

    @Test("objects are sorted by comparators") func comparators() {
        #expect(
            sorted(citizens) { $0.manual(direction: .ascending, by: byLastLetter) }
                == ["c1", "a1", "b1", "a2", "c2", "b2"])
        #expect(
            sorted(citizens) { $0.manual(direction: .descending, by: byLastLetter).age(.ascending) }
                == ["a2", "b2", "c2", "a1", "b1", "c1"])
    }

    @Test("an inconsistent comparator loses no object") func inconsistentComparator() {
        var calls = 0
        let many = (0..<2_000).map { Citizen(name: "\($0)") }
        let names = sorted(many) {
            $0.manual(direction: .ascending) { _, _ in
                calls += 1
                return calls % 3 == 0 ? .leftLessThanRight : .leftGreaterThanRight
            }
        }
        #expect(Set(names) == Set(many.map(\.name)))
        #expect(names.count == 2_000)
    }

    /// More objects than are kept at once.
    @Test(
        "a limited sort has the first objects of the full sort",
        arguments: [1, 2, 255, 256, 257, 1_000, 9_999, 10_000, 20_000])
    func limitedSorts(limit: Int) {
        let many = (0..<10_000).map {
            Citizen(name: "\($0)", age: $0 * 7919 % 101, children: $0 % 7 == 0 ? nil : $0 % 5)
        }
        let expected = many.enumerated().sorted { left, right in
            if left.element.age != right.element.age { return left.element.age < right.element.age }
            return left.offset < right.offset
        }.map(\.element.name)
        let archive = Shelf(many)
        let found = archive.sorted { $0.age(.ascending) }.limitResults(by: limit).getResults().map(\.name)
        #expect(found == Array(expected.prefix(limit)))

        let all = archive.sorted { $0.children(.descending).age(.ascending) }.getResults().map(\.name)
        let first = archive.sorted { $0.children(.descending).age(.ascending) }.limitResults(by: limit)
            .getResults()
        #expect(first.map(\.name) == Array(all.prefix(limit)))
    }
}
