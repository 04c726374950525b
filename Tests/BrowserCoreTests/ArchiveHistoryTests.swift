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
}
