/// What a tier of decoded objects in this process' memory needs: which version of an entry it holds, whether that
/// is still the archive's (S9), and its line in the process table.
extension Archive {
    /// As ``withAccess(_:_:)``, and says what to ask ``access(_:)`` for as long as the object is kept.
    package func withAccessToHold<Result>(
        _ key: String, _ body: (UnsafeRawBufferPointer, HeldEntry) -> Result
    ) throws(StorageError) -> Result? {
        let engine = try engine()
        var result: Result?
        try withBytes(of: key) { (key) throws(StorageError) in
            let tag = UInt32(truncatingIfNeeded: engine.hash(key))
            try engine.withAccess(key) { result = body($0.frame.value, engine.held($0, tag: tag)) }
        }
        return result
    }

    /// Counts an access of an object that is in memory, if it is still the archive's.
    package func access(_ held: HeldEntry) throws(StorageError) -> HeldState { try engine().access(held) }

    /// The same without any trace.
    package func state(of held: HeldEntry) throws(StorageError) -> HeldState { try engine().state(of: held) }

    /// The object of an entry came into this process' memory.
    package func hold(_ held: HeldEntry, bytes: Int) throws(StorageError) {
        let engine = try engine()
        engine.setHeld(held, true)
        engine.notePromotion(of: held, bytes: bytes)
    }

    /// It left it.
    package func letGo(_ held: HeldEntry) throws(StorageError) { try engine().setHeld(held, false) }

    /// Bytes that this process' memory tier uses now, for others to see.
    package func setMemoryUse(bytes: UInt64) throws(StorageError) { try engine().setMemoryUse(bytes: bytes) }

    /// Records an entry that is in this process' memory only (S11); what was stored under the key goes.
    package func recordInMemoryOnly(
        _ key: String, bytes: UInt64, attributes: EntryAttributes = .none
    ) throws(StorageError) -> HeldEntry {
        let engine = try engine()
        return try attributes.withTraits { (traits) throws(StorageError) in
            try withBytes(of: key) { (key) throws(StorageError) in
                try engine.putInMemoryOnly(bytes: bytes, key: key, traits: traits)
            }
        }
    }
}
