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
/// Items, keys, owners and policies are those of `Nest`. An item lives for the time of its persistance policy, at the tier and on
/// disk; without one, for that of its expiration policy. In a process's memory it is kept for the time of its expiration policy
/// from when it got there. What one machine adds or removes applies to all of them, and an answer is never older than with
/// `RemoteArchives`, on which this stands: single questions, near copies in the archive `Nest@tier`, stale answers and waiting
/// changes are as there.
///
/// An item must be one that can be stored on disk; others are refused. These calls block while they wait for the disk or the tier;
/// those of ``asynchronous`` don't.
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
    ///   - name: of the nest at the tier; nests with the same name there share their items.
    ///   - store: the folder of the store for near copies; `nil`: that of the program.
    public init(
        named name: String = "Nest", store: URL? = nil, remote: any RemoteTier,
        whenUncovered uncovered: UncoveredBehavior = .refuse, writes: RemoteWrites = .through,
        trySetMaxMemorySize memorySize: Int = 0, trySetMaxDiskSize diskSize: Int = 0
    ) throws {
        let factory = store.map { ArchivesFactory(storePath: $0.path) } ?? ArchivesFactory.shared
        items = try factory.archives(
            named: name, remote: remote, whenUncovered: uncovered, writes: writes,
            trySetMaxMemorySize: memorySize, trySetMaxDiskSize: diskSize)
    }

    /// The same calls, which don't block the caller's thread.
    public var asynchronous: AsynchronousRemoteNest { AsynchronousRemoteNest(nest: self) }

    // MARK: Items

    /// Keeps an item under a key, for all machines, and replaces the one there.
    /// - Throws: `RemoteError` and `StorageError` as `RemoteArchives.record`; what says why the item can't be encoded.
    public func add(
        item: Any, withKey key: String, expirationPolicy policy: ExpirationPolicy,
        andPersistancePolicy persistancePolicy: PersistancePolicy = .disabled
    ) throws {
        guard let addition = try addition(item, key, policy, persistancePolicy) else {
            return try removeItem(with: key)
        }
        try items.record(
            addition.item, expiresIn: addition.lifetime, inMemory: addition.inMemory, owner: addition.owner)
    }

    /// The item with this key; `nil` if there is none, or its time is over.
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

    /// Waits until the tier has all changes that this process made.
    /// - Throws: `RemoteError.unreachable` if some still wait after this time.
    public func flush(within longest: Duration = .seconds(10)) throws { try items.flush(within: longest) }

    /// Whether the tier tells this process of changes by others now.
    public var isCovered: Bool { items.isCovered }

    /// What has happened here and at the tier's connection.
    public func statistics() throws -> RemoteStatistics { try items.statistics() }

    // MARK: Steps, for callers that block and those that don't

    struct Addition {
        var item: NestItem
        var lifetime: Duration?
        var inMemory: Duration?
        var owner: String?
    }

    /// `nil` if its time is over at once.
    func addition(
        _ item: Any, _ key: String, _ policy: ExpirationPolicy, _ persistancePolicy: PersistancePolicy
    ) throws -> Addition? {
        let (memory, disk) = state.withLock { ($0.expiration[policy], $0.persistance[persistancePolicy]) }
        let seconds = disk ?? memory
        guard seconds > 0 else { return nil }
        let encoded = try ItemCoding.encode(
            item, memory: memory, mirror: disk == nil && persistancePolicy == .mirror)
        allow(encoded.classes)
        return Addition(
            item: NestItem(key, encoded.bytes, item), lifetime: RemoteNest.duration(seconds),
            // What isn't more than zero leaves memory at once.
            inMemory: disk == nil ? nil : RemoteNest.duration(memory > 0 ? memory : 0),
            owner: OwnedKey.owner(of: key).flatMap { OwnedKey.canBeNamed($0) ? $0 : nil })
    }

    func item(of found: NestItem) throws -> Any {
        try found.item(allowing: state.withLock { $0.classes })
    }

    /// `nil`: without end. So is what no clock lives to see.
    private static func duration(_ seconds: Double) -> Duration? {
        seconds < 1e11 ? .seconds(seconds) : nil
    }
}
