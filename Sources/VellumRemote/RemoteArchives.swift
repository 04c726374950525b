import Dispatch
import Foundation
import StorageEngine
import Synchronization
import Vellum

/// What an archive does while it isn't told of changes by others, because the connection to its tier is lost.
public enum UncoveredBehavior: Sendable, Hashable {
    /// Looks nothing up in near copies: asks the tier, and fails while that can't be reached.
    case refuse
    /// If the tier can't be reached, answers from near copies, for at most this time since the connection was lost (or, if there
    /// was none yet, since the archive was requested). Only from those that were known then to be what the tier has, and from
    /// those that a process of this machine stored at most this time ago. Each such answer is counted
    /// (``RemoteStatistics/staleHits``).
    case serveStale(for: Duration)
}

/// The archive of one type whose objects a ``RemoteTier`` keeps for several machines, with copies in this process's memory and on
/// this machine's disk. Safe from any thread.
///
/// `record` stores an object at the tier and then here. `access` looks in memory, on disk and then at the tier, and fills the
/// nearer ones. The tier tells every process of changes by others, and a copy is used only as long as this process would have
/// been told of a change since it got it: so an answer is never older than ``RemoteTier/staleness``, but where
/// ``UncoveredBehavior/serveStale(for:)`` allows it.
///
/// The near copies are an archive of the store like others, named `Type@tier`, with its own limits. The browser shows it. It is no
/// place to store objects: what isn't at the tier is dropped from it.
///
/// These calls block while they wait for the disk or the tier; those of ``asynchronous`` don't.
public final class RemoteArchives<Object: Archivable>: @unchecked Sendable {
    @usableFromInline let near: ArchiveHandle<Object>
    let tier: any RemoteTier
    private let listener: NearCopies<Object>
    let space: any RemoteSpace
    let coverage: Coverage
    let uncovered: UncoveredBehavior
    let lifetime: Duration?
    let behind: WriteBehind<Object>?
    /// The questions under way, which all callers share.
    let fetches = Guarded<[ExactText: Fetch]>([:])
    let counts = RemoteCounts()

    init(
        _ manager: ArchiveManager<Object>, named name: String, _ tier: any RemoteTier,
        _ uncovered: UncoveredBehavior, _ writes: RemoteWrites, lifetime: Duration?
    ) {
        near = manager.handle
        self.tier = tier
        self.uncovered = uncovered
        self.lifetime = lifetime
        listener = NearCopies(near)
        coverage = listener.coverage
        space = tier.space(named: name, listener)
        behind =
            if case .behind(let keys, let bytes) = writes {
                WriteBehind(near, coverage, space, counts, tier: tier.name, mostKeys: keys, mostBytes: bytes)
            } else {
                nil
            }
    }

    deinit { space.close() }

    /// The same calls, which don't block the caller's thread.
    public var asynchronous: AsynchronousRemoteArchives<Object> {
        AsynchronousRemoteArchives(archives: self)
    }

    // MARK: Looking up

    /// The object with this key; `nil` if the tier has none. A hit in memory costs what it does without a tier. A copy on disk that
    /// another process stored, or a former one of this program, is compared with the tier's once.
    /// - Throws: ``RemoteError``, `StorageError`, `ArchiveError`.
    @inlinable
    public func access(_ key: String) throws -> Object? {
        if let object = try near.accessInMemory(key) { return object }
        return try accessElsewhere(key)
    }

    @usableFromInline
    func accessElsewhere(_ key: String) throws -> Object? {
        if let write = behind?.write(of: key) { return try object(of: .success(write.kept), key) }
        if let object = try near.perform({ try self.accessOnDisk($0, key) }) { return object }
        var found = try found(waiting { fetch(key, blocking: true, $0) }, key)
        while case .notYet(let fetch) = found {
            found = try self.found(waiting { then in fetch.join(true, then).map(then) }, key)
        }
        if case .object(let object) = found { return object }
        return nil
    }

    /// The copy on disk, if it is trusted.
    func accessOnDisk(_ core: ArchiveCore<Object>, _ key: String) throws -> Object? {
        guard let sequence = try core.archive.sequence(of: key), coverage.trusts(key, sequence),
            let object = try core.accessOnDisk(key, unless: { !coverage.trusts(key, sequence) })
        else { return nil }
        // If cover ended now, memory was emptied before. Another process may also have replaced the copy, by an unknown one.
        if coverage.trusts(key, sequence), try core.archive.sequence(of: key) == sequence { return object }
        try core.leaveMemory(key)
        return nil
    }

    // MARK: Changing

    /// Stores the object at the tier, then here, on these terms (or here first, with ``RemoteWrites/behind(mostKeys:mostBytes:)``).
    /// - Throws: ``RemoteError``: with `unanswered` the tier may have it or not; with the others nothing was changed.
    ///   `StorageError` and `ArchiveError` as `ArchiveManager.throwing.record`; the tier has it then.
    public func record(
        _ object: Object, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) throws {
        let change = try begin(object, lifetime, memoryLifetime, owner)
        if let behind { return try keep(change, behind) }
        let answer = waiting { store(change, $0) }
        try finish(change, answer)
    }

    /// Deletes the object with this key, for all machines. Returns whether there was one (with
    /// ``RemoteWrites/behind(mostKeys:mostBytes:)``: here).
    @discardableResult
    public func delete(_ key: String) throws -> Bool {
        if let behind { return try delete(key, behind) }
        let ticket = coverage.begin(key)
        let answer = waiting { space.delete(key, $0) }
        return try finishDeletion(of: key, ticket, answer)
    }

    /// Deletes all objects, or those of an owner, for all machines. Returns their number. Not in one step: one that is recorded
    /// meanwhile may stay or not (and may be left without its owner, if all are deleted), and what waits to be sent is sent
    /// first. Costs the tier a pass over all keys it has, or over those of the owner; in a cluster at least two over all,
    /// because keys may move.
    /// - Throws: ``RemoteError``: with `unanswered` some may be deleted; call it again then.
    @discardableResult
    public func deleteAll(ofOwner owner: String? = nil) throws -> Int {
        try EntryAttributes(owner: owner).validate()
        try flush()
        let answer = waiting { space.deleteAll(ofOwner: owner, $0) }
        return try finishDeletion(ofOwner: owner, answer)
    }

    /// Lets the object expire after this time, for all machines, or not at all. Returns whether there is one.
    @discardableResult
    public func expire(_ key: String, in lifetime: Duration?) throws -> Bool {
        try flush()
        let ticket = coverage.begin(key)
        let answer = waiting { space.expire(key, in: lifetime, $0) }
        // The copy here has the former lifetime, so it goes, and the next access gets it anew.
        return try finishDeletion(of: key, ticket, answer)
    }

    /// Waits until the tier has all changes that this process made.
    /// - Throws: ``RemoteError/unreachable(tier:reason:)`` if some still wait after this time.
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

    /// Waits for an answer, on a thread that may be blocked.
    private func waiting<Answer: Sendable>(_ ask: (@escaping @Sendable (Answer) -> Void) -> Void) -> Answer {
        let answer = Guarded<Answer?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        ask { result in
            answer.withLock { $0 = result }
            isDone.signal()
        }
        isDone.wait()
        // It is set before the signal.
        return answer.withLock { $0 }!
    }

    // MARK: The whole

    /// Whether the tier tells this process of changes by others now.
    public var isCovered: Bool { coverage.isCovered }

    /// What has happened here and at the tier's connection.
    public func statistics() throws -> RemoteStatistics {
        statistics(try near.perform { try $0.statistics() })
    }

    /// The same if the near archive is open now; `nil`: it isn't, and isn't opened again for it.
    func presentStatistics() throws -> RemoteStatistics? {
        let core = near.core
        guard !core.archive.closeIfRemoved() else { return nil }
        return statistics(try core.statistics())
    }

    private func statistics(_ near: ArchiveStatistics) -> RemoteStatistics {
        RemoteStatistics(
            near: near, health: tier.health, isCovered: isCovered, counts,
            waiting: behind?.counts ?? (0, 0, 0))
    }
}
