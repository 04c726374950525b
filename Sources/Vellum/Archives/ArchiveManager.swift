import Foundation
import StorageEngine

/// The archive of one type: objects in memory and on disk, bounded in bytes, the least recently used evicted first.
/// ``ArchivesFactory`` gives it out. Safe from any thread, and shared with other processes that open the store.
///
/// Storing: the object is encoded, takes the place of the one of its key in both tiers and becomes the most recent in
/// both; what then doesn't fit is evicted, in each tier. Looking up: memory; else disk, and then into memory; else
/// `nil`. What one process deletes, replaces or lets expire, no other returns from its memory afterwards.
///
/// Objects are values here: changing one changes nothing in the archive until it is recorded again, and no other caller sees
/// the change. Where the type proves that, by being a `Sendable` structure or enum, memory has the object itself; else it has
/// its bytes, of which each access makes a new one (<doc:TwoTiers>, "Objects are values").
///
/// The calls here don't throw. What could not be done is logged (``ArchivesFactory/logger``), counted, and shown by the
/// browser. Each has a twin that throws in ``throwing``, and one that doesn't block its caller in ``asynchronous``.
public final class ArchiveManager<Archive: Archivable>: Archivist, @unchecked Sendable {
    let handle: ArchiveHandle<Archive>
    /// The archive as it was opened last.
    package var core: ArchiveCore<Archive> { handle.core }

    init(_ handle: ArchiveHandle<Archive>) { self.handle = handle }

    /// The same calls, which throw.
    public var throwing: ThrowingArchives<Archive> { ThrowingArchives(handle: handle) }

    /// The same calls, which throw and let their caller's thread go while they wait for the disk or another process.
    public var asynchronous: AsynchronousArchives<Archive> { AsynchronousArchives(handle: handle) }

    /// Runs `body`, and logs what it throws.
    @inline(__always)
    func attempt<Value>(
        _ operation: StaticString, _ key: String? = nil, else fallback: Value,
        _ body: (ArchiveCore<Archive>) throws -> Value
    ) -> Value {
        do {
            return try handle.perform(body)
        } catch {
            handle.log("\(operation)", key, error)
            return fallback
        }
    }

    // MARK: Storing

    /// Stores the object in both tiers, replacing the one of its key, and makes it the most recent. Costs its encoding and one
    /// write into mapped memory. What is larger than a tier's limit is not stored in that tier; larger than both, it is logged
    /// and counted (``ArchiveStatistics/rejections``), and what was there before stays.
    public func record(_ object: Archive) {
        store("record", object, .new())
    }

    /// As ``record(_:)``, and an object that was there keeps its creation time, its lifetimes, of which no time begins
    /// anew, and its owner. If there was none, it is inserted without any.
    public func update(_ object: Archive) {
        store("update", object, .updated())
    }

    /// As ``update(_:)`` with other terms; what is `nil` stays as it is, except what is dropped.
    /// - Parameters:
    ///   - lifetime: after this, from now on, the object is found no more.
    ///   - memoryLifetime: as of ``record(_:expiresIn:inMemory:owner:)``.
    ///   - owner: 1 to 255 bytes of UTF-8.
    ///   - dropped: what the object has no more.
    public func update(
        _ object: Archive, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, dropping dropped: Set<ArchiveTerm> = []
    ) {
        store(
            "update", object,
            .updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner, dropping: dropped))
    }

    /// As ``record(_:)`` for an object that has an owner, by which objects that belong together can be deleted.
    /// - Parameter owner: 1 to 255 bytes of UTF-8; `nil`: none.
    public func record(_ object: Archive, owner: String?) {
        store("record", object, .new(owner: owner))
    }

    /// As ``record(_:)`` for an object that expires after this many seconds; then it is found no more.
    public func record(_ object: Archive, expiresIn seconds: TimeInterval, owner: String? = nil) {
        store("record", object, .new(lifetime: .seconds(seconds), owner: owner))
    }

    /// As ``record(_:)`` for an object that expires.
    /// - Parameters:
    ///   - lifetime: after this the object is found no more.
    ///   - memoryLifetime: after this the object leaves the memory of a process, and is read from disk when it is
    ///     accessed again, from when it counts anew; `nil`: it stays as long as there is room.
    public func record(
        _ object: Archive, expiresIn lifetime: Duration, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) {
        store("record", object, .new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner))
    }

    /// Records the objects on the same terms, one after the other; the last one is the most recent then.
    public func insert(
        all objects: [Archive], expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) {
        let terms = Terms.new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner)
        for object in objects { store("record", object, terms) }
    }

    /// Records objects that are written out, as ``insert(all:expiresIn:inMemory:owner:)`` does.
    public func insert(
        _ objects: Archive..., expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) {
        insert(all: objects, expiresIn: lifetime, inMemory: memoryLifetime, owner: owner)
    }

    private func store(_ operation: StaticString, _ object: Archive, _ terms: Terms) {
        attempt(operation, object.primaryKey, else: ()) { try $0.store(object, terms) }
    }

    // MARK: Reading

    /// The object of a key, which becomes the most recent in both tiers and counts as a hit; `nil`, counted as a miss, if there
    /// is none or it has expired. From memory it costs a look-up in a table and one word of the index, from disk its decoding.
    public func access(archiveWithKey key: String) -> Archive? {
        // Not by `attempt`, in which the optional of a generic type costs more than a hit in memory.
        do {
            return try handle.access(key)
        } catch let error as ArchiveError where error.isNewerVersion {
            // Told of where it was met first.
            return nil
        } catch {
            handle.log("access", key, error)
            return nil
        }
    }

    /// The object of a key without any trace: it does not become more recent, is not counted, and stays in the tier
    /// that it is in.
    public func peek(archiveWithKey key: String) -> Archive? {
        attempt("peek", key, else: nil) { try $0.peekIfKnown(key) }
    }

    /// The most recent objects, at most `limit`, the most recent first; 0 and less: none. Counts as an access of each, keeps
    /// their order, and brings none into memory that is not there. Costs a list of the archive's keys, and the reading of each. All are
    /// as they were at one moment.
    public func accessAll(limitedBy limit: Int) -> [Archive] {
        attempt("access all", else: []) { try $0.accessAll(limit: limit) }
    }

    /// As ``accessAll(limitedBy:)`` without a limit: all objects are in memory at once.
    public func accessAll() -> [Archive] { accessAll(limitedBy: .max) }

    /// What the queries leave of all objects, one query after the other; most recent first unless sorted. Counts as an access of
    /// each result only. Costs the decoding of every object that a query looks at.
    ///
    /// The results are those of one moment: no query finds one object as it was before a transaction and another as it is after.
    /// If somebody changes the archive while the queries look at it, they look once more, at a snapshot, so closures may be called
    /// twice for an object.
    public func process(queries: [Query<Archive>]) -> [Archive] {
        attempt("process queries", else: []) { try $0.process(queries) }
    }

    /// How many objects the queries leave. Leaves no trace.
    public func countResults(of queries: [Query<Archive>]) -> Int {
        attempt("process queries", else: 0) { try $0.seen(by: queries).count }
    }

    /// Deletes what the queries leave, except what is stored anew after it was found, and returns how many that were.
    @discardableResult
    public func deleteResults(of queries: [Query<Archive>]) -> Int {
        attempt("delete results", else: 0) { try $0.deleteResults(of: queries) }
    }

    /// When the object of this key was last recorded or accessed by any process, right within some milliseconds; `nil` if there
    /// is none. Leaves no trace.
    public func latestAccessedTime(for key: String) -> Date? {
        attempt("look up", key, else: nil) { try $0.latestAccess(key) }
    }

    // MARK: Deleting

    /// Deletes the object of a key, for all processes; nothing happens if there is none.
    public func delete(archiveWithKey key: String) {
        attempt("delete", key, else: ()) { try $0.delete(key) }
    }

    /// Deletes all objects, in one step for all processes.
    public func deleteAll() {
        attempt("delete all", else: ()) { try $0.deleteAll() }
    }

    /// Deletes all objects of an owner.
    public func deleteAll(ofOwner owner: String) {
        attempt("delete all of an owner", else: ()) { try $0.deleteAll(ofOwner: owner) }
    }

    /// Deletes the objects whose last access is longer ago than this many seconds. Costs a walk over the index.
    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {
        attempt("delete idle objects", else: ()) {
            try $0.deleteIdle(longerThan: .seconds(invalidateTimeInterval))
        }
    }

    // MARK: Stale values

    /// Keys of stored values that are no objects of the type (any more). Costs the decoding of all objects; leaves no trace.
    public func staleKeys() -> [String] {
        attempt("look for stale values", else: []) { try $0.staleVersions().map(\.name) }
    }

    /// Deletes the stored values that are no objects of the type (any more), and returns how many that were. Costs the
    /// decoding of all objects.
    @discardableResult
    public func deleteStale() -> Int {
        attempt("delete stale values", else: 0) { try $0.delete($0.staleVersions()) }
    }

    // MARK: Sizes

    /// Most bytes that the encoded objects of both tiers may have together: the sum of the two limits.
    public var maxSize: Int { attempt("read the sizes", else: 0) { try $0.maxSizes().both } }
    /// Bytes that the encoded objects of both tiers have together; one that is in both counts twice.
    public var currentSize: Int { attempt("read the sizes", else: 0) { try $0.currentSizes().both } }

    /// Most bytes that the encoded objects in this process' memory may have together.
    public var maxMemorySize: Int { attempt("read the sizes", else: 0) { try $0.maxSizes().memory } }
    /// Most bytes that the encoded objects on disk may have together.
    public var maxDiskSize: Int { attempt("read the sizes", else: 0) { try $0.maxSizes().disk } }
    /// Bytes of the encoded objects in this process' memory. Costs a look at each if anything has changed since.
    public var currentMemorySize: Int {
        attempt("read the sizes", else: 0) { try $0.currentSizes().memory }
    }
    /// Bytes of the encoded objects on disk.
    public var currentDiskSize: Int { attempt("read the sizes", else: 0) { try $0.currentSizes().disk } }

    /// Changes the limits, for all processes and for good; what no longer fits is evicted at once, in the memory of
    /// another process with its next call. `nil` leaves a limit as it is.
    public func resize(memory: Int? = nil, disk: Int? = nil) {
        attempt("resize", else: ()) { try $0.resize(memory: memory, disk: disk) }
    }

    /// What happened in the archive since it was made, and what it holds now.
    public var statistics: ArchiveStatistics? {
        attempt("read the statistics", else: nil) { try $0.statistics() }
    }
}

extension Duration {
    /// Seconds as a `TimeInterval` has them; what no duration has is the longest one, and what is none is none.
    static func seconds(_ interval: TimeInterval) -> Duration {
        guard interval > 0 else { return .zero }
        return interval < 1e15 ? .microseconds(Int64(interval * 1e6)) : .microseconds(Int64.max)
    }
}
