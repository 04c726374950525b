import Foundation
import Nest
import TestSupport
import Testing

/// Nests that share a store, like those of several processes.
@Suite struct SeveralNestsTests {
    private let place = Place()

    @Test("an item replaced after its expiry on disk is not returned") func replacedAfterExpiry() {
        let (one, two) = (place.nest(), place.nest())
        one.persistanceIntervals.short = 0.3
        two.persistanceIntervals.short = 0.3
        let keys = ["ended", "removed", "kept"]
        for key in keys { one.add("old", key, .never, .short) }
        for key in keys {
            #expect(holds { !one.isPersisted(key) })
            for _ in 0..<2 { #expect(one[key] as? String == "old", "still valid in memory") }
        }
        two.add("new", "ended", .never, .short)
        #expect(holds { !two.isPersisted("ended") })
        two.add("new", "removed", .never, .long)
        two.removeItem(with: "removed")
        #expect(one["ended"] == nil && one["removed"] == nil)
        for _ in 0..<2 { #expect(one["kept"] as? String == "old") }
    }
}
