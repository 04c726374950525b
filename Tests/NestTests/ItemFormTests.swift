import Foundation
import Nest
import TestSupport
import Testing

/// Collections that aren't `Codable`, with all that may be in them, and hostile forms of such.
@Suite struct ItemFormTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "nest-\(UUID().uuidString)")

    private func nest() -> Nest { Nest(named: "N", store: folder) }
    private func done() { try? FileManager.default.removeItem(at: folder) }

    /// What broke: of an interval that is no number, or less than all, the item stayed in memory for ever once it was read.
    @Test func whatExpiresAtOnceDoesSoAgain() throws {
        defer { done() }
        let nest = nest()
        for interval: Double in [.nan, -Double.infinity, -1, 0] {
            nest.add(
                item: "x", withKey: "k", expirationPolicy: .custom(interval), andPersistancePolicy: .long)
            let again = self.nest()
            for nest in [nest, again] {
                #expect(nest["k"] as? String == "x")
                nest.clearExpired()
                #expect(nest.countInMemory == 0 || holds { nest.countInMemory == 0 }, "\(interval)")
            }
        }
    }
}
