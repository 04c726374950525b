import BrowserCore
import StorageEngine
import StoreInspection
import Testing

struct ArchiveHistoryTests {
    private var history = ArchiveHistory()
    private var counters = ArchiveStatus(name: "A", configuration: ArchiveConfiguration())

    /// Adds the counters at a time in seconds after the start.
    private mutating func add(at seconds: Double) {
        history.add(counters, at: Fixture.start.adding(seconds: seconds))
    }

    @Test mutating func historyHasRates() {
        let new = counters
        #expect(history.now == nil)
        for step in 0..<100 {
            counters.hits += 15
            counters.misses += 5
            counters.evictions += 2
            add(at: Double(step) * 0.2)
        }
        #expect(history.now?.operations.rounded() == 100)
        #expect(history.now?.evictions.rounded() == 10)
        #expect(history.now?.hitRatio == 0.75)
        #expect(RecentHits([history]).ratio == 0.75 && RecentHits([history]).window == "<1m")
        // Smaller counters belong to a recreated archive.
        let end = Fixture.start.adding(seconds: 30)
        history.add(new, at: end)
        #expect(GraphColumn.columns(1, step: 1, until: end, of: [history])[0]?.operations == 0)
    }

    @Test("a completed column keeps its values and its position")
    mutating func finishedColumnsStay() throws {
        var seen: [Int64: [Int64: GraphColumn]] = [:]
        for tick in 0..<600 {
            // A peak of half a second, sampled at intervals that divide no column.
            counters.hits += (200...201).contains(tick) ? 500 : 2
            counters.diskBytes = tick == 300 ? 900 : 100
            let now = Fixture.start.adding(seconds: Double(tick) * 0.23)
            history.add(counters, at: now)
            for step: Int64 in [1, 2, 5, 10, 60] {
                let last = GraphColumn.index(of: now, step: step)
                let columns = GraphColumn.columns(40, step: step, until: now, of: [history])
                for (place, column) in columns.dropLast().enumerated() {
                    guard let column else { continue }
                    let index = last - 39 + Int64(place)
                    if let before = seen[step, default: [:]][index] {
                        #expect(before == column, "column \(index) of \(step) s at \(tick)")
                    }
                    seen[step, default: [:]][index] = column
                }
            }
        }
        for (step, columns) in seen {
            #expect(columns.keys.allSatisfy { $0 >= GraphColumn.index(of: Fixture.start, step: step) })
            #expect(columns.values.count { $0.disk == 900 } == 1, "\(step)")
        }
    }

    @Test("the recent ratio covers the last minute only")
    mutating func recentRatioForgets() {
        (counters.hits, counters.misses) = (9_000, 1_000)
        #expect(RecentHits([history]).ratio == nil && RecentHits([history]).window == "<1m")
        for second in 0...100 {
            if second < 40 { counters.hits += 10 } else { counters.misses += 10 }
            add(at: Double(second))
        }
        #expect(RecentHits([history]).ratio == 0 && RecentHits([history]).window == "1m")
        #expect(counters.hitRatio.map { $0 > 0.8 } == true)
    }

    @Test("column widths are round and cover the requested time")
    func columnWidths() {
        for count in [1, 11, 39, 80, 140, 490] {
            for span: Double in [60, 300, 900, 3600, 43_200] {
                let step = GraphColumn.step(count, covering: span)
                #expect(Double(step) * Double(count) >= min(span, 43_200), "\(count) of \(span)")
                #expect(step <= 60 ? 60 % step == 0 : 86_400 % step == 0)
            }
        }
        #expect(GraphColumn.step(41, covering: 300) == 10 && GraphColumn.step(60, covering: 60) == 1)
    }

    /// Hours are kept in a bounded number of points, without losing operations.
    @Test mutating func olderPointsAreCoarser() throws {
        let hours = 14
        for second in 0...(hours * 3600) {
            // One second in a hundred has a peak.
            let isPeak = second % 100 == 50
            counters.hits += isPeak ? 1000 : 10
            counters.diskBytes = isPeak ? 900 : 100
            add(at: Double(second))
        }
        #expect(history.count <= 1500 + 1500 + 900)
        let end = Fixture.start.adding(seconds: Double(hours * 3600))
        for (step, count): (Int64, Int) in [(10, 60), (60, 60), (600, 70)] {
            let columns = GraphColumn.columns(count, step: step, until: end, of: [history])
            #expect(columns.allSatisfy { $0 != nil }, "\(step)")
            // 100 seconds have 99 × 10 + 1000 operations.
            let mean = columns.compactMap { $0?.operations }.reduce(0, +) / Double(count)
            if step * Int64(count) >= 3600 { #expect(abs(mean - 19.9) < 1, "\(step): \(mean)") }
        }
        // A peak of a second is visible hours later.
        let day = GraphColumn.columns(70, step: 600, until: end, of: [history])
        #expect(day.allSatisfy { $0?.disk == 900 })
        let before = GraphColumn.columns(
            10, step: 10, until: Fixture.start.adding(seconds: -20), of: [history])
        #expect(before.allSatisfy { $0 == nil })
    }

    @Test mutating func clockSetBackRestartsHistory() throws {
        for second in Array(0...1000) + Array(500...520) {
            counters.hits += 10
            add(at: Double(second))
        }
        #expect(history.now?.operations == 10)
        let end = Fixture.start.adding(seconds: 520)
        for (step, count): (Int64, Int) in [(1, 20), (10, 2)] {
            let columns = GraphColumn.columns(count, step: step, until: end, of: [history])
            #expect(columns.allSatisfy { $0?.operations.rounded() == 10 }, "\(step)")
            let later = GraphColumn.columns(count, step: step, until: end.adding(seconds: 600), of: [history])
            #expect(later.suffix(2).allSatisfy { $0 == nil }, "the future has values")
        }
    }

    @Test mutating func sumsHistories() throws {
        var histories = [ArchiveHistory(), ArchiveHistory()]
        counters.diskBytes = 100
        for second in 0...10 {
            counters.hits += 6
            counters.misses += 2
            histories[0].add(counters, at: Fixture.start.adding(seconds: Double(second)))
            if second >= 5 { histories[1].add(counters, at: Fixture.start.adding(seconds: Double(second))) }
        }
        let columns = GraphColumn.columns(2, step: 5, until: Fixture.start.adding(seconds: 10), of: histories)
        let sums = try columns.map { try #require($0) }
        #expect(sums.map { $0.operations.rounded() } == [8, 16])
        #expect(sums.map(\.disk) == [100, 200])
        #expect(sums.map(\.hitRatio) == [0.75, 0.75])
    }
}
