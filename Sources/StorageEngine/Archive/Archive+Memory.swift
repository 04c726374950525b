/// A key's bytes with their hash for both tiers. The bytes are valid only during the call that created the value.
package struct HashedKey {
    package let bytes: UnsafeRawBufferPointer
    package let hash: UInt64

    var tag: UInt32 { UInt32(truncatingIfNeeded: hash) }
}

/// Calls for an in-memory tier: key hashes, held entries and whether they are current (S9), and the process slot.
extension Archive {
    package func hashed(_ key: UnsafeRawBufferPointer) throws(StorageError) -> HashedKey {
        HashedKey(bytes: key, hash: try engine().validHash(of: key))
    }

    package func withHashed<Value>(
        _ key: String, _ body: (HashedKey) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try withBytes(of: key) { (key) throws(StorageError) in try body(hashed(key)) }
    }

    // MARK: Storing

    /// Like ``put(_:forKey:encoding:attributes:)`` or the update. Returns the version for ``access(_:)``.
    package func putAndHold(
        _ value: UnsafeRawBufferPointer, forKey key: HashedKey, encoding: ValueEncoding,
        attributes: EntryAttributes, keepsCreation: Bool
    ) throws(StorageError) -> HeldEntry {
        try finishingChange { (engine) throws(StorageError) in
            try attributes.withFrameOptions { (options) throws(StorageError) in
                let request = PutRequest(
                    value: value, encoding: encoding, keepsCreation: keepsCreation, options: options)
                return try engine.putFreeingSpace(request, key: key.bytes, tag: key.tag)
            }
        }
    }

    /// Records an entry that only this process's memory holds (S11). Removes the key's stored entry.
    package func recordInMemoryOnly(
        _ key: HashedKey, bytes: UInt64, attributes: EntryAttributes = .none
    ) throws(StorageError) -> HeldEntry {
        try finishingChange { (engine) throws(StorageError) in
            try attributes.withFrameOptions { (options) throws(StorageError) in
                let request = try engine.requestInMemoryOnly(bytes: bytes, options)
                let held = try engine.put(request, key: key.bytes, tag: key.tag)
                crashPoint(.residentRecorded)
                return held
            }
        }
    }

    package func reportRejection(of key: HashedKey, bytes: Int, _ cause: EventCause) throws(StorageError) {
        try engine().reportRejection(key.bytes, tag: key.tag, bytes: bytes, cause)
    }

    /// Publishes an event about a value that can't be decoded as the requested type. The value stays.
    package func reportUndecodable(_ key: HashedKey) throws(StorageError) {
        try engine().publish(.rejection, .undecodable, tag: key.tag, key: key.bytes)
    }

    // MARK: Reading

    /// Counts a miss for a look-up without a usable result. Removes an expired entry.
    package func countMiss(of key: HashedKey) throws(StorageError) {
        let engine = try engine()
        try withExtendedLifetime(engine) { () throws(StorageError) in
            if let processSlot = engine.processSlot { engine.countMiss(tag: key.tag, processSlot) }
            guard let entry = try engine.find(key.bytes, tag: key.tag) else { return }
            defer { engine.unpin(entry) }
            if engine.isExpired(entry) { EntryRemover(engine).removeIfExpired(entry, tag: key.tag) }
        }
    }

    /// Counts a hit for a look-up whose entry may have been removed since.
    package func countHit(of key: HashedKey) throws(StorageError) {
        let engine = try engine()
        withExtendedLifetime(engine) {
            engine.processSlot?.addHit()
            engine.trace(.hit, tag: key.tag)
        }
    }

    /// Like ``withAccess(_:_:)``. Also passes the version for ``access(_:)``, as long as the object is kept in memory.
    package func withAccessToHold(
        _ key: HashedKey, _ body: (UnsafeRawBufferPointer, HeldEntry) -> Void
    ) throws(StorageError) {
        let engine = try engine()
        try engine.withAccess(key.bytes, tag: key.tag) { body($0.frame.value, engine.held($0, tag: key.tag)) }
    }

    package func withPeekToHold(
        _ key: HashedKey, _ body: (UnsafeRawBufferPointer, HeldEntry) -> Void
    ) throws(StorageError) {
        let engine = try engine()
        try engine.withPeek(key.bytes, tag: key.tag) { body($0.frame.value, engine.held($0, tag: key.tag)) }
    }

    package func access(toHold key: String) throws(StorageError) -> HeldEntry? {
        try withHashed(key) { (key) throws(StorageError) in
            var found: HeldEntry?
            try withAccessToHold(key) { found = $1 }
            return found
        }
    }

    // MARK: Holding

    /// Whether an object in memory is still the archive's version. If so, counts an access to it.
    /// - Parameter isFromDisk: the caller has just read it from disk; for the request trace.
    package func access(_ held: HeldEntry, isFromDisk: Bool = false) throws(StorageError) -> Bool {
        try engine().access(held, as: isFromDisk ? .hit : .memoryHit)
    }

    package func isCurrent(_ held: HeldEntry) throws(StorageError) -> Bool { try engine().isCurrent(held) }

    /// The version to hold if the entry was only moved within the log; `nil` if it was removed or replaced.
    package func follow(_ held: HeldEntry, key: HashedKey) throws(StorageError) -> HeldEntry? {
        try engine().follow(held, key: key.bytes)
    }

    /// Marks an entry as held by this process's memory, and publishes its promotion.
    package func hold(_ held: HeldEntry, bytes: Int) throws(StorageError) {
        let engine = try engine()
        engine.setHeld(held, true)
        engine.publish(.promotion, .request, tag: held.tag, bytes: bytes, at: held.location)
    }

    package func holdRecorded(_ held: HeldEntry) throws(StorageError) { try engine().setHeld(held, true) }

    /// Clears the mark of an object that was removed from this process's memory, unless its slot belongs to another entry by now.
    package func release(_ held: HeldEntry, forKey key: String) throws(StorageError) {
        let engine = try engine()
        if engine.isCurrent(held) { return engine.setHeld(held, false) }
        try withHashed(key) { (key) throws(StorageError) in
            if let moved = try engine.follow(held, key: key.bytes) { engine.setHeld(moved, false) }
        }
    }

    /// Removes an entry that only this process's memory held, unless it was stored again.
    package func remove(_ held: HeldEntry, forKey key: String) throws(StorageError) {
        _ = try delete(key, ifSequence: held.sequence)
    }

    package static func bootTime() -> Int64 { Clock.boot() }

    package func setMemoryUse(bytes: UInt64) throws(StorageError) { try engine().setMemoryUse(bytes: bytes) }

    /// Most bytes of the values in this process's memory tier: the current limit of all processes.
    package func memoryLimit() throws(StorageError) -> UInt64 { try engine().withIndex { $0.memoryLimit } }

    /// Most bytes of the values on disk: the current limit of all processes. `nil`: no limit.
    package func diskLimit() throws(StorageError) -> UInt64? { try engine().withIndex { $0.diskLimit } }

    package func diskBytes() throws(StorageError) -> UInt64 { try engine().withIndex { $0.valueBytes } }

    /// Number of present entries, including those that only a live process's memory holds. Reads the index's header.
    package func entryCount() throws(StorageError) -> Int {
        try StatusReader(engine()).visibleTotals().entries
    }

    /// A number that changes with every change of an entry by any process.
    package func changeMark() throws(StorageError) -> UInt64 { try engine().withIndex { $0.head.raw } }

    /// Whether any process is changing the archive. A change may be visible before ``changeMark()`` changes (F5).
    package func isBeingChanged() throws(StorageError) -> Bool {
        try engine().withIndex { $0.lockOwner != 0 }
    }
}

/// An exclusive, machine-wide claim on a key. Released with its last reference or when the process ends.
package final class KeyClaim: Sendable {
    private let file: FileDescriptor

    fileprivate init(_ file: FileDescriptor) { self.file = file }
}

extension Archive {
    /// Claims the key's hash; `nil` if another has claimed it. Costs two system calls, a descriptor. Succeeds without file locks.
    package func claim(_ key: String) throws(StorageError) -> KeyClaim? {
        let engine = try engine()
        let file = try engine.folder.file(named: ArchiveFile.attached, writable: true)
        let place = Archive.firstClaim + Int(try engine.validHash(of: key) >> 2)
        return try file.lockByte(place) ? KeyClaim(file) : nil
    }

    /// The first offset of the claims' bytes. The process table's locks use lower offsets (OnDiskFormat, "Folders").
    private static var firstClaim: Int { 1 << 32 }

    /// Like ``putAndHold(_:forKey:encoding:attributes:keepsCreation:)`` if the entry's sequence is `sequence` (`nil`: absent);
    /// otherwise returns `nil`. Keeps the options in `kept`; copies the expiry time from the index, so it never shifts. Without
    /// `value` it is ``recordInMemoryOnly(_:bytes:attributes:)``.
    package func updateToHold(
        _ value: UnsafeRawBufferPointer?, bytes: Int, forKey key: HashedKey, encoding: ValueEncoding,
        attributes: EntryAttributes, keeping kept: KeptOptions, ifSequence sequence: UInt64?
    ) throws(StorageError) -> HeldEntry? {
        let engine = try engine()
        let held = try withFrameOptions(attributes, keeping: kept, of: key, in: engine) {
            (options) throws(StorageError) in
            let request =
                if let value {
                    PutRequest(value: value, encoding: encoding, keepsCreation: true, options: options)
                } else {
                    try engine.requestInMemoryOnly(bytes: UInt64(bytes), options)
                }
            return try engine.put(
                request, key: key.bytes, ifSequence: sequence, keepsOptions: false, seesMemory: true)
        }
        try engine.finishChange()
        return held
    }

    private func withFrameOptions<Value>(
        _ attributes: EntryAttributes, keeping kept: KeptOptions, of key: HashedKey, in engine: ArchiveEngine,
        _ body: (FrameOptions) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        var attributes = attributes
        var deadline: Int64?
        var memoryInterval: Int64?
        if !kept.isEmpty {
            try engine.withPresentContent(of: key.bytes, tag: key.tag) { entry, content in
                if kept.contains(.lifetime) { deadline = content.deadline }
                if kept.contains(.memoryLifetime) { memoryInterval = entry.frame.memoryInterval }
                if kept.contains(.owner) { attributes.owner = entry.frame.ownerName }
            }
        }
        if attributes.lifetime != nil || deadline ?? Deadline.never != Deadline.never {
            try engine.startMaintenance()
        }
        return try attributes.withFrameOptions { (options) throws(StorageError) in
            var options = options
            if let deadline { options.deadline = deadline }
            if let memoryInterval { options.memoryInterval = memoryInterval }
            return try body(options)
        }
    }
}
