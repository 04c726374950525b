import Foundation

extension ArchiveManager: Archivist {
    /// Throwing versions of the calls that don't throw.
    public var throwing: ThrowingArchives<Object> { ThrowingArchives(handle: handle) }

    /// Throwing calls that don't block the caller's thread while they wait for the disk or another process.
    public var asynchronous: AsynchronousArchives<Object> { AsynchronousArchives(handle: handle) }

    // MARK: Storing

    /// Stores the object in both tiers, replaces the object with its key, and makes it the most recent. Costs the
    /// encoding and one write into mapped memory. An object that exceeds a tier's limit isn't stored in that tier. If
    /// it exceeds both, that is logged and counted (``ArchiveStatistics/rejections``), and nothing changes.
    public func record(_ object: Object) { store("record", object, ResolvedOptions()) }

    /// As ``record(_:)``, but an existing entry keeps its creation time, its owner and its lifetimes, which don't
    /// restart. A new object has neither owner nor lifetimes.
    public func update(_ object: Object) { store("update", object, .updated()) }

    /// As ``record(_:)``, with options.
    public func record(_ object: Object, options: EntryOptions) { store("record", object, .new(options)) }

    /// As ``update(_:)``, with options to change.
    public func update(_ object: Object, options: EntryOptions) { store("update", object, .updated(options)) }

    /// Records the objects, one after the other. The last one is the most recent afterwards.
    public func insert(all objects: [Object], options: EntryOptions) {
        for object in objects { record(object, options: options) }
    }

    private func store(_ operation: StaticString, _ object: Object, _ options: ResolvedOptions) {
        attempt(operation, object.primaryKey, else: ()) { try $0.store(object, options) }
    }

    // MARK: Reading

    /// The object with this key. It becomes the most recent in both tiers and counts as a hit. `nil`, counted as a
    /// miss, if it is absent or has expired. A hit in memory costs a table look-up and reading one word of the index;
    /// one on disk costs the decoding.
    @inlinable
    public func access(archiveWithKey key: String) -> Object? {
        do {
            return try handle.access(key)
        } catch {
            logAccess(key, error)
            return nil
        }
    }

    @usableFromInline
    func logAccess(_ key: String, _ error: any Error) {
        // This was reported when it was first found.
        if let error = error as? ArchiveError, error.isNewerVersion { return }
        handle.log("access", key, error)
    }

    /// The object with this key, without counting as an access: recency, counters and tier stay unchanged.
    public func peek(archiveWithKey key: String) -> Object? {
        attempt("peek", key, else: nil) { try $0.peekIfKnown(key) }
    }

    /// The most recent objects, at most `limit`, the most recent first; none if the limit isn't positive. All are
    /// returned as they were at one moment. Counts as an access of each, keeps their order, and loads none into
    /// memory. Costs listing the archive's keys and reading each object.
    public func accessAll(limitedBy limit: Int) -> [Object] {
        attempt("access all", else: []) { try $0.accessAll(limit: limit) }
    }

    /// As ``accessAll(limitedBy:)`` without a limit. The result holds all objects in memory at once.
    public func accessAll() -> [Object] { accessAll(limitedBy: .max) }

    /// Applies the queries to all objects, one after the other, and returns the results, the most recent first unless
    /// sorted. Counts as an access of each result only. Costs the decoding of all tested objects.
    ///
    /// The results are those of one moment: no query finds one object as it was before a transaction and another as it
    /// is after it. If the archive changes while the queries run, they run again on a snapshot, so closures may be
    /// called twice for an object.
    public func process(queries: [Query<Object>]) -> [Object] {
        attempt("process queries", else: []) { try $0.process(queries) }
    }

    /// The number of the queries' results. Doesn't count as an access.
    public func countResults(of queries: [Query<Object>]) -> Int {
        attempt("process queries", else: 0) { try $0.seen(by: queries).count }
    }

    /// Deletes the queries' results and returns their number. An object that is stored again after it was found stays.
    @discardableResult
    public func deleteResults(of queries: [Query<Object>]) -> Int {
        attempt("delete results", else: 0) { try $0.deleteResults(of: queries) }
    }

    /// When any process last recorded or accessed the object with this key, to within some milliseconds; `nil` if
    /// absent. Doesn't count as an access.
    public func latestAccessedTime(for key: String) -> Date? {
        attempt("look up", key, else: nil) { try $0.latestAccess(key) }
    }

    // MARK: Deleting

    /// Deletes the object with this key, if present, for all processes.
    public func delete(archiveWithKey key: String) { attempt("delete", key, else: ()) { try $0.delete(key) } }

    /// Deletes all objects, in one step for all processes.
    public func deleteAll() { attempt("delete all", else: ()) { try $0.deleteAll() } }

    /// Deletes all objects of an owner.
    public func deleteAll(ofOwner owner: String) {
        attempt("delete all of an owner", else: ()) { try $0.deleteAll(ofOwner: owner) }
    }

    /// Deletes the objects that were last accessed more than this many seconds ago. Costs a pass over the index.
    public func deleteAllInvalidateArchives(invalidateTimeInterval: TimeInterval) {
        attempt("delete idle objects", else: ()) {
            try $0.deleteIdle(longerThan: .seconds(invalidateTimeInterval))
        }
    }

    // MARK: Stale values

    /// The keys of stored values that can't be decoded as this type. Costs decoding all objects. Not an access.
    public func staleKeys() -> [String] {
        attempt("list stale values", else: []) { try $0.staleVersions().map(\.name) }
    }

    /// Deletes the stored values that can't be decoded as this type; returns their number. Costs decoding all objects.
    @discardableResult
    public func deleteStale() -> Int {
        attempt("delete stale values", else: 0) { try $0.delete($0.staleVersions()) }
    }

    // MARK: Sizes

    /// The limit for encoded objects in both tiers together, in bytes: the sum of the two limits.
    public var maxSize: Int { attempt("read the sizes", else: 0) { try $0.maxSizes().total } }
    /// The size of the encoded objects in both tiers together, in bytes. An object in both counts twice.
    public var currentSize: Int { attempt("read the sizes", else: 0) { try $0.currentSizes().total } }

    /// The limit for encoded objects in this process's memory, in bytes.
    public var maxMemorySize: Int { attempt("read the sizes", else: 0) { try $0.maxSizes().memory } }
    /// The limit for encoded objects on disk, in bytes.
    public var maxDiskSize: Int { attempt("read the sizes", else: 0) { try $0.maxSizes().disk } }
    /// The size of the encoded objects in this process's memory, in bytes. Checks each object after changes.
    public var currentMemorySize: Int { attempt("read the sizes", else: 0) { try $0.currentSizes().memory } }
    /// The size of the encoded objects on disk, in bytes.
    public var currentDiskSize: Int { attempt("read the sizes", else: 0) { try $0.currentSizes().disk } }

    /// Changes the limits in bytes, permanently and for all processes. Evicts excess objects at once; in another
    /// process's memory with that process's next call. `nil` leaves a limit unchanged.
    public func resize(memory: Int? = nil, disk: Int? = nil) {
        attempt("resize", else: ()) { try $0.resize(memory: memory, disk: disk) }
    }

    /// Counters since the archive was created, and its present content. `nil`, and logged, if it can't be read.
    public var statistics: ArchiveStatistics? {
        attempt("read the statistics", else: nil) { try $0.statistics() }
    }
}

extension Duration {
    /// Converts seconds. Saturates at the longest duration; zero, negative and NaN give zero.
    static func seconds(_ interval: TimeInterval) -> Duration {
        guard interval > 0 else { return .zero }
        return interval < 1e15 ? .microseconds(Int64(interval * 1e6)) : .microseconds(Int64.max)
    }
}
