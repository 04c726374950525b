import CPlatform

/// Whether an existing index may be used (F3). The purpose of each check: OnDiskFormat, "Opening".
extension ArchiveOpening {
    /// The index file if it belongs to this archive and this boot, is no copy, and agrees with the segments; otherwise `nil`.
    /// Other processes may change it, so it is rejected only if its header is the same after the checks.
    func trustedIndex(writable: Bool) throws(StorageError) -> FileDescriptor? {
        for _ in 0..<ArchiveOpening.mostLooksAtIndex {
            guard let file = try openIfPresent(ArchiveFile.index, writable: writable),
                let header = try IndexHeader(file)
            else { return nil }
            crashPoint(.indexHeaderRead)
            if header.state == .ready, isOwn(header, of: file, try file.status()),
                try log(reaches: header.head)
            {
                return file
            }
            if try IndexHeader(file) == header { return nil }
        }
        return nil
    }

    private static let mostLooksAtIndex = 100

    /// Process number of a live process that has the archive open for writing, if the index names one.
    var firstUser: Int32? {
        guard let (file, _) = try? ownIndex(),
            let memory = try? IndexMemory(file, in: folder, writable: false)
        else { return nil }
        defer { withExtendedLifetime(memory) {} }
        return IndexView(memory).processes.attached.first(
            where: Liveness(folder: folder, attachment: nil, ownLine: nil).isAlive)?
            .identity.pid
    }

    /// The index and its header, which may be replaced; `nil` unless it belongs to this archive.
    func ownIndex() throws(StorageError) -> (file: FileDescriptor, header: IndexHeader)? {
        guard let file = try openIfPresent(ArchiveFile.index, writable: false) else { return nil }
        guard let header = try IndexHeader(file), header.state == .ready || header.state == .replaced,
            isOwn(header, of: file, try file.status())
        else { return nil }
        return (file, header)
    }

    private func isOwn(_ header: IndexHeader, of file: FileDescriptor, _ status: FileDescriptor.Status)
        -> Bool
    {
        header.isOf(descriptor.identity) && header.isOfThisBoot && header.isOf(file, status)
            && header.fits(fileOf: status.bytes)
    }

    private func log(reaches head: Location) throws(StorageError) -> Bool {
        guard head.segment != 0 else { return true }
        let file = try openIfPresent(SegmentHeader.fileName(head.segment), writable: false)
        return try file.map { (file) throws(StorageError) in try file.status().bytes >= head.offset } ?? false
    }

    /// Opens a file; `nil` if it is absent or may not be used. Throws if it can't be opened now.
    func openIfPresent(_ name: String, writable: Bool) throws(StorageError) -> FileDescriptor? {
        func isUnusable(_ error: StorageError) -> Bool {
            if case .readOnly = error { return true }
            return error.isMissingOrCorrupted || error.isPermissionDenied
        }
        return try StorageError.nilIf(isUnusable, folder.file(named: name, writable: writable))
    }

    /// Whether a trusted, unopened index is as its last users left it, according to its clean mark, which is removed, or by
    /// verifying its totals. With wrong limits or counts the next operation would remove intact entries.
    func isSound(
        _ memory: IndexMemory, _ log: SegmentLog, mark: MarkStanding, attachment: FileDescriptor
    ) throws(StorageError) -> Bool {
        let index = ChangingIndex(unshared: memory)
        // Unless the index is rebuilt now, later processes must not trust it either. So a wrong mark stays, and a right one is
        // invalidated if the index lacks entries of the log.
        guard mark != .wrong else { return false }
        if mark == .right, try log.extends(beyond: index.view, log.segmentNumbers()) {
            index.cleanMark.spoil()
            return false
        }
        index.cleanMark.remove()
        let wasInterrupted = index.lockOwner != 0
        // If a process crashed while changing the limits, the next holder of the lock completes the change.
        let configuration = descriptor.configuration
        guard
            wasInterrupted
                || index.hasLimits(of: configuration) && index.evictionPolicy == configuration.evictionPolicy
        else { return false }
        if mark == .right { return true }
        switch index.locking {
        // No process can hold the mutex, and its bytes may not be valid.
        case .robustMutex: guard cp_mutex_init(index.mutex) == 0 else { return false }
        case .fileLock: break
        case .automatic, nil: return false
        }
        let engine = try engine(on: memory, as: .writer(attachment: attachment))
        let soundness = IndexSoundness(engine)
        guard try soundness.isHeaderSound(wasInterrupted: wasInterrupted) else { return false }
        // After an interrupted change, recovery recomputes totals and links when the lock is taken.
        guard !wasInterrupted else { return true }
        guard try soundness.isConsistent() else { return false }
        try ArchiveSection(unshared: engine).recountSegments()
        return true
    }
}

extension SegmentLog {
    /// Whether the log, of these segments, has more than a closed index records: the index is old, or files were copied.
    /// `afterRestart`: also finds a frame whose beginning a crash of the machine has lost.
    func extends(
        beyond index: IndexView, _ numbers: [UInt32], afterRestart: Bool = false
    ) throws(StorageError) -> Bool {
        let head = index.head
        guard head != .none, let first = numbers.first else { return !numbers.isEmpty }
        let name = SegmentHeader.fileName(head.segment)
        let file = try StorageError.nilIf(
            \.isPermissionDenied, folder.fileIfPresent(named: name, writable: false))
        let bytes = afterRestart ? 1 << 20 : 8
        if let file = file ?? nil,
            try file.read(atMost: bytes, from: head.offset).contains(where: { $0 != 0 })
        {
            return true
        }
        if try highestSegment(above: head.segment, in: numbers) != nil { return true }
        let oldest = index.oldestSegment
        guard first < oldest, let began = try? checkHeader(of: head.segment).oldest else { return false }
        return numbers.contains { $0 >= began && $0 < oldest && (try? holdsFrames($0)) == true }
    }
}
