import CPlatform

/// What a put on a condition came to.
public enum ConditionalPut: Sendable, Hashable {
    /// It is stored; the number is that of the new value.
    case stored(sequence: UInt64)
    /// The entry is another one by now, or there is none any more, or one where there was none: nothing was stored.
    case changed
}

/// An entry as it is found, for whoever stores something in its place.
public struct CurrentEntry: Sendable, Hashable {
    public var value: [UInt8]
    public var encoding: ValueEncoding
    /// When the object under this key was first recorded.
    public var created: Timestamp
    public var owner: String?
    /// Number of the operation that stored the value.
    public var sequence: UInt64
}

/// What to do with an entry that was looked at.
public enum EntryChange: Sendable {
    /// Store this value as ``Archive/update(_:forKey:encoding:attributes:)`` does.
    case put([UInt8], encoding: ValueEncoding = .unknown, attributes: EntryAttributes = .none)
    /// Store this value, and leave encoding, lifetime and owner what they are: the lifetime goes on as it was.
    case replaceValue([UInt8])
    case delete
    case keep
}

extension Archive {
    /// The entry of `key` with the number of its value, without any trace; `nil` if there is none.
    public func current(_ key: String) throws(StorageError) -> CurrentEntry? {
        let engine = try engine()
        var current: CurrentEntry?
        try withBytes(of: key) { (key) throws(StorageError) in
            try engine.withPeek(key) { entry in
                current = engine.currentEntry(entry.frame)
            }
        }
        return current
    }

    /// As ``current(_:)``, with the moment when the entry expires, both of one version.
    package func currentWithExpiry(
        _ key: String
    ) throws(StorageError) -> (entry: CurrentEntry, expires: Timestamp?)? {
        let engine = try engine()
        var found: (entry: CurrentEntry, expires: Timestamp?)?
        try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            try engine.withPresentLine(of: key, tag: UInt32(truncatingIfNeeded: engine.hash(key))) {
                entry, line in
                if !line.isMemoryOnly { found = (engine.currentEntry(entry.frame), line.expires) }
            }
        }
        return found
    }

    /// The ``CurrentEntry/sequence`` of `key`, without any trace and without a copy of the value; `nil` if there is no entry.
    package func sequence(of key: String) throws(StorageError) -> UInt64? {
        let engine = try engine()
        var sequence: UInt64?
        try withBytes(of: key) { (key) throws(StorageError) in
            try engine.withPeek(key) { sequence = $0.frame.sequence }
        }
        return sequence
    }

    /// As ``update(_:forKey:encoding:attributes:)``, but only if the value is still the one that was seen (its
    /// ``CurrentEntry/sequence``), whatever other processes do meanwhile; `nil`: only if there is no entry.
    public func put(
        _ value: [UInt8], forKey key: String, ifSequence sequence: UInt64?,
        encoding: ValueEncoding = .unknown,
        attributes: EntryAttributes = .none
    ) throws(StorageError) -> ConditionalPut {
        try store(value, forKey: key, ifSequence: sequence, encoding, attributes)
    }

    private func store(
        _ value: [UInt8], forKey key: String, ifSequence sequence: UInt64?, _ encoding: ValueEncoding,
        _ attributes: EntryAttributes?
    ) throws(StorageError) -> ConditionalPut {
        let engine = try engine()
        let result: Result<ConditionalPut, StorageError> = value.withUnsafeBytes { bytes in
            Result { () throws(StorageError) in
                try (attributes ?? .none).withTraits { (traits) throws(StorageError) in
                    try withBytes(of: key) { (key) throws(StorageError) in
                        let stored = try engine.put(
                            PutRequest(value: bytes, encoding: encoding, keepsCreation: true, traits: traits),
                            key: key, ifSequence: sequence, keepsTraits: attributes == nil, seesMemory: false)
                        return stored.map { .stored(sequence: $0.sequence) } ?? .changed
                    }
                }
            }
        }
        let outcome = try result.get()
        if attributes?.lifetime != nil { try engine.beginHousekeeping() }
        try engine.settle()
        return outcome
    }

    /// Stores the value of an entry in another form, if it is still the one that was seen (``CurrentEntry/sequence``); `false`: it
    /// is another by now, and nothing was stored. That is no use of the entry: its place in the order, its times, hits, lifetimes
    /// and owner stay. What then doesn't fit into the limit is evicted, the entry itself excepted.
    package func rewrite(
        _ value: [UInt8], forKey key: String, ifSequence sequence: UInt64, encoding: ValueEncoding
    ) throws(StorageError) -> Bool {
        let engine = try engine()
        let result: Result<Bool, StorageError> = value.withUnsafeBytes { bytes in
            Result { () throws(StorageError) in
                try withBytes(of: key) { (key) throws(StorageError) in
                    try engine.rewrite(bytes, encoding: encoding, key: key, ifSequence: sequence)
                }
            }
        }
        let isStored = try result.get()
        try engine.settle()
        return isStored
    }

    /// Changes an entry in one step that depends on what it is: a counter, a list that grows, a merge. `body` gets the
    /// entry, `nil` if there is none, and says what becomes of it. Nothing that others do comes between.
    ///
    /// No lock is held while `body` runs: it may take its time, be stopped, and use this archive. If another change of
    /// the same entry came first, `body` is called again with what is there then; so it must have no effects of its
    /// own. Each time somebody got on.
    /// - Returns: what `body` said last, which was done.
    /// - Throws: also `busy`, when others have changed the entry again and again for ten seconds.
    @discardableResult
    public func change(
        _ key: String, _ body: (CurrentEntry?) -> EntryChange
    ) throws(StorageError) -> EntryChange {
        let start = cp_monotonic_time()
        while cp_monotonic_time() &- start < ArchiveEngine.patienceNanoseconds {
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
        throw .busy(archive: name, process: 0, reason: "others change \"\(key)\" all the time; try again")
    }

    /// Makes the entry of `key` the most recent and counts a hit, without reading its value; `false`, and a miss, if
    /// there is none. Takes no lock.
    @discardableResult
    public func touch(_ key: String) throws(StorageError) -> Bool {
        let engine = try engine()
        return try withBytes(of: key) { (key) throws(StorageError) in try engine.touch(key) }
    }

    /// As ``touch(_:)``, and lets the entry live as long as this from now on: a session that slides on. The new deadline
    /// is written to the log, the value isn't.
    @discardableResult
    public func touch(_ key: String, lifetime: Duration) throws(StorageError) -> Bool {
        guard try setLifetime(lifetime, forKey: key) else {
            try countMiss()
            return false
        }
        return try touch(key)
    }
}

extension ArchiveEngine {
    func currentEntry(_ frame: Frame) -> CurrentEntry {
        CurrentEntry(
            value: Array(frame.value), encoding: frame.encoding,
            created: Timestamp(microseconds: frame.created),
            owner: ownerName(in: frame), sequence: frame.sequence)
    }
}
