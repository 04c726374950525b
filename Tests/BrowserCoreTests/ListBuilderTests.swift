import BrowserCore
import StoreInspection
import StorageEngine
import Testing

/// Sorting and filtering, compared with a simple implementation.
struct ListBuilderTests {
    private let source = Fixture.source()
    private static let column: [(EntryColumn, @Sendable (EntryMetadata, EntryMetadata) -> Bool)] = [
        (.key, { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }),
        (.size, { $0.valueBytes < $1.valueBytes }),
        (.hits, { $0.hits < $1.hits }),
        (.idle, { $0.accessed > $1.accessed }),
        (.age, { $0.created > $1.created }),
        (.expires, { ($0.expires?.microseconds ?? .max) < ($1.expires?.microseconds ?? .max) }),
        (.tier, { $0.tier.rawValue < $1.tier.rawValue }),
        (.owner, { ($0.owner ?? "\u{10ffff}") < ($1.owner ?? "\u{10ffff}") }),
        // Without queues, the least recently used entry is evicted first.
        (.queue, { $0.accessed < $1.accessed }),
    ]

    private func keys(_ source: MockSource, _ request: ArrangementRequest) throws -> [String] {
        let arranged = try ListBuilder(source: source, clock: { Fixture.start }).arrange(request)
        let arrangement = try #require(arranged?.arrangement)
        return try (0..<arrangement.count).compactMap {
            try arrangement.listing.key(at: arrangement.rows.index(atRow: $0))
        }
    }

    @Test(arguments: EntryColumn.allCases, [false, true])
    func sortsByEveryColumn(column: EntryColumn, descending: Bool) throws {
        let entries = source.with { $0.archives["City"]?.map(\.entry) ?? [] }
        let isOrdered = try #require(Self.column.first { $0.0 == column }?.1)
        var request = ArrangementRequest(
            in: ArchiveAddress("City", in: "/"), order: EntryOrder(column, descending: descending))
        request.visible = 10
        // Equal entries stay in LRU order in both directions; LRU order itself is reversed.
        let expected = entries.enumerated().sorted { left, right in
            let (a, b) = descending ? (right, left) : (left, right)
            if isOrdered(a.element, b.element) { return true }
            if isOrdered(b.element, a.element) { return false }
            return left.offset < right.offset
        }
        #expect(try keys(source, request) == expected.map(\.element.key))
        request.filter = "A"
        #expect(
            try keys(source, request) == expected.map(\.element.key).filter { $0.lowercased().contains("a") })
    }

    /// Regression: an escape typed character by character was searched among the matches of the backslash alone.
    @Test(arguments: [
        ("JAK", ["Jakarta"]), ("東", ["東京都"]), ("łÓDŹ", ["Łódź"]), ("\u{1b}[2", ["evil\u{1b}[2J\u{7}key"]),
        ("\\e[2J\\u{7}K", ["evil\u{1b}[2J\u{7}key"]), ("👧", ["👩‍👩‍👧 family"]),
        ("nothing", []), ("", Fixture.keys), ("^jak", ["Jakarta"]), ("a$", ["Jakarta", "Tirana", "Apia"]),
        ("kyiv|quito", ["Kyiv", "Quito"]), ("[2", ["evil\u{1b}[2J\u{7}key"]),
        ("!^.{0,7}$|e", ["👩‍👩‍👧 family", "São Paulo"]),
        ("!a", ["東京都", "大阪市", "evil\u{1b}[2J\u{7}key", "Wellington", "Kyiv", "Łódź", "Quito", "Nuuk"]),
    ])
    func filtersByPartsOfKeys(filter: String, expected: [String]) throws {
        var request = ArrangementRequest(in: ArchiveAddress("City", in: "/"), filter: filter)
        #expect(try keys(source, request) == expected)
        request.filter = ""
        for character in filter {
            request.base = try ListBuilder(source: source, clock: { Fixture.start }).arrange(request)?
                .arrangement
            request.filter.append(character)
        }
        #expect(try keys(source, request) == expected)
    }

    @Test func stopsOnRequest() throws {
        var request = ArrangementRequest(in: ArchiveAddress("City", in: "/"), order: EntryOrder(.key))
        request.filter = "a"
        let arranger = ListBuilder(source: source, clock: { Fixture.start }, progress: { _ in false })
        #expect(try arranger.arrange(request) == nil)
    }

    @Test(arguments: [(40 as UInt64, 1), (100_000, 0)])
    func victimsAreOldest(space: UInt64, count: Int) throws {
        source.with { state in
            let bytes = state.archives["City"]?.reduce(0) { $0 + UInt64($1.entry.valueBytes) } ?? 0
            state.summaries["City"]?.diskLimit = bytes + space
        }
        let request = ArrangementRequest(in: ArchiveAddress("City", in: "/"))
        let arranged = try ListBuilder(source: source, clock: { Fixture.start }).arrange(request)
        #expect(arranged?.arrangement.victims.indices == [15].dropLast(1 - count))
        source.with { $0.summaries["City"]?.kind = .collection }
        let kept = try ListBuilder(source: source, clock: { Fixture.start }).arrange(request)
        #expect(kept?.arrangement.victims.indices.isEmpty == true)
    }

    @Test(arguments: [0, 1, 2, 1000, 16_384, 16_385, 50_000])
    func stoppableSortSorts(count: Int) {
        var numbers = (0..<count).map { ($0 &* 7_919) % 10_007 }
        let expected = numbers.sorted()
        var shares: [Double] = []
        StoppableSort.sort(&numbers, by: <) { shares.append($0) }
        #expect(numbers == expected)
        #expect(shares == shares.sorted())
        #expect(shares.allSatisfy { (0...1).contains($0) })
    }
}
