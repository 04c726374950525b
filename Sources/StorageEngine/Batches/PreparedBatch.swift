/// The condition that an entry is unchanged. Its key is in the batch's `bytes`.
struct BatchCondition {
    var key: Range<Int>
    var tag: UInt32
    /// Sequence of the entry; `nil` if the key must be absent.
    var sequence: UInt64?
}

/// One change of a batch, prepared for the engine. Its key is in the batch's `bytes`.
struct BatchChange {
    /// Position of the change in the batch; -1 if a later change of the same key replaces it.
    var item: Int
    var key: Range<Int>
    var tag: UInt32
    /// The new value; `nil` for a delete.
    var value: [UInt8]?
    var encoding: ValueEncoding
    var keepsCreation: Bool
    var deadline = Deadline.never
    var memoryInterval: Int64 = 0
    var owner: [UInt8] = []
    var kept: KeptOptions

    /// Creation time; `nil`: the time of the batch. Under the lock, an existing entry's creation time replaces it.
    var created: Int64?

    // Set under the lock: the present entry; 0: absent.
    var number: UInt32 = 0
    var previous = Location.none
    var isExpired = false

    var isNeeded: Bool { value != nil || number != 0 }
}

/// A batch prepared before the lock is taken: of several changes of a key only the last remains.
struct PreparedBatch {
    let bytes: [UInt8]
    let changes: [BatchChange]
    let itemCount: Int
    let hasDeadlines: Bool
    let conditions: [BatchCondition]
    let valueBytes: Int

    init(_ batch: Batch, ifUnchanged seen: [SeenEntry], _ engine: ArchiveEngine) throws(StorageError) {
        try engine.requireEntries(to: "apply a batch")
        var bytes: [UInt8] = []
        var changes: [BatchChange] = []
        var last: [UInt64: [Int]] = [:]
        changes.reserveCapacity(batch.count)
        last.reserveCapacity(batch.count)
        for (item, content) in batch.items.enumerated() {
            let start = bytes.count
            bytes.append(contentsOf: content.key.utf8)
            let key = start..<bytes.count
            let hash = try engine.validHash(of: content.key)
            var change = BatchChange(
                item: item, key: key, tag: UInt32(truncatingIfNeeded: hash), value: content.value,
                encoding: content.encoding, keepsCreation: content.keepsCreation, kept: content.kept,
                created: content.created?.microseconds)
            try content.attributes.withFrameOptions { (options) throws(StorageError) in
                change.deadline = options.deadline
                change.memoryInterval = options.memoryInterval
                change.owner = Array(options.owner)
            }
            if let value = content.value, value.count > Frame.maximumValueBytes {
                throw .batchTooLarge(
                    bytes: value.count, limit: UInt64(Batch.maximumBytes), archive: engine.name)
            }
            let same = last[hash]?.first { bytes[changes[$0].key].elementsEqual(bytes[key]) }
            if let same { changes[same].item = -1 }
            last[hash] = (last[hash] ?? []).filter { $0 != same } + [changes.count]
            changes.append(change)
        }
        var conditions: [BatchCondition] = []
        for entry in seen {
            let start = bytes.count
            bytes.append(contentsOf: entry.key.utf8)
            let hash = try engine.validHash(of: entry.key)
            conditions.append(
                BatchCondition(
                    key: start..<bytes.count, tag: UInt32(truncatingIfNeeded: hash), sequence: entry.sequence)
            )
        }
        self.conditions = conditions
        self.bytes = bytes
        itemCount = batch.count
        self.changes = changes.filter { $0.item >= 0 }
        hasDeadlines = self.changes.contains { $0.deadline != Deadline.never }
        valueBytes = self.changes.reduce(0) { $0 + ($1.value?.count ?? 0) }
    }
}

extension BatchChange {
    func withFrameOptions<Value>(_ body: (FrameOptions) -> Value) -> Value {
        guard value != nil else { return body(FrameOptions()) }
        return owner.withUnsafeBytes {
            body(FrameOptions(deadline: deadline, memoryInterval: memoryInterval, owner: $0))
        }
    }

    mutating func keep(_ present: FoundEntry) {
        if kept.contains(.lifetime) { deadline = present.slot.deadline }
        if kept.contains(.memoryLifetime) { memoryInterval = present.frame.memoryInterval }
        if kept.contains(.owner) { owner = Array(present.frame.owner) }
    }

    var frameBytes: Int {
        let size = FrameExtension.partBytes(BatchPart.bytes) + withFrameOptions { $0.bytes }
        return Frame.bytes(key: key.count, extension: size, value: value?.count ?? 0)
    }
}
