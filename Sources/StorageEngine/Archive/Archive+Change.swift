import CPlatform

/// The result of a conditional put.
public enum ConditionalPut: Sendable, Hashable {
    /// The value was stored; `sequence` is its number.
    case stored(sequence: UInt64)
    /// The entry was replaced, removed or created since it was read. Nothing was stored.
    case changed
}

/// The content of an entry as it was read, to be replaced if it is unchanged.
public struct CurrentEntry: Sendable, Hashable {
    /// The stored bytes.
    public var value: [UInt8]
    /// How ``value`` is encoded.
    public var encoding: ValueEncoding
    /// When the object under this key was first recorded.
    public var created: Timestamp
    /// The entry's owner; `nil` if it has none.
    public var owner: String?
    /// Number of the operation that stored the value. A new value gets a new number.
    public var sequence: UInt64
}

/// A decision of ``Archive/change(_:_:)`` about the entry.
public enum EntryChange: Sendable {
    /// Store this value as ``Archive/update(_:forKey:encoding:attributes:)`` does.
    case put([UInt8], encoding: ValueEncoding = .unknown, attributes: EntryAttributes = .none)
    /// Store this value and keep encoding, expiry time and owner.
    case replaceValue([UInt8])
    /// Delete the entry, if present.
    case delete
    /// Leave the entry unchanged.
    case keep
}

extension Archive {
    /// The entry of `key` with the number of its value; `nil` if absent. Records no access.
    public func current(_ key: String) throws(StorageError) -> CurrentEntry? {
        try withFrame(of: key) { CurrentEntry($0) }
    }

    private func withFrame<Value>(of key: String, _ body: (Frame) -> Value) throws(StorageError) -> Value? {
        let engine = try engine()
        var value: Value?
        try withBytes(of: key) { (key) throws(StorageError) in
            try engine.withPeek(key, tag: engine.validTag(of: key)) { value = body($0.frame) }
        }
        return value
    }

    /// Like ``current(_:)``, with the entry's expiry time. Both are of the same version.
    package func currentWithExpiry(
        _ key: String
    ) throws(StorageError) -> (entry: CurrentEntry, expires: Timestamp?)? {
        let engine = try engine()
        var found: (entry: CurrentEntry, expires: Timestamp?)?
        try withBytes(of: key) { (key) throws(StorageError) in
            try engine.withPresentContent(of: key, tag: engine.validTag(of: key)) { entry, content in
                if !content.isMemoryOnly { found = (CurrentEntry(entry.frame), content.expires) }
            }
        }
        return found
    }

    /// The ``CurrentEntry/sequence`` of `key`; `nil` if absent. Records no access and doesn't copy the value.
    package func sequence(of key: String) throws(StorageError) -> UInt64? {
        try withFrame(of: key) { $0.sequence }
    }

    /// Like ``update(_:forKey:encoding:attributes:)``, but only if the entry still has this ``CurrentEntry/sequence``
    /// at the time of the change. With `nil` it stores only if the key is absent. Throws the same errors as `put`.
    public func put(
        _ value: [UInt8], forKey key: String, ifSequence sequence: UInt64?,
        encoding: ValueEncoding = .unknown, attributes: EntryAttributes = .none
    ) throws(StorageError) -> ConditionalPut {
        try store(value, forKey: key, ifSequence: sequence, encoding, attributes)
    }

    private func store(
        _ value: [UInt8], forKey key: String, ifSequence sequence: UInt64?, _ encoding: ValueEncoding,
        _ attributes: EntryAttributes?
    ) throws(StorageError) -> ConditionalPut {
        try finishingChange { (engine) throws(StorageError) in
            let stored = try withBytes(of: value) { (bytes) throws(StorageError) in
                try (attributes ?? .none).withFrameOptions { (options) throws(StorageError) in
                    try withBytes(of: key) { (key) throws(StorageError) in
                        try engine.put(
                            PutRequest(
                                value: bytes, encoding: encoding, keepsCreation: sequence != nil,
                                options: options),
                            key: key, ifSequence: sequence, keepsOptions: attributes == nil, seesMemory: false
                        )
                    }
                }
            }
            if attributes?.lifetime != nil { try engine.startMaintenance() }
            return stored.map { ConditionalPut.stored(sequence: $0.sequence) } ?? .changed
        }
    }

    /// Replaces a value's encoding if ``CurrentEntry/sequence`` matches; not an access. May evict others for the limit.
    package func rewrite(
        _ value: [UInt8], forKey key: String, ifSequence sequence: UInt64, encoding: ValueEncoding
    ) throws(StorageError) -> Bool {
        try finishingChange { (engine) throws(StorageError) in
            try withBytes(of: value) { (bytes) throws(StorageError) in
                try withBytes(of: key) { (key) throws(StorageError) in
                    try engine.rewrite(bytes, encoding: encoding, key: key, ifSequence: sequence)
                }
            }
        }
    }

    /// Changes an entry depending on its content, in one atomic step: a counter, a growing list, a merge. `body` gets the entry,
    /// or `nil` if absent, and returns the change.
    ///
    /// No lock is held while `body` runs; it may use this archive. If another change of the same entry happens first, calls
    /// `body` again with the new content, so `body` must have no side effects. Each retry means that another change succeeded.
    /// - Returns: the change that was carried out.
    /// - Throws: also `busy`, if others keep changing the entry for ten seconds.
    @discardableResult public func change(
        _ key: String, _ body: (CurrentEntry?) -> EntryChange
    ) throws(StorageError) -> EntryChange {
        let start = cp_monotonic_time()
        while cp_monotonic_time() &- start < ArchiveLock.timeoutNanoseconds {
            let present = try current(key)
            let change = body(present)
            switch change {
            case .keep: return change
            case .put(let value, let encoding, let attributes):
                let outcome = try store(
                    value, forKey: key, ifSequence: present?.sequence, encoding, attributes)
                if outcome != .changed { return change }
            case .replaceValue(let value):
                let outcome = try store(
                    value, forKey: key, ifSequence: present?.sequence, present?.encoding ?? .unknown, nil)
                if outcome != .changed { return change }
            case .delete:
                guard let present else { return change }
                if try delete(key, ifSequence: present.sequence) != .changed { return change }
            }
        }
        throw .busy(archive: name, process: 0, reason: "other processes keep changing \"\(key)\"; try again")
    }

    /// Makes the entry of `key` the most recent and counts a hit, without reading its value and without a lock. Counts
    /// a miss and returns `false` if the key is absent.
    @discardableResult public func touch(_ key: String) throws(StorageError) -> Bool {
        let engine = try engine()
        return try withBytes(of: key) { (key) throws(StorageError) in try engine.touch(key) }
    }

    /// Like ``touch(_:)``, and restarts the entry's lifetime with this duration: for sessions that expire when unused.
    /// Logs the new expiry time, but not the value.
    @discardableResult public func touch(_ key: String, lifetime: Duration) throws(StorageError) -> Bool {
        guard try setLifetime(lifetime, forKey: key) else {
            try withHashed(key) { (key) throws(StorageError) in try countMiss(of: key) }
            return false
        }
        return try touch(key)
    }
}

extension CurrentEntry {
    init(_ frame: Frame) {
        self.init(
            value: Array(frame.value), encoding: frame.encoding,
            created: Timestamp(microseconds: frame.created), owner: frame.ownerName, sequence: frame.sequence)
    }
}

extension Archive {
    /// Makes all changes of a batch, or none if this throws. The batch is atomic: a reader that sees one change sees all of them,
    /// even while this process is stopped, or after a crash of the process or the system. Entries that the limit evicts are part
    /// of the batch. At the durability `full` the call waits for the medium once.
    ///
    /// Holds the archive's lock throughout, some microseconds a change, so 100,000 changes may delay other writers for
    /// a few tenths of a second. Readers never wait. Needs some 200 bytes of memory for each change.
    ///
    /// - Returns: the result of each change, in the order of the batch.
    /// - Throws: `batchTooLarge` if the stored values exceed the archive's limit, or the batch ``Batch/maximumBytes``;
    ///   and what ``put(_:forKey:encoding:attributes:)`` throws.
    @discardableResult public func apply(_ batch: Batch) throws(StorageError) -> [BatchResult] {
        try apply(batch, ifUnchanged: []) ?? []
    }

    /// Like ``apply(_:)``, but only if each entry in `seen` still has the given sequence at the time of the change; `seen` may
    /// include entries that the batch doesn't change. Otherwise returns `nil` and changes nothing.
    public func apply(_ batch: Batch, ifUnchanged seen: [SeenEntry]) throws(StorageError) -> [BatchResult]? {
        let engine = try engine()
        let prepared = try PreparedBatch(batch, ifUnchanged: seen, engine)
        guard let results = try BatchWriter(engine).apply(prepared) else { return nil }
        if prepared.hasDeadlines { try engine.startMaintenance() }
        try engine.finishChange()
        return results
    }
}
