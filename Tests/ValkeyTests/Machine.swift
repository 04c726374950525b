#if Valkey
import Foundation
import StorageEngine
import TestSupport
import Vellum
import VellumRemote
import VellumValkey

struct Parcel: ArchiveCodable, Sendable, Equatable {
    var primaryKey: String { number }
    var number: String
    var weight = 0
    var note: String?
}

/// One of the machines that share a server, with its own store.
struct Machine {
    let tier: ValkeyTier
    let parcels: RemoteArchives<Parcel>

    init(
        _ url: String, store: String = Machine.newStore(), whenUncovered: UncoveredBehavior = .refuse,
        writes: RemoteWrites = .through,
        _ change: (inout ValkeyTier.Options) -> Void = { _ in }
    ) throws {
        var options = ValkeyTier.Options()
        change(&options)
        tier = try ValkeyTier(url, options: options)
        parcels = try ArchivesFactory(storePath: store)
            .archives(for: Parcel.self, remote: tier, whenUncovered: whenUncovered, writes: writes)
    }

    static func newStore() -> String { NSTemporaryDirectory() + "vellum-remote-" + UUID().uuidString }

    func isCovered() async throws -> Bool { try await eventually(within: 20) { parcels.isCovered } }
}
#endif
