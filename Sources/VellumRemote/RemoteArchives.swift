import Foundation
import StorageEngine
import Synchronization
import Vellum

/// The behavior of an archive while its tier doesn't report changes, because the connection is lost.
public enum UntrackedBehavior: Sendable, Hashable {
    /// Doesn't use near copies: requests each object from the tier, and fails while it is unreachable.
    case refuse
    /// While the tier is unreachable, uses near copies, for at most this time since the connection was lost (before the first
    /// connection: since the archive was requested). Uses only copies that were up to date then, and those that a process of this
    /// machine stored at most this time ago. Counts each such access (``RemoteStatistics/staleHits``).
    case serveStale(for: Duration)
}

/// The archive of one type whose objects a ``RemoteTier`` keeps for several machines, with copies in this process's memory and on
/// this machine's disk. Safe from any thread.
///
/// `record` stores an object at the tier and then here. `access` searches memory, disk and then the tier, and stores a copy here. The
/// tier reports changes by others to each process, and a process uses a copy only if it would have got a report of a change. So an
/// object is never older than ``RemoteTier/staleness``, unless ``UntrackedBehavior/serveStale(for:)`` allows it.
///
/// The near copies are an archive of the store, named `Type@tier`, with its own limits. The browser shows it. Don't store objects in
/// it: those that aren't at the tier are dropped.
///
/// These calls block while they wait for the disk or the tier; those of ``asynchronous`` don't.
public final class RemoteArchives<Object: Archivable>: @unchecked Sendable {
    @usableFromInline let near: ArchiveHandle<Object>
    let tier: any RemoteTier
    private let listener: NearCopies<Object>
    let space: any RemoteSpace
    let tracking: CopyTracking
    let untracked: UntrackedBehavior
    let lifetime: Duration?
    let behind: WriteBehind<Object>?
    let fetches = Guarded<[ExactText: Fetch]>([:])
    let counts = RemoteCounts()

    init(
        _ manager: ArchiveManager<Object>, named name: String, _ tier: any RemoteTier,
        _ untracked: UntrackedBehavior, _ writes: RemoteWrites, lifetime: Duration?
    ) {
        near = manager.handle
        self.tier = tier
        self.untracked = untracked
        self.lifetime = lifetime
        listener = NearCopies(near)
        tracking = listener.tracking
        space = tier.space(named: name, listener)
        behind =
            if case .behind(let keys, let bytes) = writes {
                WriteBehind(near, tracking, space, counts, tier: tier.name, mostKeys: keys, mostBytes: bytes)
            } else {
                nil
            }
    }

    deinit { space.close() }

    /// The same calls, which don't block the caller's thread.
    public var asynchronous: AsynchronousRemoteArchives<Object> { AsynchronousRemoteArchives(archives: self) }

    // MARK: Accesses

    /// Returns the object with this key; `nil` if the tier has none. A hit in memory is as fast as without a tier. A copy on disk that
    /// another or an earlier process stored is compared with the tier's object once.
    /// - Throws: ``RemoteError``, `StorageError`, `ArchiveError`.
    @inlinable
    public func access(_ key: String) throws -> Object? {
        if let object = try near.accessInMemory(key) { return object }
        return try accessRemote(key)
    }

    @usableFromInline
    func accessRemote(_ key: String) throws -> Object? {
        if let write = behind?.write(of: key) { return try object(of: .success(write.kept), key) }
        if let object = try near.perform({ try self.accessOnDisk($0, key) }) { return object }
        var found = try found(BlockingExecutor.wait { fetch(key, blocking: true, $0) }, key)
        while case .notYet(let fetch) = found {
            found = try self.found(BlockingExecutor.wait { then in fetch.join(true, then).map(then) }, key)
        }
        if case .object(let object) = found { return object }
        return nil
    }

    func accessOnDisk(_ core: ArchiveCore<Object>, _ key: String) throws -> Object? {
        guard let sequence = try core.archive.sequence(of: key), tracking.trusts(key, sequence),
            let object = try core.accessOnDisk(key, unless: { !tracking.trusts(key, sequence) })
        else { return nil }
        // If tracking was lost since, memory has been emptied. Another process may have replaced the copy.
        if tracking.trusts(key, sequence), try core.archive.sequence(of: key) == sequence { return object }
        try core.leaveMemory(key)
        return nil
    }

    // MARK: Changes

    /// Stores the object at the tier, then here; with ``RemoteWrites/behind(mostKeys:mostBytes:)`` here first.
    /// - Throws: ``RemoteError``: after `unanswered` the tier may have the object; after others it is unchanged.
    ///   `StorageError` and `ArchiveError` as `ArchiveManager.throwing.record`, after the tier has stored the object.
    public func record(_ object: Object, options: EntryOptions = EntryOptions()) throws {
        let change = try begin(object, options)
        if let behind { return try keep(change, behind) }
        let answer = BlockingExecutor.wait { store(change, $0) }
        try finish(change, answer)
    }

    /// Deletes the object with this key, for all machines. Returns whether there was one (with
    /// ``RemoteWrites/behind(mostKeys:mostBytes:)``: here).
    @discardableResult
    public func delete(_ key: String) throws -> Bool {
        if let behind { return try delete(key, behind) }
        let ticket = tracking.begin(key)
        let answer = BlockingExecutor.wait { space.delete(key, $0) }
        return try finishDeletion(of: key, ticket, answer)
    }

    /// Deletes all objects, or those of an owner, for all machines, after queued changes are sent. Returns their number. Not atomic:
    /// an object that is recorded during the deletion may stay, perhaps without its owner if all are deleted. The tier scans all of
    /// its keys, or the owner's; in a cluster at least twice all, because keys may move.
    /// - Throws: ``RemoteError``: after `unanswered` objects may be deleted; call it again.
    @discardableResult
    public func deleteAll(ofOwner owner: String? = nil) throws -> Int {
        try EntryAttributes(owner: owner).validate()
        try flush()
        let answer = BlockingExecutor.wait { space.deleteAll(ofOwner: owner, $0) }
        return try finishDeletion(ofOwner: owner, answer)
    }

    /// Sets the object's TTL for all machines; `nil`: no expiry. Returns whether the object exists.
    @discardableResult
    public func expire(_ key: String, in lifetime: Duration?) throws -> Bool {
        try flush()
        let ticket = tracking.begin(key)
        let answer = BlockingExecutor.wait { space.expire(key, in: lifetime, $0) }
        // The near copy has the former TTL, so it is dropped.
        return try finishDeletion(of: key, ticket, answer)
    }

    /// Waits until all queued changes are sent.
    /// - Throws: ``RemoteError/unreachable(tier:reason:)`` after the timeout.
    public func flush(within longest: Duration = .seconds(10)) throws {
        guard let behind else { return }
        let end = ContinuousClock.now + longest
        while behind.counts.keys > 0 {
            guard .now < end else { throw stillWaiting(behind) }
            usleep(1000)
        }
    }

    func stillWaiting(_ behind: WriteBehind<Object>) -> RemoteError {
        .unreachable(
            tier: tier.name,
            reason: tier.health.trouble ?? "\(behind.counts.keys) changes still wait to be sent")
    }

    // MARK: State

    /// Whether the tier reports changes by others to this process.
    public var isTracked: Bool { tracking.isTracked }

    /// The statistics of this archive and of the tier's connection.
    public func statistics() throws -> RemoteStatistics {
        statistics(try near.perform { try $0.statistics() })
    }

    /// The statistics if the near archive is open; never reopens it.
    func presentStatistics() throws -> RemoteStatistics? {
        let core = near.core
        guard !core.archive.closeIfRemoved() else { return nil }
        return statistics(try core.statistics())
    }

    private func statistics(_ near: ArchiveStatistics) -> RemoteStatistics {
        RemoteStatistics(
            near: near, health: tier.health, isTracked: isTracked, counts,
            waiting: behind?.counts ?? (0, 0, 0))
    }
}
