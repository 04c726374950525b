/// One change of a batch as the engine carries it out. Keys and owners are in the batch's `bytes`.
struct BatchChange {
    /// Its place in the batch.
    var item: Int
    var key: Range<Int>
    var tag: UInt32
    /// `nil`: a delete.
    var value: [UInt8]?
    var encoding: ValueEncoding
    var keepsCreation: Bool
    var deadline = Deadline.never
    var memoryInterval: Int64 = 0
    var owner: Range<Int>

    // Found out under the lock.
    /// The present entry; 0: none.
    var number: UInt32 = 0
    var previous = Location.none
    var created: Int64?
    var isExpired = false

    /// Whether it leaves a frame in the log.
    var isNeeded: Bool { value != nil || number != 0 }
}

/// A batch made ready before the lock is taken: keys are checked and hashed, and of several changes of one key the
/// last remains.
struct PreparedBatch {
    /// Keys and owners, one behind another.
    let bytes: [UInt8]
    let changes: [BatchChange]
    let itemCount: Int
    let hasDeadlines: Bool
    /// Sum of the values that it leaves.
    let valueBytes: Int

    init(_ batch: Batch, _ engine: ArchiveEngine) throws(StorageError) {
        guard engine.kind != .log else {
            throw .wrongKind(archive: engine.name, kind: engine.kind, operation: "apply a batch")
        }
        var bytes: [UInt8] = []
        var changes: [BatchChange] = []
        var last: [UInt64: [Int]] = [:]
        changes.reserveCapacity(batch.count)
        last.reserveCapacity(batch.count)
        for (item, content) in batch.items.enumerated() {
            let start = bytes.count
            bytes.append(contentsOf: content.key.utf8)
            let key = start..<bytes.count
            let hash = try PreparedBatch.hash(of: key, in: bytes, engine)
            var change = BatchChange(
                item: item, key: key, tag: UInt32(truncatingIfNeeded: hash), value: content.value,
                encoding: content.encoding, keepsCreation: content.keepsCreation, owner: 0..<0)
            try content.attributes.withTraits { (traits) throws(StorageError) in
                change.deadline = traits.deadline
                change.memoryInterval = traits.memoryInterval
                let start = bytes.count
                bytes.append(contentsOf: traits.owner)
                change.owner = start..<bytes.count
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
        self.bytes = bytes
        itemCount = batch.count
        self.changes = changes.filter { $0.item >= 0 }
        hasDeadlines = self.changes.contains { $0.deadline != Deadline.never }
        valueBytes = self.changes.reduce(0) { $0 + ($1.value?.count ?? 0) }
    }

    private static func hash(
        of key: Range<Int>, in bytes: [UInt8], _ engine: ArchiveEngine
    ) throws(StorageError) -> UInt64 {
        let result: Result<UInt64, StorageError> = bytes.withUnsafeBytes { bytes in
            Result { () throws(StorageError) in
                let key = UnsafeRawBufferPointer(rebasing: bytes[key])
                try ArchiveEngine.validate(key: key)
                return engine.hash(key)
            }
        }
        return try result.get()
    }
}

extension BatchChange {
    /// What its frame says besides key and value; `bytes` are the batch's.
    func traits(_ bytes: UnsafeRawBufferPointer) -> EntryTraits {
        EntryTraits(
            deadline: deadline, memoryInterval: memoryInterval,
            owner: UnsafeRawBufferPointer(rebasing: bytes[owner]))
    }

    /// Size of its frame.
    func frameBytes(_ bytes: UnsafeRawBufferPointer) -> Int {
        let size = FrameExtension.partBytes(BatchPart.bytes) + (value == nil ? 0 : traits(bytes).bytes)
        return Frame.bytes(key: key.count, extension: size, value: value?.count ?? 0)
    }
}
