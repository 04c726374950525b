import CPlatform

/// Opens a handle on an archive, as a writer, an observer or a copy: OnDiskFormat, "Opening". Used by one thread.
struct ArchiveOpening {
    let folder: FileDescriptor
    /// The descriptor, but with the name of its folder, by which the archive is found.
    let descriptor: Descriptor
    /// The name in the descriptor, if it differs.
    let otherName: String?
    let options: StoreOptions
    let purpose: Purpose

    enum Purpose {
        case writing
        /// Opens for reading. Repairs wait for no other process and evict no entry.
        case reading

        fileprivate var nanoseconds: Int64 { self == .writing ? ArchiveLock.timeoutNanoseconds : 0 }
    }

    init(
        folder: FileDescriptor, options: StoreOptions, for purpose: Purpose = .writing
    ) throws(StorageError) {
        self.folder = folder
        self.options = options
        self.purpose = purpose
        var descriptor = try Descriptor.read(in: folder)
        if let name = FileDescriptor.lastName(of: folder.path).flatMap(ArchiveName.name(ofFolder:)),
            !name.utf8.elementsEqual(descriptor.name.utf8)
        {
            otherName = descriptor.name
            descriptor.name = name
        } else {
            otherName = nil
        }
        self.descriptor = descriptor
    }

    /// Creates the handle, and maps the log for its role. Observers use no lock. `log`: a log known to end with this index.
    func engine(
        on memory: IndexMemory, as role: ArchiveRole, log known: SegmentLog? = nil
    ) throws(StorageError) -> ArchiveEngine {
        let isWriter = role.attachment != nil
        let index = IndexView(memory)
        let lock =
            isWriter && index.locking == .fileLock
            ? ArchiveLock(file: try folder.fileMakingIfMissing(named: ArchiveFile.lock), index)
            : ArchiveLock(of: index)
        let log: SegmentLog
        if let known {
            log = known
        } else {
            log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: isWriter)
            // Throws if an item with a segment's name isn't a file.
            _ = try log.segmentNumbers()
        }
        return ArchiveEngine(
            descriptor, in: folder, memory: memory, log: log, lock: lock, role: role,
            tasks: EngineTasks(
                recover: { (section) throws(StorageError) in try section.recover() },
                maintain: { MaintenanceRun($0).run() }))
    }

    func openForWriting() throws(StorageError) -> ArchiveEngine {
        let openLock = try OpenLock.take(in: folder, archive: descriptor.name)
        defer { openLock.release() }
        // An earlier holder of the open lock may have removed the archive because it could not complete its creation.
        guard try folder.hasEntry(named: Descriptor.fileName) else { throw .closed(name: descriptor.name) }
        let (engine, isAlone) = try handle()
        let section = try enter(engine, isAlone: isAlone)
        guard let attachment = engine.attachment else { throw .closed(name: descriptor.name) }
        let slot = try section.index.attach(
            .current(), name: options.processName ?? ProcessIdentity.executableName,
            memoryLimit: descriptor.configuration.memoryLimit ?? 0, attachment: attachment)
        crashPoint(.processAttached)
        if engine.kind == .collection {
            let reserve = RemovalReserve(folder: folder)
            engine.index.storage.removalReserve = reserve
            // A full disk must not prevent opening.
            try? reserve.extend(forEntries: Int(section.index.entryCapacity), partly: true)
        }
        if engine.kind != .log, options.recordsRequests, !options.isUnfinishedBackup,
            engine.index.storage.hasFile
        {
            let requests = RequestTrace.open(
                in: folder, of: descriptor.identity, salt: engine.index.salt)
            engine.index.storage.requests = requests
            if let requests {
                let address = UInt(bitPattern: Unmanaged.passUnretained(requests).toOpaque())
                engine.requests.store(address, ordering: .relaxed)
                section.index.adaptSampling()
            }
        }
        engine.slotLine.store(slot.line, ordering: .relaxed)
        return engine
    }

    /// A handle on a valid index, and whether no other process has the archive open. Requires the open lock.
    private func handle() throws(StorageError) -> (engine: ArchiveEngine, isAlone: Bool) {
        let attachment = try folder.fileMakingIfMissing(named: ArchiveFile.attached)
        let isAlone = try attachment.lock(.exclusive, wait: false)
        let (memory, log, isShared) = try soundIndex(attachment, isAlone: isAlone)
        try adaptLock(of: memory, isAlone: isAlone)
        // If other processes can't see this index, the attachment's exclusive lock keeps them out.
        if isShared, try attachment.lock(.shared, within: purpose.nanoseconds) == false {
            throw .busy(archive: descriptor.name, process: 0, reason: "another process is repairing it")
        }
        return (try engine(on: memory, as: .writer(attachment: attachment), log: log), isAlone)
    }

    /// Takes a handle's lock for the first time, and releases the slots of crashed processes. Requires the open lock.
    private func enter(_ engine: ArchiveEngine, isAlone: Bool) throws(StorageError) -> ArchiveSection {
        let section = try engine.acquire(nanoseconds: purpose.nanoseconds)
        let liveness = engine.liveness
        for slot in engine.index.processes.attached where isAlone || !liveness.isAlive(slot) {
            section.leave(slot)
        }
        try section.followDescriptor(mayEvict: purpose == .writing)
        return section
    }

    /// The existing index if it is trusted and sound, otherwise a new one; its log, if known; and whether others see the index.
    private func soundIndex(
        _ attachment: FileDescriptor, isAlone wasAlone: Bool
    ) throws(StorageError) -> (IndexMemory, log: SegmentLog?, isShared: Bool) {
        var isAlone = wasAlone
        var mark: MarkStanding?
        var isConsistent = false
        if let file = try trustedIndex(writable: true) {
            let memory = try mapForWriting(file)
            // The processes that have the index open have checked that it is sound.
            guard isAlone else { return (memory, nil, true) }
            mark = try IndexView(memory).cleanMark.standing()
            let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: true)
            if try isSound(memory, log, mark: mark ?? .none, attachment: attachment) {
                return (memory, log.knowsNumbers ? log : nil, true)
            }
            if mark == MarkStanding.none {
                let engine = try engine(on: memory, as: .writer(attachment: attachment), log: log)
                isConsistent = try IndexSoundness(engine).isConsistent()
            }
        }
        if !isAlone {
            let longest = min(purpose.nanoseconds, FileDescriptor.startNanoseconds)
            isAlone = try attachment.lock(.exclusive, within: longest)
        }
        guard isAlone else {
            if try hasFailedToSync() { throw .syncFailed(path: folder.path) }
            throw .busy(
                archive: descriptor.name, process: 0,
                reason:
                    "its index was removed or replaced while other processes use it, or the disk has no space for a new one; "
                    + "close the archive in those processes")
        }
        // A crashed process's index that is refused, but consistent in itself, may have entries that a damaged log has lost.
        let evidence = try PriorIndexEvidence(
            folder, descriptor, mark: mark, withRows: isConsistent, isAlone: true)
        let (memory, isShared) = try buildIndex(attachment: attachment, evidence: evidence)
        return (memory, nil, isShared)
    }

    func mapForWriting(_ file: FileDescriptor) throws(StorageError) -> IndexMemory {
        try IndexMemory(file, in: folder, writable: true, staysOpen: false)
    }

    /// An observer's handle: read-only, without lock or slot. Repairs an unusable index first if this process may write and needs
    /// to wait for no other; otherwise reads the log into memory. A stopped process never delays it (F6).
    func openForReading(mayWrite: Bool) throws(StorageError) -> ArchiveEngine {
        if let engine = try observe() { return engine }
        // Takes no open lock for an index that would be removed again.
        if mayWrite, try trustedIndex(writable: false) == nil ? !isLogJustWritten() : true,
            let writer = try? enterForReading()
        {
            // Takes the open lock again, to set the index's clean mark.
            ArchiveClosing(writer).close()
            if let engine = try observe() { return engine }
        }
        return try readIntoMemory()
    }

    private func enterForReading() throws(StorageError) -> ArchiveEngine {
        let openLock = try OpenLock.take(in: folder, archive: descriptor.name, nanoseconds: 0)
        defer { openLock.release() }
        let (engine, isAlone) = try handle()
        _ = try enter(engine, isAlone: isAlone)
        return engine
    }

    private func observe() throws(StorageError) -> ArchiveEngine? {
        guard let file = try trustedIndex(writable: false) else { return nil }
        let memory = try IndexMemory(file, in: folder, writable: false)
        defer { withExtendedLifetime(memory) {} }
        let index = IndexView(memory)
        guard !isLeftInterrupted(index) else { return nil }
        let mark = try index.cleanMark.standing()
        guard mark != .wrong else { return nil }
        let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: false)
        // Without a mark, usually a writer has the index open; one may just have removed the mark.
        if mark == .right, try log.extends(beyond: index, log.segmentNumbers()),
            try index.cleanMark.standing() == .right
        {
            return nil
        }
        return try engine(on: memory, as: .observer, log: log)
    }

    /// Starts again if a segment is reclaimed before it was read: its live frames may be in a newer one.
    private func readIntoMemory() throws(StorageError) -> ArchiveEngine {
        for attempt in 1...ArchiveOpening.readings {
            do throws(StorageError) {
                return try readOnceIntoMemory()
            } catch {
                guard error.isMissing, try folder.status().links > 0 else { throw error }
                cp_sleep(Int64(attempt) * 1_000_000)
            }
        }
        throw .busy(
            archive: descriptor.name, process: 0,
            reason: "other processes write its log faster than it can be read; try again")
    }

    /// Number of attempts to read the log, with pauses of some 200 ms in all.
    private static let readings = 20

    private func readOnceIntoMemory() throws(StorageError) -> ArchiveEngine {
        // Created before the log is read: later appends of other processes only make the log longer.
        let evidence = try PriorIndexEvidence(folder, descriptor)
        let present = try folder.status(ofEntry: ArchiveFile.index)?.number
        let memory = try memoryForIndex(mayGrow: false)
        let engine = try fill(memory, file: nil, as: .copy(beside: present), evidence: evidence)
        ArchiveSection(unshared: engine).index.setState(.ready)
        return engine
    }
}
