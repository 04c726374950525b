import BrowserCore
import StorageEngine
import StoreInspection
import Testing

struct ArchiveHistoryTests {
    @Test func historyKnowsRatesAndForgetsWhatIsOld() {
        var history = ArchiveHistory()
        let new = ArchiveStatus(name: "A", configuration: ArchiveConfiguration())
        var counters = new
        #expect(history.now == nil)
        for step in 0..<100 {
            counters.hits += 15
            counters.misses += 5
            counters.evictions += 2
            history.add(counters, at: Fixture.start.adding(seconds: Double(step) * 0.2))
        }
        #expect(history.now?.operations.rounded() == 100)
        #expect(history.now?.evictions.rounded() == 10)
        #expect(history.now?.hitRatio == 0.75)
        #expect((18...20).contains(history.points.count))
        // Counters that went back belong to an archive made anew.
        history.add(new, at: Fixture.start.adding(seconds: 30))
        #expect(history.points.last?.operations == 0)
    }

    /// Hours are kept in a bounded number of points, and no operation is lost by their becoming coarser.
    @Test func theLongerAgoTheCoarser() throws {
        var history = ArchiveHistory()
        var counters = ArchiveStatus(name: "A", configuration: ArchiveConfiguration())
        let hours = 14
        for second in 0...(hours * 3600) {
            // One second in a hundred holds more and does more.
            let isPeak = second % 100 == 50
            counters.hits += isPeak ? 1000 : 10
            counters.diskBytes = isPeak ? 900 : 100
            history.add(counters, at: Fixture.start.adding(seconds: Double(second)))
        }
        #expect(history.count <= 300 + 360 + 720)
        let end = Fixture.start.adding(seconds: Double(hours * 3600))
        for span: Double in [60, 300, 3600, 43_200] {
            let points = history.points(seconds: span)
            #expect(zip(points, points.dropFirst()).allSatisfy { $0.end <= $1.start }, "\(span)")
            #expect(points.last?.end == end, "\(span)")
            let columns = GraphColumn.columns(50, seconds: span, until: end, of: [history])
            #expect(columns.allSatisfy { $0 != nil }, "\(span)")
            // 100 seconds have 99 × 10 + 1000 operations.
            let mean = columns.compactMap { $0?.operations }.reduce(0, +) / 50
            if span >= 300 { #expect(abs(mean - 19.9) < 1, "\(span): \(mean)") }
        }
        // A peak of a second is still seen hours later.
        let day = GraphColumn.columns(20, seconds: 12 * 3600, until: end, of: [history])
        #expect(day.allSatisfy { $0?.disk == 900 })
        // Nobody looked before.
        let before = GraphColumn.columns(
            10, seconds: 100, until: Fixture.start.adding(seconds: 20), of: [history])
        #expect(before.allSatisfy { $0 == nil })
    }

    @Test func aClockThatIsSetBackBeginsAnew() throws {
        var history = ArchiveHistory()
        var counters = ArchiveStatus(name: "A", configuration: ArchiveConfiguration())
        func add(_ seconds: ClosedRange<Int>) {
            for second in seconds {
                counters.hits += 10
                history.add(counters, at: Fixture.start.adding(seconds: Double(second)))
            }
        }
        add(0...1000)
        add(500...520)
        #expect(history.now?.operations == 10)
        let end = Fixture.start.adding(seconds: 520)
        for span: Double in [60, 900] {
            let points = history.points(seconds: span)
            #expect(points.last?.end == end && points.allSatisfy { $0.end <= end })
            #expect(zip(points, points.dropFirst()).allSatisfy { $0.end <= $1.start }, "\(span)")
        }
    }

    @Test func archivesTogetherAreTheirSum() throws {
        var histories = [ArchiveHistory(), ArchiveHistory()]
        var counters = ArchiveStatus(name: "A", configuration: ArchiveConfiguration())
        counters.diskBytes = 100
        for second in 0...10 {
            counters.hits += 6
            counters.misses += 2
            histories[0].add(counters, at: Fixture.start.adding(seconds: Double(second)))
            if second >= 5 { histories[1].add(counters, at: Fixture.start.adding(seconds: Double(second))) }
        }
        let columns = GraphColumn.columns(
            2, seconds: 10, until: Fixture.start.adding(seconds: 10), of: histories)
        let sums = try columns.map { try #require($0) }
        #expect(sums.map { $0.operations.rounded() } == [8, 16])
        #expect(sums.map(\.disk) == [100, 200])
        #expect(sums.map(\.hitRatio) == [0.75, 0.75])
    }
}
