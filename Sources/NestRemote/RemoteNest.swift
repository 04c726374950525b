import Foundation
import Nest
import StorageEngine
import Vellum
import VellumRemote

/// A nest whose items a `RemoteTier` keeps for several machines, with copies in this process's memory and on this machine's disk.
/// Safe from any thread.
///
/// ```swift
/// let nest = try RemoteNest(remote: try ValkeyTier("valkey://cache.example"))
/// try nest.add(item: report, withKey: "report", expirationPolicy: .short, andPersistancePolicy: .long)
/// ```
///
/// Items, keys, owners and policies are those of `Nest`. At the tier and on disk an item lives for the time of its persistance policy;
/// without one, for that of its expiration policy. In a process's memory it lives for the time of its expiration policy since it was
/// loaded. Changes by one machine apply to all of them. Consistency, stale copies and queued changes are those of `RemoteArchives`;
/// the near copies are in the archive `Nest@tier`.
///
/// Items that can't be stored on disk are refused. These calls block while they wait for the disk or the tier; those of
/// ``asynchronous`` don't.
public final class RemoteNest: Sendable {
    let items: RemoteArchives<NestItem>
    private let state = Guarded(State())

    private struct State: Sendable {
        var expiration = ExpirationIntervals()
        var persistance = PersistanceIntervals()
        var classes = ItemCoding.plainClasses
    }

    /// Parameters and errors are those of `ArchivesFactory.archives(for:named:remote:…)`, except:
    /// - Parameters:
    ///   - name: the nest's name at the tier; nests with the same name share their items.
    ///   - store: the folder of the store for near copies; `nil`: the program's.
    public init(
        named name: String = "Nest", store: URL? = nil, remote: any RemoteTier,
        whenUntracked untracked: UntrackedBehavior = .refuse, writes: RemoteWrites = .through,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0
    ) throws {
        let factory = store.map { ArchivesFactory(storePath: $0.path) } ?? ArchivesFactory.shared
        items = try factory.archives(
            named: name, remote: remote, whenUntracked: untracked, writes: writes,
            trySetMaxMemorySize: memorySize, trySetMaxDiskSize: diskSize)
    }

    /// The same calls, which don't block the caller's thread.
    public var asynchronous: AsynchronousRemoteNest { AsynchronousRemoteNest(nest: self) }

    // MARK: Items

    /// Adds or replaces an item for all machines.
    /// - Throws: `RemoteError` and `StorageError` as `RemoteArchives.record`, and errors of the item's encoding.
    public func add(
        item: Any, withKey key: String, expirationPolicy policy: ExpirationPolicy,
        andPersistancePolicy persistancePolicy: PersistancePolicy = .disabled
    ) throws {
        guard let addition = try addition(item, key, policy, persistancePolicy) else {
            return try removeItem(with: key)
        }
        try items.record(addition.item, options: addition.options)
    }

    /// The item with this key; `nil` if it is absent or has expired.
    public subscript(key: String) -> Any? {
        get throws { try items.access(key).map { try item(of: $0) } }
    }

    /// Removes the item with this key, for all machines.
    public func removeItem(with key: String) throws { try items.delete(key) }

    /// Removes all items, for all machines.
    public func clear() throws { try items.deleteAll() }

    /// Removes an owner's items, for all machines: those whose keys were made by `Nest.key(with:parameters:)` for this owner, which
    /// has 1 to 255 bytes.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public func clear(ItemsOf owner: String) throws { try items.deleteAll(ofOwner: owner) }

    // MARK: More

    /// The seconds of the expiration policies. A change applies to items that are added later.
    public var expirationIntervals: ExpirationIntervals {
        get { state.withLock { $0.expiration } }
        set { state.withLock { $0.expiration = newValue } }
    }

    /// The seconds of the persistance policies. A change applies to items that are added later.
    public var persistanceIntervals: PersistanceIntervals {
        get { state.withLock { $0.persistance } }
        set { state.withLock { $0.persistance = newValue } }
    }

    /// Allows reading objects of these classes from keyed archives. Foundation's plain classes are always allowed, and so are the
    /// classes of objects that this nest has added since the program started.
    public func allow(_ classes: AnyClass...) { allow(classes) }

    private func allow(_ new: [AnyClass]) {
        state.withLock { state in
            for one in new where !state.classes.contains(where: { $0 == one }) { state.classes.append(one) }
        }
    }

    /// Waits until all queued changes are sent.
    /// - Throws: `RemoteError.unreachable` after the timeout.
    public func flush(within longest: Duration = .seconds(10)) throws { try items.flush(within: longest) }

    /// Whether the tier reports changes by others to this process.
    public var isTracked: Bool { items.isTracked }

    /// The statistics of this nest and of the tier's connection.
    public func statistics() throws -> RemoteStatistics { try items.statistics() }

    // MARK: Steps of blocking and asynchronous calls

    /// `nil` if the item expires at once.
    func addition(
        _ item: Any, _ key: String, _ policy: ExpirationPolicy, _ persistancePolicy: PersistancePolicy
    ) throws -> (item: NestItem, options: EntryOptions)? {
        let (memory, disk) = state.withLock { ($0.expiration[policy], $0.persistance[persistancePolicy]) }
        let seconds = disk ?? memory
        guard seconds > 0 else { return nil }
        let encoded = try ItemCoding.encode(
            item, memory: memory, mirror: disk == nil && persistancePolicy == .mirror)
        allow(encoded.classes)
        let options = EntryOptions(
            expiresIn: RemoteNest.duration(seconds),
            inMemory: disk == nil ? nil : RemoteNest.duration(memory > 0 ? memory : 0),
            owner: OwnedKey.owner(of: key).flatMap { OwnedKey.canBeNamed($0) ? $0 : nil })
        return (NestItem(key, encoded.bytes, item), options)
    }

    func item(of found: NestItem) throws -> Any {
        try found.item(allowing: state.withLock { $0.classes })
    }

    /// `nil`: no expiry, also for more than 3,000 years.
    private static func duration(_ seconds: Double) -> Duration? {
        seconds < 1e11 ? .seconds(seconds) : nil
    }
}
