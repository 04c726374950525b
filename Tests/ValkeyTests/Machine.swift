#if Valkey
import Foundation
import StorageEngine
import TestSupport
import Testing
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
        _ url: String, store: String = Machine.newStore(), whenUntracked: UntrackedBehavior = .refuse,
        writes: RemoteWrites = .through,
        _ change: (inout ValkeyTier.Options) -> Void = { _ in }
    ) throws {
        var options = ValkeyTier.Options()
        change(&options)
        tier = try ValkeyTier(url, options: options)
        parcels = try ArchivesFactory(storePath: store)
            .archives(for: Parcel.self, remote: tier, whenUntracked: whenUntracked, writes: writes)
    }

    /// A machine once its near copies are covered by the server's reports of changes.
    static func covered(
        _ url: String, store: String = Machine.newStore(), whenUntracked: UntrackedBehavior = .refuse,
        writes: RemoteWrites = .through, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout ValkeyTier.Options) -> Void = { _ in }
    ) async throws -> Machine {
        let machine = try Machine(url, store: store, whenUntracked: whenUntracked, writes: writes, change)
        #expect(try await machine.isTracked(), sourceLocation: sourceLocation)
        return machine
    }

    static func newStore() -> String { NSTemporaryDirectory() + "vellum-remote-" + UUID().uuidString }

    func isTracked() async throws -> Bool { try await eventually(within: 20) { parcels.isTracked } }
}
#endif
