/// Reads totals, counters and metadata without the lock.
struct StatusReader: ArchiveOperation {
    let engine: ArchiveEngine

    func metadata(of entry: FoundEntry, _ content: SlotContent) -> EntryMetadata {
        EntryMetadata(
            key: String(decoding: entry.frame.key, as: UTF8.self), valueBytes: Int(content.bytes),
            encoding: entry.frame.encoding, created: Timestamp(microseconds: entry.frame.created),
            accessed: Timestamp(microseconds: content.use?.accessed ?? 0), expires: content.expires,
            hits: content.use?.hits ?? 0, owner: entry.frame.ownerName, rank: nil,
            recency: content.use?.recency ?? 0, sequence: entry.frame.sequence,
            tier: content.isMemoryOnly ? .memory : engine.isHeld(entry.number) ? .both : .disk)
    }

    func metadata(of key: String) throws(StorageError) -> EntryMetadata? {
        let pending = index.touches.pending()
        var metadata: EntryMetadata?
        try withBytes(of: key) { (key) throws(StorageError) in
            try engine.withPresentContent(of: key, tag: engine.validTag(of: key), uses: pending) {
                metadata = self.metadata(of: $0, $1)
                if index.evictionPolicy == .s3fifo {
                    metadata?.queue = pending.queueState(of: $0.number, $1.tag, index)
                }
            }
        }
        return metadata
    }

    func status(configuration: ArchiveConfiguration) throws(StorageError) -> ArchiveStatus {
        let slots = index.processes.attached
        let living = slots.filter(engine.liveness.isAlive)
        let (entries, bytes, expired) = visibleTotals()
        let (footprint, requestBytes) = try diskUsage()
        return ArchiveStatus(
            name: engine.name, configuration: configuration, entries: entries,
            diskBytes: bytes,
            memoryBytes: living.reduce(0) { $0 &+ $1.memoryBytes }, footprint: footprint,
            requestBytes: requestBytes,
            undoBytes: UInt64(index.tombstoneBytes)
                + UndoWindow.tombstoneSlotBytes * UInt64(index.tombstoneCount),
            reclaimableBytes: UInt64(SpaceBudget(engine).reclaimableBytes), expiredEntries: expired,
            undoBudget: UndoWindow(engine).undoBudget, damagedPlaces: damagedPlaces,
            hits: slots.reduce(index.count(.hits)) { $0 &+ $1.hits },
            misses: slots.reduce(index.count(.misses)) { $0 &+ $1.misses },
            records: index.count(.records), deletes: index.count(.deletes),
            evictions: index.count(.evictions),
            expirations: index.count(.expirations), rejections: index.count(.rejections),
            latestEncoding: latestEncoding,
            attachedProcesses: living.count)
    }

    var damagedPlaces: Int { index.damagedPlaces + (index.loss == nil ? 0 : 1) }

    /// Number of entries and bytes of their values; expired ones are separate, and memory-only ones of ended processes left out.
    func visibleTotals() -> (entries: Int, bytes: UInt64, expired: Int) {
        let (entries, bytes, expired) = engine.undisturbed {
            let overdue = index.deadlines.overdue(at: Clock.boot())
            let (entries, bytes) = (index.entryCount, index.valueBytes)
            let expired = min(entries, overdue.entries)
            return (entries - expired, bytes - min(bytes, overdue.bytes), expired)
        }
        return (entries - min(entries, engine.countOrphans()), bytes, expired)
    }

    /// Encoding of the most recently accessed value, under S3-FIFO of the newest; skips up to 64 tombstoned entries.
    private var latestEncoding: ValueEncoding? {
        var number = index.newest(in: .small)
        if number == 0 { number = index.newest(in: .main) }
        for _ in 0..<64 {
            guard let slot = index.entry(number) else { return nil }
            if index.marks.isVisible(number, slot) {
                return engine.withFrame(at: slot.location) { $0.encoding }
            }
            number = slot.older
        }
        return nil
    }

    private func diskUsage() throws(StorageError) -> (all: UInt64, requests: UInt64) {
        var total: (all: UInt64, requests: UInt64) = (0, 0)
        for name in try engine.folder.names() where !name.hasSuffix(DamagedFile.suffix) {
            // A segment may be reclaimed between listing the folder and reading its size.
            if let status = try engine.folder.status(ofEntry: name), status.isRegular {
                total.all += UInt64(status.allocatedBytes)
                if name == ArchiveFile.requests { total.requests = UInt64(status.allocatedBytes) }
            }
        }
        return total
    }

    func processes() -> [AttachedProcess] {
        let liveness = engine.liveness
        return index.processes.attached.map { slot in
            AttachedProcess(
                pid: slot.identity.pid, name: slot.name, attached: Timestamp(microseconds: slot.attached),
                isAlive: liveness.isAlive(slot), hits: slot.hits, misses: slot.misses,
                memoryBytes: slot.memoryBytes, memoryLimit: slot.memoryLimit)
        }
    }
}
