import StorageEngine

/// A set of changes of one archive that are applied atomically, with the reads that they depend on
/// (``ArchiveManager/transaction(_:)``). Use it only in its closure.
public struct ArchiveTransaction<Object: Archivable> {
    private enum Change {
        case stored(PreparedObject, ResolvedOptions)
        case deleted
    }

    private let core: ArchiveCore<Object>
    private var changes: [ExactText: Change] = [:]
    private(set) var order: [ExactText] = []
    /// The versions that were read.
    private var seen: [ExactText: UInt64?] = [:]

    init(core: ArchiveCore<Object>) { self.core = core }

    /// The object with this key, including this transaction's changes; `nil` if absent. Doesn't count as an access. If
    /// another process changes it before the transaction completes, the transaction starts again.
    public mutating func access(archiveWithKey key: String) throws -> Object? {
        switch changes[ExactText(key)] {
        case .deleted: return nil
        case .stored(let prepared, _): return try decode(prepared.encoded.bytes, key)
        case nil: break
        }
        if let present = try core.archive.current(key) {
            see(present.sequence, key)
            return try decode(present.value, key)
        }
        // An object that is too large for the disk is in memory only.
        let present = try core.withHashed(key) { try core.memory.peekOnlyHere($0, named: key) }
        see(present?.sequence, key)
        return try present.map { try core.object(of: $0.object, key) }
    }

    private mutating func see(_ sequence: UInt64?, _ key: String) {
        if seen[ExactText(key)] == nil { seen[ExactText(key)] = .some(sequence) }
    }

    /// Changes an object, whose key must stay the same, and updates it.
    mutating func modify(
        _ object: Object, _ key: String, _ options: ResolvedOptions, _ change: (inout Object) throws -> Void
    ) throws -> Object {
        var object = object
        try change(&object)
        guard ExactText(object.primaryKey) == ExactText(key) else {
            throw ArchiveError.otherKey(wanted: key, computed: object.primaryKey)
        }
        try store(object, options)
        return object
    }

    func concerns(_ keys: Set<ExactText>) -> ExactText? {
        keys.first { seen[$0] != nil || changes[$0] != nil }
    }

    /// As ``ArchiveManager/record(_:options:)``.
    public mutating func record(_ object: Object, options: EntryOptions = EntryOptions()) throws {
        try store(object, .new(options))
    }

    /// As ``ArchiveManager/update(_:options:)``.
    public mutating func update(_ object: Object, options: EntryOptions = EntryOptions()) throws {
        try store(object, .updated(options))
    }

    /// Deletes the object with this key, if present.
    public mutating func delete(archiveWithKey key: String) { set(.deleted, ExactText(key)) }

    mutating func store(_ object: Object, _ options: ResolvedOptions) throws {
        try store(core.prepare(object), options)
    }

    mutating func store(_ prepared: PreparedObject, _ options: ResolvedOptions) throws {
        let key = ExactText(prepared.name)
        // An update must not replace a newer version. Values that were read have been checked already.
        if options.isUpdate, changes[key] == nil, seen[key] == nil {
            see(try core.withHashed(key.text) { try core.version(toReplace: $0, key.text) }, key.text)
        }
        set(.stored(prepared, options), key)
    }

    private mutating func set(_ change: Change, _ key: ExactText) {
        if changes.updateValue(change, forKey: key) == nil { order.append(key) }
    }

    private func decode(_ bytes: [UInt8], _ key: String) throws -> Object {
        try bytes.withUnsafeBytes { try core.shared.decode($0, key).object }
    }

    func commit() throws -> Bool {
        guard try storeOnlyHere() ?? apply() else { return false }
        for case .stored(let prepared, _) in order.compactMap({ changes[$0] }) {
            prepared.storeProperties()
        }
        return true
    }

    /// Applies a transaction whose only change is an object that fits only into memory; `nil` for others.
    private func storeOnlyHere() throws -> Bool? {
        guard order.count == 1, seen.count <= 1, case .stored(let prepared, let options)? = changes[order[0]],
            try core.isKeptOnlyHere(prepared.encoded.bytes.count)
        else { return nil }
        guard let seen = seen.first else {
            try core.withHashed(prepared.name) { try core.put(prepared, $0, options) }
            return true
        }
        guard seen.key == order[0] else { return nil }
        return try core.put(prepared, options, ifSequence: seen.value)
    }

    private func apply() throws -> Bool {
        var batch = Batch()
        var deleted: [ExactText] = []
        for key in order {
            switch changes[key] {
            case .stored(let prepared, let options):
                let options = options.completed(core.shared.standardLifetime)
                let encoded = prepared.encoded
                if options.isUpdate {
                    batch.update(
                        encoded.bytes, forKey: key.text, encoding: encoded.encoding,
                        attributes: options.attributes, keeping: options.kept)
                } else {
                    batch.put(
                        encoded.bytes, forKey: key.text, encoding: encoded.encoding,
                        attributes: options.attributes)
                }
            case .deleted:
                batch.delete(key.text)
                deleted.append(key)
            case nil: break
            }
        }
        let seen = seen.map { SeenEntry(key: $0.key.text, sequence: $0.value) }
        let start = core.shared.times.begin()
        defer { core.shared.times.end(.change, start) }
        core.flights.outdate(deleted)
        guard try core.archive.apply(batch, ifUnchanged: seen) != nil else { return false }
        core.flights.outdate(order)
        do {
            for key in order {
                try core.dropFromMemory(key.text)
                if case .stored(_, let options)? = changes[key], options.keepsLifetime {
                    try core.slide(key.text)
                }
            }
        } catch StorageError.closed {
            // Another thread has just closed the archive. The changes are applied and must not be repeated.
        }
        return true
    }
}
