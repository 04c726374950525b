import Nest
import VellumRemote

/// The calls of ``RemoteNest`` for asynchronous code, which don't block the caller's thread.
public struct AsynchronousRemoteNest: Sendable {
    let nest: RemoteNest

    /// See ``RemoteNest/add(item:withKey:expirationPolicy:andPersistancePolicy:)``.
    public nonisolated(nonsending) func add(
        item: Any, withKey key: String, expirationPolicy policy: ExpirationPolicy,
        andPersistancePolicy persistancePolicy: PersistancePolicy = .disabled
    ) async throws {
        guard let addition = try nest.addition(item, key, policy, persistancePolicy) else {
            return try await removeItem(with: key)
        }
        try await nest.items.asynchronous.record(addition.item, options: addition.options)
    }

    /// Returns the item with this key; `nil` if it is absent or has expired.
    public nonisolated(nonsending) func item(withKey key: String) async throws -> Any? {
        guard let found = try await nest.items.asynchronous.access(key) else { return nil }
        return try nest.item(of: found)
    }

    /// See ``RemoteNest/removeItem(with:)``.
    public nonisolated(nonsending) func removeItem(with key: String) async throws {
        try await nest.items.asynchronous.delete(key)
    }

    /// See ``RemoteNest/clear()``.
    public nonisolated(nonsending) func clear() async throws { try await nest.items.asynchronous.deleteAll() }

    /// See ``RemoteNest/clear(ItemsOf:)``.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public nonisolated(nonsending) func clear(ItemsOf owner: String) async throws {
        try await nest.items.asynchronous.deleteAll(ofOwner: owner)
    }

    /// See ``RemoteNest/flush(within:)``.
    public nonisolated(nonsending) func flush(within longest: Duration = .seconds(10)) async throws {
        try await nest.items.asynchronous.flush(within: longest)
    }
}
