import CPlatform
import Synchronization
import SystemC

/// A named set of entries, shared by all processes that have its store open. Safe from any thread.
///
/// Keys are 1 to 1,024 bytes of UTF-8 and are compared byte by byte. Values are bytes. Unless its comment differs, a call costs a
/// few hundred nanoseconds plus the copying of the value, and throws `invalidKey`, `closed`, `corrupted` (the entry's bytes are
/// damaged), and, when it changes the archive, `readOnly`, `noSpace`, `busy` and `system`.
///
/// In a forked child, calls on the parent's archives throw `closed`. The child opens its own archives, through any store.
public final class Archive: Sendable, FollowedArchive {
    /// Name of the archive in its store.
    public let name: String
    let mode: AccessMode
    private let store: FileDescriptor
    private let options: StoreOptions
    let follower: StoreFollower
    private let doorbell: Doorbell
    private let current: Guarded<ArchiveEngine?>
    /// A writer's engine, which stays the same until it is closed. An observer may have to open a new one.
    private let fixed: ArchiveEngine?
    private let closed = Atomic<Bool>(false)
    /// The owning process. A forked child must not use the file locks, mutexes and process slot that it shares with its parent.
    private let forks = cp_watch_forks()
    private let whenClosed: @Sendable (Archive) -> Void

    /// `whenClosed` is called once, by the thread that closes the archive.
    init(
        name: String, store: FileDescriptor, mode: AccessMode, options: StoreOptions, following: Following,
        whenClosed: @escaping @Sendable (Archive) -> Void = { _ in }
    ) throws(StorageError) {
        self.name = name
        self.store = store
        self.mode = mode
        self.options = options
        self.whenClosed = whenClosed
        doorbell = following.doorbell
        follower = following.follower
        let engine = try Archive.open(name: name, store: store, mode: mode, options: options)
        engine.index.storage.doorbell = doorbell
        fixed = mode == .readWrite ? engine : nil
        current = Guarded(engine)
    }

    deinit { end() }

    private static func open(
        name: String, store: FileDescriptor, mode: AccessMode, options: StoreOptions
    ) throws(StorageError) -> ArchiveEngine {
        let folder = try store.folder(named: ArchiveName.folder(for: name))
        let opening = try ArchiveOpening(
            folder: folder, options: options, for: mode == .readWrite ? .writing : .reading)
        switch mode {
        case .readWrite:
            let engine = try opening.openForWriting()
            // Completes syncs, removals and compaction of crashed processes.
            SpaceBudget(engine).scheduleReclaimIfNeeded()
            try StorageError.rethrowing(
                after: { ArchiveClosing(engine).close() },
                { () throws(StorageError) in try engine.finishChange() })
            engine.startMaintenancePolling()
            return engine
        case .readOnly:
            let isOwner = try store.status().owner == ProcessIdentity.effectiveUser
            return try opening.openForReading(mayWrite: isOwner)
        }
    }

    @inline(__always) func engine() throws(StorageError) -> ArchiveEngine {
        guard !isClosed else { throw .closed(name: name) }
        if let fixed { return fixed }
        return try observerEngine()
    }

    private func observerEngine() throws(StorageError) -> ArchiveEngine {
        do throws(StorageError) {
            let engine = try current.withLock { (current) throws(StorageError) in
                if let engine = current, !engine.isStale {
                    // Reclaimed segments use disk space as long as any process maps them.
                    engine.log.releaseSegments(before: engine.index.oldestSegment)
                    return engine
                }
                let engine = try reopened(after: current)
                // Skips one event number, so that followers see a gap. If there were no events yet (the archive was being
                // created), the new index has them from the first on.
                if let last = current, !last.index.storage.isCut, last.index.isHeaderIntact {
                    let next = EventReader(last).nextEvent
                    if next > 0 { engine.eventBase.store(next &+ 1, ordering: .relaxed) }
                }
                current = engine
                return engine
            }
            engine.log.unmapReleased()
            return engine
        } catch {
            if case .closed = error { close() }
            throw error
        }
    }

    /// Opens the archive again for reading. Throws `closed` if it was removed, even if its name is in use again.
    private func reopened(after last: ArchiveEngine?) throws(StorageError) -> ArchiveEngine {
        let engine: ArchiveEngine
        do throws(StorageError) {
            engine = try Archive.open(name: name, store: store, mode: mode, options: options)
        } catch {
            throw error.isMissing && last?.isFolderRemoved == true ? .closed(name: name) : error
        }
        if let last, last.log.identity != engine.log.identity { throw .closed(name: name) }
        return engine
    }

    func reopenedEngine() throws(StorageError) -> ArchiveEngine {
        try reopened(after: current.withLock { $0 })
    }

    @inline(__always) private var isInherited: Bool { cp_fork_count() != forks }

    /// Whether this object is closed, or the archive was removed: its remaining files would give wrong results.
    @inline(__always) package var isClosed: Bool {
        closed.load(ordering: .relaxed) || isInherited || fixed?.index.isRemoved ?? false
    }

    /// Closes this object. Idempotent.
    public func close() {
        if end() { whenClosed(self) }
    }

    @discardableResult func end() -> Bool {
        guard !closed.exchange(true, ordering: .relaxed) else { return false }
        // A forked child must not end the parent's registration.
        guard !isInherited else { return true }
        follower.end(self)
        if let fixed { ArchiveClosing(fixed).close() }
        current.withLock { $0 = nil }
        return true
    }

    // MARK: Storing

    /// Stores `value` under `key`, replacing any present entry with its lifetime and owner, and makes it the most recent entry. A
    /// cache evicts its least recent entries until the limit is kept. Put and evictions happen together or not at all; but of
    /// more than 8,127 evictions, the first may happen although the put fails.
    ///
    /// The entry survives a crash of this process as soon as the call returns.
    /// - Throws: also `valueTooLarge`, without any change; `invalidOwner`; `wrongKind` for a log; `noSpace`.
    public func put(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding = .unknown,
        attributes: EntryAttributes = .none
    ) throws(StorageError) {
        try store(value, forKey: key, encoding, attributes, keepsCreation: false)
    }

    /// Like ``put(_:forKey:encoding:attributes:)`` for bytes that the caller has in memory.
    public func put(
        bytes: UnsafeRawBufferPointer, forKey key: String, encoding: ValueEncoding = .unknown,
        attributes: EntryAttributes = .none
    ) throws(StorageError) {
        try store(bytes: bytes, forKey: key, encoding, attributes, keepsCreation: false)
    }

    /// Like ``put(_:forKey:encoding:attributes:)``, but an entry that exists keeps its creation time.
    public func update(
        _ value: [UInt8], forKey key: String, encoding: ValueEncoding = .unknown,
        attributes: EntryAttributes = .none
    ) throws(StorageError) {
        try store(value, forKey: key, encoding, attributes, keepsCreation: true)
    }

    @inline(__always) private func store(
        _ value: [UInt8], forKey key: String, _ encoding: ValueEncoding, _ attributes: EntryAttributes,
        keepsCreation: Bool
    ) throws(StorageError) {
        try withBytes(of: value) { (bytes) throws(StorageError) in
            try store(bytes: bytes, forKey: key, encoding, attributes, keepsCreation: keepsCreation)
        }
    }

    @inline(__always) private func store(
        bytes: UnsafeRawBufferPointer, forKey key: String, _ encoding: ValueEncoding,
        _ attributes: EntryAttributes, keepsCreation: Bool
    ) throws(StorageError) {
        let engine = try engine()
        try attributes.withFrameOptions { (options) throws(StorageError) in
            try withBytes(of: key) { (key) throws(StorageError) in
                let request = PutRequest(
                    value: bytes, encoding: encoding, keepsCreation: keepsCreation, options: options)
                _ = try engine.putFreeingSpace(request, key: key, tag: engine.validTag(of: key))
            }
        }
        try engine.finishChange()
    }

    // MARK: Reading

    /// The value of `key`, which becomes the most recent entry. If the key is absent, counts a miss and returns `nil`.
    public func access(_ key: String) throws(StorageError) -> [UInt8]? {
        try withAccess(key) { Array($0) }
    }

    /// Like ``access(_:)`` without copying: the bytes are valid during `body` only.
    @inlinable
    public func withAccess<Result>(
        _ key: String, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(StorageError) -> Result? {
        var result: Result?
        try visit(key, counts: true) { result = body($0) }
        return result
    }

    /// The value of `key`. Records no access: neither recency nor counters change.
    public func peek(_ key: String) throws(StorageError) -> [UInt8]? {
        try withPeek(key) { Array($0) }
    }

    /// A part of the value; `range` is clamped to its size. Verifies the whole value's checksum; copies only the part.
    public func peek(_ key: String, range: Range<Int>) throws(StorageError) -> [UInt8]? {
        try withPeek(key) { Array($0[range.clamped(to: 0..<$0.count)]) }
    }

    /// Like ``peek(_:)`` without copying: the bytes are valid during `body` only.
    @inlinable
    public func withPeek<Result>(
        _ key: String, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(StorageError) -> Result? {
        var result: Result?
        try visit(key, counts: false) { result = body($0) }
        return result
    }

    /// The only access to an entry's bytes; not generic, because type look-ups at run time would cost a fifth more.
    @usableFromInline
    func visit(_ key: String, counts: Bool, _ body: (UnsafeRawBufferPointer) -> Void) throws(StorageError) {
        let engine = try engine()
        var key = key
        var failure: StorageError?
        key.withUTF8 { bytes in
            let key = UnsafeRawBufferPointer(bytes)
            do throws(StorageError) {
                let tag = try engine.validTag(of: key)
                if counts {
                    try engine.withAccess(key, tag: tag) { body($0.frame.value) }
                } else {
                    try engine.withPeek(key, tag: tag) { body($0.frame.value) }
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// All metadata of an entry, from one version of it; `rank` is `nil`. Records no access.
    public func metadata(_ key: String) throws(StorageError) -> EntryMetadata? {
        try StatusReader(engine()).metadata(of: key)
    }

    // MARK: Deleting

    /// Deletes the entry of `key`; `false` if absent.
    @discardableResult public func delete(_ key: String) throws(StorageError) -> Bool {
        try finishingChange { (engine) throws(StorageError) in
            try withBytes(of: key) { (key) throws(StorageError) in
                try EntryRemover(engine).delete(key, ifSequence: nil) == .deleted
            }
        }
    }

    /// Deletes the entry of `key` only if it still has this sequence.
    public func delete(_ key: String, ifSequence sequence: UInt64) throws(StorageError) -> ConditionalDelete {
        try finishingChange { (engine) throws(StorageError) in
            try withBytes(of: key) { (key) throws(StorageError) in
                try EntryRemover(engine).delete(key, ifSequence: sequence)
            }
        }
    }

    /// Deletes every entry in one step for all processes. It can't be undone; ``deleteAllReversibly(progress:)`` can.
    @discardableResult public func deleteAll() throws(StorageError) -> Removal {
        try finishingChange { (engine) throws(StorageError) in try EntryRemover(engine).deleteAll() }
    }

    // MARK: The whole archive

    /// Random bytes that identify this archive, also among earlier and later archives of the name.
    package func identity() throws(StorageError) -> [UInt8] { try engine().log.identity }

    /// Random number of the archive's index; a rebuilt index has another one.
    package func indexSalt() throws(StorageError) -> UInt64 { try engine().index.salt }

    /// Identifies the archive's content; it changes with every change by any process.
    package func version() throws(StorageError) -> ArchiveVersion { try ArchiveVersion(of: engine()) }

    /// Totals, counters and limits. Writes nothing. While a batch is applied, the totals may count a part of it. Reads
    /// the header of the index, the process table and the descriptor.
    public func status() throws(StorageError) -> ArchiveStatus {
        try StatusReader(engine()).status(configuration: configuration())
    }

    /// Describes a segment of which the file, or its end, can't be read; its entries are lost. Opens the files of all segments.
    package func lostSegment() throws(StorageError) -> StorageError? { try engine().lostSegment() }

    /// Describes damage that was found when the index was built; with `segments`, also a segment that can't be read.
    package func problem(withSegments segments: Bool = false) throws(StorageError) -> String? {
        let problem = ArchiveStatus.problem(damagedPlaces: try StatusReader(engine()).damagedPlaces)
        if problem != nil || !segments { return problem }
        return try lostSegment()?.description
    }

    /// Processes that have the archive open for writing.
    public func processes() throws(StorageError) -> [AttachedProcess] {
        try StatusReader(engine()).processes()
    }

    /// Rejects another API's archive; one without a type name is accepted. Throws `wrongKind`, or `invalidConfiguration`.
    package func require(_ kind: ArchiveKind, ofType typeName: String) throws(StorageError) {
        let found = try configuration()
        guard found.kind == kind else {
            throw .wrongKind(
                archive: name, kind: found.kind, operation: "store objects of type \(typeName)")
        }
        guard found.typeName.isEmpty || found.typeName == typeName else {
            throw .invalidConfiguration(
                reason: "archive \"\(name)\" is for objects of type \(found.typeName), not for those of a "
                    + "\(typeName); use another name or another store")
        }
    }

    /// Kind, limits and type, read from the archive's descriptor.
    public func configuration() throws(StorageError) -> ArchiveConfiguration {
        let engine = try engine()
        guard !engine.isFolderRemoved else { throw .closed(name: name) }
        do throws(StorageError) {
            return try Descriptor.read(in: engine.folder).configuration
        } catch {
            throw error.isMissing ? .closed(name: name) : error
        }
    }

    /// Changes the limits for all processes, and evicts excess entries at once. A log keeps the file of its oldest message, of up
    /// to 16 MiB, until that message is dropped. Throws also `invalidConfiguration`.
    /// - Parameters:
    ///   - disk: most bytes of all values on disk; `nil`: no limit, for a collection only.
    ///   - memory: most bytes of all values in one process's memory tier; `nil`: no limit.
    public func setLimits(disk: UInt64?, memory: UInt64?) throws(StorageError) {
        try changeConfiguration { ($0.diskLimit, $0.memoryLimit) = (disk, memory) }
    }

    /// Changes limits and eviction policy at once, as ``setLimits(disk:memory:)`` and ``setEvictionPolicy(_:)`` do: all happen, or
    /// none. `change` may be called more than once, with the present configuration.
    package func changeConfiguration(
        _ operation: String = "resize", _ change: (inout ArchiveConfiguration) -> Void
    ) throws(StorageError) {
        let engine = try engine()
        guard mode == .readWrite else { throw .readOnly(operation: "\(operation) \"\(name)\"") }
        try ArchiveOpening.changeConfiguration(through: engine, change)
        try engine.finishChange()
    }

    /// Changes the eviction policy for all processes, under one hold of the archive's lock. The change to ``EvictionPolicy/lru`` sorts
    /// all entries by their last accesses. Programs of earlier versions can't open an archive with another policy than that. Throws
    /// also `invalidConfiguration` unless the archive is a cache; `busy` if a process that has it open runs a program without the
    /// policy.
    public func setEvictionPolicy(_ policy: EvictionPolicy) throws(StorageError) {
        try changeConfiguration("change") { $0.evictionPolicy = policy }
    }

    // MARK: Durability

    /// Returns when all changes acknowledged before the call, by any process, are on the medium. Takes as long as the medium
    /// needs; concurrent callers share one sync. Throws also `syncFailed`.
    public func synchronize() throws(StorageError) {
        let engine = try engine()
        guard mode == .readWrite else { throw .readOnly(operation: "sync \"\(name)\"") }
        try engine.synchronize(upTo: engine.index.head)
    }

    /// Changes the durability, also of stored entries. Throws also `invalidConfiguration`, `syncFailed`.
    public func setDurability(_ durability: Durability) throws(StorageError) {
        let engine = try engine()
        guard mode == .readWrite else { throw .readOnly(operation: "change \"\(name)\"") }
        try ArchiveOpening.changeConfiguration(through: engine) { $0.durability = durability }
        // Changes that were acknowledged at the former level.
        if durability != .process { try engine.synchronize(upTo: engine.index.head) }
        try engine.finishChange()
    }

    /// Closes the archive for all processes and removes it, if it still has `version`. Prevents opening it.
    func destroy(
        ifStill old: ArchiveVersion?, removing: () throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        let engine = try engine()
        let section = try engine.acquire()
        if let old, try old.isCurrent(in: engine) == false { return false }
        section.closeForAll(doorbell)
        _ = consume section
        defer { end() }
        try removing()
        return true
    }
}
