import StorageEngine

/// Several changes of one archive that count together or not at all, and what is read for them
/// (``ArchiveManager/transaction(_:)``). For the thread that it is given to, during the call.
public struct ArchiveTransaction<Archive: Archivable> {
    private enum Change {
        case stored(EncodedObject, Terms)
        case deleted
    }

    private let core: ArchiveCore<Archive>
    private var changes: [ExactText: Change] = [:]
    /// The keys of the changes, in the order in which each was changed first.
    private var order: [ExactText] = []
    /// Which versions were read.
    private var seen: [ExactText: UInt64?] = [:]
    /// What objects consist of that has archives of its own.
    private var properties: [() -> Void] = []

    init(core: ArchiveCore<Archive>) { self.core = core }

    /// The object of a key as this transaction has left it; `nil` if there is none. Leaves no trace. Should another process
    /// change it before the transaction is through, that is begun anew.
    public mutating func access(archiveWithKey key: String) throws -> Archive? {
        switch changes[ExactText(key)] {
        case .deleted: return nil
        case .stored(let encoded, _): return try decode(encoded.bytes, key)
        case nil: break
        }
        let present = try core.archive.current(key)
        if seen[ExactText(key)] == nil { seen[ExactText(key)] = .some(present?.sequence) }
        // One that is too large for the disk is in memory only.
        guard let present else { return try core.peek(key) }
        return try decode(present.value, key)
    }

    /// As ``ArchiveManager/record(_:expiresIn:inMemory:owner:)``.
    public mutating func record(
        _ object: Archive, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil
    ) throws {
        try store(object, .new(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner))
    }

    /// As ``ArchiveManager/update(_:expiresIn:inMemory:owner:dropping:)``.
    public mutating func update(
        _ object: Archive, expiresIn lifetime: Duration? = nil, inMemory memoryLifetime: Duration? = nil,
        owner: String? = nil, dropping dropped: Set<ArchiveTerm> = []
    ) throws {
        try store(
            object,
            .updated(lifetime: lifetime, memoryLifetime: memoryLifetime, owner: owner, dropping: dropped))
    }

    /// Deletes the object of a key; nothing happens if there is none.
    public mutating func delete(archiveWithKey key: String) { set(.deleted, ExactText(key)) }

    private mutating func store(_ object: Archive, _ terms: Terms) throws {
        store(try core.prepare(object), terms)
    }

    mutating func store(_ prepared: PreparedObject, _ terms: Terms) {
        properties += prepared.properties
        set(.stored(prepared.encoded, terms), ExactText(prepared.name))
    }

    private mutating func set(_ change: Change, _ key: ExactText) {
        if changes.updateValue(change, forKey: key) == nil { order.append(key) }
    }

    private func decode(_ bytes: [UInt8], _ key: String) throws -> Archive {
        try bytes.withUnsafeBytes { try core.shared.decode($0, key).object }
    }

    /// Makes the changes; `false` if something that was read is another by now.
    func commit() throws -> Bool {
        for store in properties { store() }
        var batch = Batch()
        for key in order {
            switch changes[key] {
            case .stored(let encoded, let terms):
                let terms = terms.completed(core.shared.standardLifetime)
                if terms.isUpdate {
                    batch.update(
                        encoded.bytes, forKey: key.text, encoding: encoded.encoding,
                        attributes: terms.attributes, keeping: terms.kept)
                } else {
                    batch.put(
                        encoded.bytes, forKey: key.text, encoding: encoded.encoding,
                        attributes: terms.attributes)
                }
            case .deleted: batch.delete(key.text)
            case nil: break
            }
        }
        let seen = seen.map { SeenEntry(key: $0.key.text, sequence: $0.value) }
        guard try core.archive.apply(batch, ifUnchanged: seen) != nil else { return false }
        do {
            for key in order {
                try core.noteChanged(key.text)
                try core.slide(key.text)
            }
        } catch StorageError.closed {
            // By another thread, just now; what memory had goes with that. The changes are made, and not to be made again.
        }
        return true
    }
}
