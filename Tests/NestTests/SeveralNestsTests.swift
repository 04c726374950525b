import Foundation
import Nest
import TestSupport
import Testing

/// Nests that share a store, like those of several processes.
@Suite struct SeveralNestsTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "nest-\(UUID().uuidString)")

    private func nest() -> Nest { Nest(named: "N", store: folder) }

    @Test("an item replaced after its expiry on disk is not returned") func replacedAfterExpiry() {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (one, two) = (nest(), nest())
        one.persistanceIntervals.short = 0.3
        two.persistanceIntervals.short = 0.3
        let keys = ["ended", "removed", "kept"]
        for key in keys {
            one.add(item: "old", withKey: key, expirationPolicy: .never, andPersistancePolicy: .short)
        }
        for key in keys {
            #expect(holds { !one.isPersisted(key) })
            for _ in 0..<2 { #expect(one[key] as? String == "old", "still valid in memory") }
        }
        two.add(item: "new", withKey: "ended", expirationPolicy: .never, andPersistancePolicy: .short)
        #expect(holds { !two.isPersisted("ended") })
        two.add(item: "new", withKey: "removed", expirationPolicy: .never, andPersistancePolicy: .long)
        two.removeItem(with: "removed")
        #expect(one["ended"] == nil && one["removed"] == nil)
        for _ in 0..<2 { #expect(one["kept"] as? String == "old") }
    }
}
