import Foundation
import Nest
import TestSupport
import Testing

/// Nests that share what is on disk, like those of several processes.
@Suite struct SeveralNestsTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "nest-\(UUID().uuidString)")

    private func nest() -> Nest { Nest(named: "N", store: folder) }

    /// What broke: once an item was returned after its time on disk, what others stored and removed later counted no more, and it
    /// was returned for ever.
    @Test func whatLeftTheDiskAndWasReplacedSinceIsGone() {
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
            for _ in 0..<2 { #expect(one[key] as? String == "old", "its time in memory goes on") }
        }
        two.add(item: "new", withKey: "ended", expirationPolicy: .never, andPersistancePolicy: .short)
        #expect(holds { !two.isPersisted("ended") })
        two.add(item: "new", withKey: "removed", expirationPolicy: .never, andPersistancePolicy: .long)
        two.removeItem(with: "removed")
        #expect(one["ended"] == nil && one["removed"] == nil)
        for _ in 0..<2 { #expect(one["kept"] as? String == "old") }
    }
}
