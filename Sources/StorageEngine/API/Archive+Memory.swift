/// A key's bytes with their hash, which both tiers use: it is computed once a call. The bytes are valid during the
/// call that made it.
package struct HashedKey {
    package let bytes: UnsafeRawBufferPointer
    package let hash: UInt64

    package init(bytes: UnsafeRawBufferPointer, hash: UInt64) {
        self.bytes = bytes
        self.hash = hash
    }

    var tag: UInt32 { UInt32(truncatingIfNeeded: hash) }
}

/// What a tier of decoded objects in this process' memory needs: one hash for both tiers, which version of an entry
/// it holds, whether that is still the archive's (S9), and its line in the process table.
extension Archive {
    /// - Throws: `invalidKey`, `closed`.
    package func hashed(_ key: UnsafeRawBufferPointer) throws(StorageError) -> HashedKey {
        let engine = try engine()
        try ArchiveEngine.validate(key: key)
        return HashedKey(bytes: key, hash: engine.hash(key))
    }

    /// As ``hashed(_:)`` for a string.
    package func withHashed<Value>(
        _ key: String, _ body: (HashedKey) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try withBytes(of: key) { (key) throws(StorageError) in try body(hashed(key)) }
    }

    // MARK: Storing

    /// As ``put(_:forKey:encoding:attributes:)`` or ``update(_:forKey:encoding:attributes:)``, and says what to ask
    /// ``access(_:)`` for as long as the object is kept.
    package func putToHold(
        _ value: UnsafeRawBufferPointer, forKey key: HashedKey, encoding: ValueEncoding,
        attributes: EntryAttributes, keepsCreation: Bool
    ) throws(StorageError) -> HeldEntry {
        let engine = try engine()
        let held = try attributes.withTraits { (traits) throws(StorageError) in
            let request = PutRequest(
                value: value, encoding: encoding, keepsCreation: keepsCreation, traits: traits)
            return try engine.putMakingRoom(request, key: key.bytes, tag: key.tag)
        }
        try engine.settle()
        return held
    }

    /// Records an entry that is in this process' memory only (S11); what was stored under the key goes.
    package func recordInMemoryOnly(
        _ key: HashedKey, bytes: UInt64, attributes: EntryAttributes = .none
    ) throws(StorageError) -> HeldEntry {
        let engine = try engine()
        let held = try attributes.withTraits { (traits) throws(StorageError) in
            try engine.putInMemoryOnly(bytes: bytes, key: key.bytes, tag: key.tag, traits: traits)
        }
        try engine.settle()
        return held
    }

    /// Counts a value that could not be stored, and says why in an event.
    package func noteRejection(
        of key: HashedKey, bytes: Int, _ cause: EventCause
    ) throws(StorageError) {
        try engine().noteRejection(key.bytes, tag: key.tag, bytes: bytes, cause)
    }

    /// Tells of a value that is not what was asked for; it stays.
    package func noteUndecodable(_ key: HashedKey) throws(StorageError) {
        try engine().noteEvent(.rejection, .undecodable, key.bytes, tag: key.tag, bytes: 0)
    }

    // MARK: Reading

    /// Counts a look-up that found nothing of use.
    package func countMiss() throws(StorageError) {
        let engine = try engine()
        withExtendedLifetime(engine) { engine.processSlot?.addMiss() }
    }

    /// The same for a look-up of this key, which removes the entry if it has expired.
    package func countMiss(of key: HashedKey) throws(StorageError) {
        let engine = try engine()
        try withExtendedLifetime(engine) { () throws(StorageError) in
            engine.processSlot?.addMiss()
            guard let entry = try engine.find(key.bytes, tag: key.tag) else { return }
            defer { engine.letGo(entry) }
            if engine.isExpired(entry) { engine.removeIfExpired(entry, tag: key.tag) }
        }
    }

    /// Counts a look-up that found what is gone by now.
    package func countHit() throws(StorageError) {
        let engine = try engine()
        withExtendedLifetime(engine) { engine.processSlot?.addHit() }
    }

    /// As ``withAccess(_:_:)``, and says what to ask ``access(_:)`` for as long as the object is kept.
    package func withAccessToHold(
        _ key: HashedKey, _ body: (UnsafeRawBufferPointer, HeldEntry) -> Void
    ) throws(StorageError) {
        let engine = try engine()
        try engine.withAccess(key.bytes, tag: key.tag) { body($0.frame.value, engine.held($0, tag: key.tag)) }
    }

    /// The same without any trace.
    package func withPeekToHold(
        _ key: HashedKey, _ body: (UnsafeRawBufferPointer, HeldEntry) -> Void
    ) throws(StorageError) {
        let engine = try engine()
        try engine.withPeek(key.bytes, tag: key.tag) { body($0.frame.value, engine.held($0, tag: key.tag)) }
    }

    /// What to hold of an entry that is accessed now; `nil` if there is none.
    package func access(toHold key: String) throws(StorageError) -> HeldEntry? {
        try withHashed(key) { (key) throws(StorageError) in
            var found: HeldEntry?
            try withAccessToHold(key) { found = $1 }
            return found
        }
    }

    // MARK: Holding

    /// Counts an access of an object that is in memory, if it is still the archive's.
    package func access(_ held: HeldEntry) throws(StorageError) -> HeldState { try engine().access(held) }

    /// The same without any trace.
    package func state(of held: HeldEntry) throws(StorageError) -> HeldState { try engine().state(of: held) }

    /// What to hold instead where an entry was only moved in the log; `nil` if it is gone.
    package func follow(_ held: HeldEntry, key: HashedKey) throws(StorageError) -> HeldEntry? {
        try engine().follow(held, key: key.bytes)
    }

    /// The object of an entry came into this process' memory.
    package func hold(_ held: HeldEntry, bytes: Int) throws(StorageError) {
        let engine = try engine()
        engine.setHeld(held, true)
        engine.notePromotion(of: held, bytes: bytes)
    }

    /// An object that was just recorded is in this process' memory as well.
    package func holdRecorded(_ held: HeldEntry) throws(StorageError) { try engine().setHeld(held, true) }

    /// It left it. If the entry is gone, its line of the index may be of another one by now, which stays marked.
    package func letGo(_ held: HeldEntry, forKey key: String) throws(StorageError) {
        let engine = try engine()
        if engine.state(of: held) == .current { return engine.setHeld(held, false) }
        try withHashed(key) { (key) throws(StorageError) in
            if let moved = try engine.follow(held, key: key.bytes) { engine.setHeld(moved, false) }
        }
    }

    /// Removes the entry of an object that only this process' memory held, unless it was recorded anew.
    package func remove(_ held: HeldEntry, forKey key: String) throws(StorageError) {
        _ = try delete(key, ifSequence: held.sequence)
    }

    /// Microseconds on the clock that deadlines run on.
    package static func bootTime() -> Int64 { Clock.boot() }

    /// Bytes that this process' memory tier uses now, for others to see.
    package func setMemoryUse(bytes: UInt64) throws(StorageError) { try engine().setMemoryUse(bytes: bytes) }

    /// Most bytes that the values in this process' memory tier may have, as it is now for all processes.
    package func memoryLimit() throws(StorageError) -> UInt64 { try engine().look { $0.memoryLimit } }

    /// Most bytes that the values on disk may have, as it is now for all processes; `nil`: no limit.
    package func diskLimit() throws(StorageError) -> UInt64? { try engine().look { $0.diskLimit } }

    /// Sum of the sizes of all values on disk, in bytes.
    package func diskBytes() throws(StorageError) -> UInt64 { try engine().look { $0.valueBytes } }

    /// Entries, those that only a living process' memory holds included, without what has expired. Costs nothing but a look at the
    /// header of the index, unless a process ended without closing.
    package func entryCount() throws(StorageError) -> Int {
        try engine().visibleTotals().entries
    }

    /// Changes with every change of an entry, by whatever process.
    package func changeMark() throws(StorageError) -> UInt64 { try engine().look { $0.head.raw } }

    /// Whether somebody is changing the archive now, by whatever process: what can be seen of that moves ``changeMark()`` only when it
    /// is through (F5).
    package func isBeingChanged() throws(StorageError) -> Bool { try engine().look { $0.sectionOwner != 0 } }
}
