import CPlatform

/// Whether an index that is there may be used as it is (F3). What each check is for: OnDiskFormat, "Opening".
extension ArchiveOpening {
    /// The index file, if it is this archive's, of this boot, the very file it says it is, and agrees with
    /// the segments that are there; else `nil`.
    ///
    /// Those who have it open go on meanwhile: they may give up the segment that the header named, or make the file
    /// smaller. So it is only found wanting where its header still says the same afterwards.
    func trustedIndex(writable: Bool) throws(StorageError) -> OpenFile? {
        for _ in 0..<ArchiveOpening.mostLooksAtIndex {
            guard let file = try openIfPresent(ArchiveOpening.indexName, writable: writable),
                let header = try IndexHeader(file)
            else { return nil }
            crashPoint(.indexHeaderRead)
            if isOwn(header, of: file, try file.status()), try log(reaches: header.head) { return file }
            if try IndexHeader(file) == header { return nil }
        }
        return nil
    }

    private static let mostLooksAtIndex = 100

    /// Where the index says that the log ends, if the index is this archive's.
    var claimedHead: Location? {
        get throws(StorageError) { try ownIndex()?.1.head }
    }

    /// Pid of a living process that has the archive open for writing, as far as its index tells.
    var firstUser: Int32? {
        guard let (file, _) = try? ownIndex(),
            let memory = try? IndexMemory(file, as: .open(file, in: folder), writable: false)
        else { return nil }
        // A view takes no hold on it.
        defer { withExtendedLifetime(memory) {} }
        return IndexView(memory).processes.attached.first(
            where: Liveness(folder: folder, attachment: nil, ownLine: nil).isAlive)?
            .identity.pid
    }

    private func ownIndex() throws(StorageError) -> (OpenFile, IndexHeader)? {
        guard let file = try openIfPresent(ArchiveOpening.indexName, writable: false) else { return nil }
        guard let header = try IndexHeader(file), isOwn(header, of: file, try file.status()) else {
            return nil
        }
        return (file, header)
    }

    private func isOwn(_ header: IndexHeader, of file: OpenFile, _ status: OpenFile.Status) -> Bool {
        header.isOf(descriptor.identity) && header.state == .ready && header.isOfThisBoot
            && header.isOf(file, status) && header.fits(fileOf: status.bytes)
    }

    private func log(reaches head: Location) throws(StorageError) -> Bool {
        guard head.segment != 0 else { return true }
        let file = try openIfPresent(SegmentHeader.fileName(head.segment), writable: false)
        return try file.map { (file) throws(StorageError) in try file.status().bytes >= head.offset } ?? false
    }

    /// Whether anything is written where an index says that the log ends. Nobody leaves it so who leaves a clean mark: then the index
    /// is an older one.
    func isWrittenBehind(_ head: Location) throws(StorageError) -> Bool {
        guard head.segment != 0,
            let file = try openIfPresent(SegmentHeader.fileName(head.segment), writable: false)
        else { return false }
        return try file.read(atMost: 8, from: head.offset).contains { $0 != 0 }
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
        _ memory: IndexMemory, _ log: SegmentLog, mark: MarkStanding, attachment: OpenFile
    ) throws(StorageError) -> Bool {
        let index = ChangingIndex(unshared: memory)
        index.cleanMark.remove()
        let wasInterrupted = index.sectionOwner != 0
        // Whoever died while changing them left them to whoever takes the lock next.
        guard wasInterrupted || index.hasLimits(of: descriptor.configuration) else { return false }
        switch mark {
        // What was stored behind its head would be found by nobody.
        case .right where try isWrittenBehind(index.view.head) == false:
            return try log.highestSegment(above: index.view.head.segment) == nil
        case .wrong: return false
        case .right, .none: break
        }
        switch index.locking {
        // Nobody can hold it, and what is there may be no mutex.
        case .robustMutex: guard cp_mutex_init(index.mutex) == 0 else { return false }
        case .fileLock: break
        case .automatic, nil: return false
        }
        let engine = try engine(on: memory, as: .writer(attachment: attachment, slot: nil))
        guard try engine.headerIsSound(wasInterrupted: wasInterrupted) else { return false }
        // Totals and links of an interrupted change are made anew by the repair that comes with the lock.
        guard !wasInterrupted else { return true }
        guard try engine.addsUp() else { return false }
        try ArchiveSection(unshared: engine).recountSegments()
        return true
    }
}
