import CPlatform

/// Whether an index that is there may be used as it is (F3). What each check is for: OnDiskFormat, "Opening".
extension ArchiveOpening {
    /// The index file, if it is this archive's, of this boot, the very file it says it is, and agrees with
    /// the segments that are there; else `nil`.
    func trustedIndex(writable: Bool) throws(StorageError) -> OpenFile? {
        guard let (file, header) = try ownIndex(writable: writable), try log(reaches: header.head) else {
            return nil
        }
        return file
    }

    /// Where the index says that the log ends, if the index is this archive's.
    var claimedHead: Location? {
        get throws(StorageError) { try ownIndex(writable: false)?.1.head }
    }

    /// Pid of a living process that has the archive open for writing, as far as its index tells.
    var firstUser: Int32? {
        guard let (file, _) = try? ownIndex(writable: false),
            let index = try? IndexMemory(file, as: .open(file), writable: false)
        else { return nil }
        return index.attachedSlots.first(
            where: Liveness(folder: folder, attachment: nil, ownLine: nil).isAlive)?
            .identity.pid
    }

    private func ownIndex(writable: Bool) throws(StorageError) -> (OpenFile, IndexHeader)? {
        guard let file = try openIfPresent(ArchiveOpening.indexName, writable: writable) else { return nil }
        let status = try file.status()
        guard status.bytes >= IndexLayout.fileBytes(chunks: 1), let header = try IndexHeader(file) else {
            return nil
        }
        let capacity = header.word32(IndexLayout.entryCapacityOffset)
        guard header.word64(IndexLayout.magicOffset) == IndexLayout.magic,
            header.word32(IndexLayout.versionOffset) == IndexLayout.version,
            header.word32(IndexLayout.stateOffset) == IndexLayout.State.ready.rawValue,
            header.identity(IndexLayout.identityOffset) == descriptor.identity,
            header.isOfThisBoot, header.isOf(file, status),
            Int(capacity) <= IndexLayout.chunks(inFileOf: status.bytes) * IndexLayout.chunkEntries,
            header.word32(IndexLayout.entryHighWaterOffset) <= capacity,
            Int(header.word32(IndexLayout.bucketCountOffset)) <= Int(capacity) / IndexLayout.chunkEntries
                * IndexLayout.chunkBuckets,
            header.word32(IndexLayout.bucketCountOffset) > 0
        else { return nil }
        return (file, header)
    }

    private func log(reaches head: Location) throws(StorageError) -> Bool {
        guard head.segment != 0 else { return true }
        let file = try openIfPresent(SegmentHeader.fileName(head.segment), writable: false)
        return try file.map { (file) throws(StorageError) in try file.status().bytes >= head.offset } ?? false
    }

    /// `nil` when there is no such file, or none that may be used. That it can't be opened now (no descriptor is
    /// free) is an error, and says nothing about the file.
    func openIfPresent(_ name: String, writable: Bool) throws(StorageError) -> OpenFile? {
        do throws(StorageError) {
            return try folder.file(named: name, writable: writable)
        } catch {
            switch error {
            case .corrupted, .permissionDenied, .readOnly, .system(_, _, SystemCode.missing): return nil
            default: throw error
            }
        }
    }

    /// Whether a trusted index that nobody has open is what its last users left, and not damaged since: by its
    /// clean mark, or, when a user died, by adding up what is in it. Takes the clean mark away.
    ///
    /// Without this, a limit or a segment's count that had changed in a closed index made the next operation evict
    /// or drop what was intact.
    func isSound(
        _ index: IndexMemory, mark: IndexMemory.CleanMark, attachment: OpenFile
    ) throws(StorageError) -> Bool {
        index.removeCleanMark()
        let wasInterrupted = index.word64(IndexLayout.sectionOwnerOffset) != 0
        // Whoever died while changing them left them to whoever takes the lock next.
        guard wasInterrupted || index.hasLimits(of: descriptor.configuration) else { return false }
        switch mark {
        case .right: return try knowsAllSegments(index)
        case .wrong: return false
        case .none: break
        }
        let mode = index.word32(IndexLayout.lockingOffset)
        if mode == LockingMode.robustMutex.rawValue {
            // Nobody can hold it, and what is there may be no mutex.
            guard cp_mutex_init(index.base + IndexLayout.mutexOffset) == 0 else { return false }
        } else if mode != LockingMode.fileLock.rawValue {
            return false
        }
        let engine = try engine(on: index, as: .writer(attachment: attachment, slot: nil))
        guard try engine.headerIsSound(wasInterrupted: wasInterrupted) else { return false }
        // Totals and links of an interrupted change are made anew by the repair that comes with the lock.
        guard !wasInterrupted else { return true }
        guard try engine.addsUp() else { return false }
        try engine.recountSegments()
        return true
    }

    /// Whether the index knows of all segments: what was stored in one above its head would be found by nobody.
    private func knowsAllSegments(_ index: IndexMemory) throws(StorageError) -> Bool {
        let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: true)
        let head = Location(raw: index.word64(IndexLayout.headOffset))
        return try log.highestSegment(above: head.segment) == nil
    }
}

extension IndexMemory {
    fileprivate func hasLimits(of configuration: ArchiveConfiguration) -> Bool {
        word64(IndexLayout.diskLimitOffset) == configuration.diskLimit ?? .max
            && word64(IndexLayout.memoryLimitOffset) == configuration.memoryLimit ?? .max
    }
}
