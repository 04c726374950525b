import StorageEngine
import TestSupport
import Testing

@Suite struct NumberSortTests {
    private static let kinds: [@Sendable (inout SeededGenerator) -> Int64] = [
        { _ in 7 }, { Int64.random(in: 0...3, using: &$0) }, { Int64.random(in: -5_000...5_000, using: &$0) },
        { Int64.random(in: .min ... .max, using: &$0) }, { Bool.random(using: &$0) ? .min : .max },
        { Int64.random(in: 1_700_000_000_000_000...1_800_000_000_000_000, using: &$0) },
    ]

    @Test("is stable in both directions", arguments: [0, 1, 2, 1_000, 70_000], [false, true])
    func stableSort(count: Int, descending: Bool) throws {
        var random = SeededGenerator(seed: UInt64(count))
        for kind in NumberSortTests.kinds {
            let numbers = (0..<count).map { _ in kind(&random) }
            var shares: [Double] = []
            let found = NumberSort.positions(of: numbers, descending: descending) { (share) throws(Never) in
                shares.append(share)
            }
            let expected = (0..<Int32(count)).sorted {
                let (a, b) = (numbers[Int($0)], numbers[Int($1)])
                return a == b ? $0 < $1 : descending ? a > b : a < b
            }
            #expect(found == expected)
            #expect(shares == shares.sorted() && shares.allSatisfy { (0...1).contains($0) })
        }
    }

    @Test("sorts elements in place", arguments: [0, 1, 2, 3, 5_000])
    func sortInPlace(count: Int) throws {
        struct Element: Equatable {
            var number: Int64
            var place: Int
        }
        var random = SeededGenerator(seed: UInt64(count))
        for kind in NumberSortTests.kinds {
            let elements = (0..<count).map { Element(number: kind(&random), place: $0) }
            for descending in [false, true] {
                var sorted = elements
                NumberSort.sort(&sorted, descending: descending) { $0.number }
                let expected = elements.sorted {
                    $0.number == $1.number
                        ? $0.place < $1.place
                        : descending ? $0.number > $1.number : $0.number < $1.number
                }
                #expect(sorted == expected)
            }
        }
    }

    private struct Stopped: Error {}

    @Test("can be stopped") func cancellation() {
        let numbers = (0..<200_000).map { Int64($0 % 1_000) }
        #expect(throws: Stopped.self) {
            try NumberSort.positions(of: numbers, descending: false) { (share) throws(Stopped) in
                if share > 0 { throw Stopped() }
            }
        }
    }
}
