import CPlatform

/// How a handle on an archive comes to be: descriptor, trusted or rebuilt index, log, lock, a line in the
/// process table. States and their transitions: OnDiskFormat, "Opening".
struct ArchiveOpening {
    static let indexName = "index"
    static let newIndexName = "index.new"
    static let openingName = "opening"
    static let attachedName = "attached"
    static let lockName = "lock"

    let folder: OpenFile
    let descriptor: Descriptor
    let options: StoreOptions

    init(folder: OpenFile, options: StoreOptions) throws(StorageError) {
        self.folder = folder
        self.options = options
        guard try folder.hasEntry(named: Descriptor.fileName) else {
            throw .corrupted(
                path: folder.path + "/" + Descriptor.fileName, offset: 0,
                reason: "the archive's descriptor is missing; put it back, or move the folder away")
        }
        let file = try folder.file(named: Descriptor.fileName, writable: false)
        descriptor = try Descriptor.decode(file.read(atMost: Descriptor.maximumBytes), path: file.path)
    }

    /// Makes an archive's folder with its descriptor; the index comes with the first opening. `false` when
    /// another made it first. When this throws there is no archive, or one that another made.
    static func create(in store: OpenFile, name: String, configuration: ArchiveConfiguration)
        throws(StorageError) -> Bool
    {
        let folderName = ArchiveName.folder(for: name)
        try store.makeFolder(named: folderName)
        crashPoint(.archiveFolderMade)
        let folder = try store.folder(named: folderName)
        let opening = try folder.fileMakingIfMissing(named: openingName)
        try takeOpening(opening, archive: name)
        defer { opening.unlock() }
        if try folder.hasEntry(named: Descriptor.fileName) { return false }
        let descriptor = Descriptor(
            identity: try RandomSource.bytes(16, for: folder.path),
            hashKey: try RandomSource.bytes(16, for: folder.path),
            created: Clock.wall(),
            name: name, configuration: configuration)
        do throws(StorageError) {
            try replaceDescriptor(descriptor, in: folder)
            if configuration.durability != .process { try synchronizeNames(of: folder) }
        } catch {
            removeUnused(folder)
            throw error
        }
        return true
    }

    /// Takes back the creation of an archive that could then not be opened (a full disk), unless it is in use:
    /// what stays is a folder without a descriptor, which is no archive and is used when one is made.
    static func undoCreation(in store: OpenFile, name: String) {
        guard let folder = try? store.folder(named: ArchiveName.folder(for: name)),
            let opening = try? folder.fileMakingIfMissing(named: openingName),
            let isMine = try? opening.lock(.exclusive, wait: false), isMine
        else { return }
        defer { opening.unlock() }
        if let attachment = try? folder.file(named: attachedName, writable: true) {
            guard let isFree = try? attachment.lock(.exclusive, wait: false), isFree else { return }
            defer { attachment.unlock() }
            removeUnused(folder)
        } else {
            removeUnused(folder)
        }
    }

    /// Removes descriptor and index of an archive that holds nothing and that nobody has open.
    private static func removeUnused(_ folder: OpenFile) {
        guard let names = try? folder.names(),
            !names.contains(where: { SegmentHeader.number(ofFileName: $0) != nil })
        else { return }
        for name in [Descriptor.fileName, Descriptor.spareName, indexName, newIndexName] {
            try? folder.unlink(name)
        }
    }

    /// Returns when an archive's files, its folder and its store can be found after a power loss.
    static func synchronizeNames(of folder: OpenFile) throws(StorageError) {
        try folder.synchronizeNames()
        let store = try folder.parentFolder()
        try store.synchronizeNames()
        do throws(StorageError) {
            try store.parentFolder().synchronizeNames()
        } catch {
            // A folder of others that this user may not open; whoever made the store's folder there could.
            guard case .permissionDenied = error else { throw error }
        }
    }

    /// Opening and rebuilding happen one at a time; a process that was stopped in between holds up others
    /// for a bounded time only.
    static func takeOpening(_ file: OpenFile, archive: String) throws(StorageError) {
        for _ in 0..<5000 {
            if try file.lock(.exclusive, wait: false) { return }
            cp_sleep(2_000_000)
        }
        throw .busy(archive: archive, process: 0, reason: "another process has been opening it for 10 s")
    }

    // MARK: Opening for writing

    func openForWriting() throws(StorageError) -> ArchiveEngine {
        let opening = try folder.fileMakingIfMissing(named: ArchiveOpening.openingName)
        try ArchiveOpening.takeOpening(opening, archive: descriptor.name)
        defer { opening.unlock() }
        let attachment = try folder.fileMakingIfMissing(named: ArchiveOpening.attachedName)
        var isAlone = try attachment.lock(.exclusive, wait: false)
        var index = try trustedIndex(writable: true).map(mapForWriting)
        // Those who have it open have seen that it is sound.
        var mark: IndexMemory.CleanMark?
        if isAlone, let candidate = index {
            mark = try candidate.cleanMark()
            let isSound = try isSound(candidate, mark: mark ?? .none, attachment: attachment)
            if !isSound { index = nil }
        }
        if index == nil {
            if !isAlone { isAlone = try isUnattached(attachment) }
            guard isAlone else {
                if try hasFailedToSync() { throw .syncFailed(path: folder.path) }
                throw .busy(
                    archive: descriptor.name, process: 0,
                    reason:
                        "its index was removed or replaced while it is in use; close those processes first")
            }
            let witness = try IndexWitness(folder, descriptor, mark: mark)
            index = try mapForWriting(buildIndex(attachment: attachment, witness: witness))
        }
        guard let index, try attachment.lock(.shared, wait: true) else {
            throw .closed(name: descriptor.name)
        }
        let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: true)
        let lock = try makeLock(index)
        let bare = ArchiveEngine(
            name: descriptor.name, kind: descriptor.configuration.kind, folder: folder,
            hash: descriptor.hash(), index: index, log: log,
            lock: lock,
            processSlot: nil, attachment: attachment)
        try bare.acquire()
        defer { bare.release() }
        bare.cleanUpAfterTheDead()
        try followDescriptor(bare)
        let slot = index.attach(
            .current(), name: options.processName ?? ProcessIdentity.executableName,
            memoryLimit: descriptor.configuration.memoryLimit ?? 0)
        crashPoint(.processAttached)
        return ArchiveEngine(
            name: descriptor.name, kind: descriptor.configuration.kind, folder: folder,
            hash: descriptor.hash(), index: index, log: log,
            lock: lock,
            processSlot: slot, attachment: attachment)
    }

    private func mapForWriting(_ file: OpenFile) throws(StorageError) -> IndexMemory {
        try IndexMemory(
            file, as: .named(ArchiveOpening.indexName, in: folder, file.status()), writable: true)
    }

    /// Takes the attachment's lock exclusively if nobody has the archive open. A process that this one, or another
    /// that closed the archive, is just starting holds copies of its descriptors, and with them locks, until it
    /// runs a program of its own: that passes.
    private func isUnattached(_ attachment: OpenFile) throws(StorageError) -> Bool {
        for _ in 0..<50 {
            if try attachment.lock(.exclusive, wait: false) { return true }
            cp_sleep(4_000_000)
        }
        return false
    }

    /// Brings the index in line with the descriptor, which is the truth: whoever changed it last may have been
    /// killed, or have failed, before the index followed. Needs the archive's lock and the opening's.
    private func followDescriptor(_ engine: ArchiveEngine) throws(StorageError) {
        let configuration = try ArchiveOpening(folder: folder, options: options).descriptor.configuration
        let disk = configuration.diskLimit ?? .max
        engine.index.set64(IndexLayout.memoryLimitOffset, configuration.memoryLimit ?? .max)
        engine.index.set64(IndexLayout.diskLimitOffset, disk)
        engine.index.setDurability(configuration.durability)
        guard engine.valueBytes > disk else { return }
        _ = engine.index.takeStampAndDrain()
        // Without room for the frame that says so, the next put does it.
        try? engine.fit(into: disk)
    }

    /// Changes the descriptor and then what follows from it. One process at a time, and none that is opening.
    func changeConfiguration(
        _ change: (inout ArchiveConfiguration) throws(StorageError) -> Void,
        apply: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let opening = try folder.fileMakingIfMissing(named: ArchiveOpening.openingName)
        try ArchiveOpening.takeOpening(opening, archive: descriptor.name)
        defer { opening.unlock() }
        let before = try ArchiveOpening(folder: folder, options: options).descriptor
        var changed = before
        try change(&changed.configuration)
        try changed.configuration.validate()
        do throws(StorageError) {
            try ArchiveOpening.replaceDescriptor(changed, in: folder)
            if changed.configuration.durability != .process {
                try ArchiveOpening.synchronizeNames(of: folder)
            }
            try apply()
        } catch {
            // Neither happened, as far as that can be had; what can't is put right by the next opening.
            try? ArchiveOpening.replaceDescriptor(before, in: folder)
            throw error
        }
    }

    func makeLock(_ index: IndexMemory) throws(StorageError) -> ArchiveLock {
        if index.word32(IndexLayout.lockingOffset) == LockingMode.fileLock.rawValue {
            return ArchiveLock(file: try folder.fileMakingIfMissing(named: ArchiveOpening.lockName))
        }
        return ArchiveLock(robustMutexAt: index.base + IndexLayout.mutexOffset)
    }

    // MARK: Opening for reading only

    /// An observer's handle: maps read-only, holds no lock, and stays out of the process table. An index
    /// that cannot be trusted, or that a dead process left half changed, is first put right if this user may
    /// write; else the log is read into memory of this process.
    func openForReading(mayWrite: Bool) throws(StorageError) -> ArchiveEngine {
        if let engine = try observe() { return engine }
        if mayWrite, let writer = try? openForWriting() {
            writer.detach()
            if let engine = try observe() { return engine }
        }
        return try readIntoMemory()
    }

    private func observe() throws(StorageError) -> ArchiveEngine? {
        guard let file = try trustedIndex(writable: false) else { return nil }
        let index = try IndexMemory(file, as: .open(file), writable: false)
        let owner = index.word64(IndexLayout.sectionOwnerOffset)
        if owner != 0, cp_process_start(pid_t(truncatingIfNeeded: owner)) == 0 { return nil }
        guard try index.cleanMark() != .wrong else { return nil }
        let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: false)
        return ArchiveEngine(
            name: descriptor.name, kind: descriptor.configuration.kind, folder: folder,
            hash: descriptor.hash(), index: index, log: log,
            lock: ArchiveLock(robustMutexAt: index.base + IndexLayout.mutexOffset), processSlot: nil,
            attachment: nil)
    }

    private func readIntoMemory() throws(StorageError) -> ArchiveEngine {
        // Before the log is read: what others append meanwhile only makes it longer.
        let witness = try IndexWitness(folder, descriptor)
        let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: false)
        // More than the log can need: it reserves addresses, not memory.
        let most = try log.mostEntries(in: log.segmentNumbers())
        let chunks = (most + most / 8) / IndexLayout.chunkEntries + 16
        let index = try IndexMemory(privateBytes: IndexLayout.fileBytes(chunks: chunks), path: folder.path)
        try initialize(index, file: nil)
        let engine = ArchiveEngine(
            name: descriptor.name, kind: descriptor.configuration.kind, folder: folder,
            hash: descriptor.hash(), index: index, log: log,
            lock: ArchiveLock(robustMutexAt: index.base + IndexLayout.mutexOffset), processSlot: nil,
            attachment: nil)
        _ = try engine.rebuild()
        index.loss = witness?.loss(logEndsAt: engine.head, messages: engine.entryCount)
        index.set32(IndexLayout.stateOffset, IndexLayout.State.ready.rawValue)
        return engine
    }

    // MARK: Building

    /// Makes the index anew from the log. It keeps what a witness, the index that is given up for it, knows of
    /// losses.
    func buildIndex(attachment: OpenFile, witness: IndexWitness?) throws(StorageError) -> OpenFile {
        try forgetUnwrittenBytes()
        try folder.unlink(ArchiveOpening.newIndexName)
        let file = try folder.newFile(named: ArchiveOpening.newIndexName)
        do throws(StorageError) {
            try file.extend(from: 0, to: IndexLayout.fileBytes(chunks: 1))
            let index = try IndexMemory(file, as: .open(file), writable: true)
            try initialize(index, file: file)
            let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: true)
            let engine = ArchiveEngine(
                name: descriptor.name, kind: descriptor.configuration.kind, folder: folder,
                hash: descriptor.hash(), index: index, log: log,
                lock: ArchiveLock(robustMutexAt: index.base + IndexLayout.mutexOffset), processSlot: nil,
                attachment: attachment)
            crashPoint(.indexFileMade)
            _ = try engine.rebuild()
            index.loss = witness?.loss(logEndsAt: engine.head, messages: engine.entryCount)
            if let limit = descriptor.configuration.diskLimit {
                try engine.fit(into: limit)
            }
            index.set32(IndexLayout.stateOffset, IndexLayout.State.ready.rawValue)
            crashPoint(.indexBuilt)
            try folder.rename(ArchiveOpening.newIndexName, to: ArchiveOpening.indexName)
            crashPoint(.indexRenamed)
        } catch {
            try? folder.unlink(ArchiveOpening.newIndexName)
            throw error
        }
        return file
    }

    /// After a sync that failed, the kernel may show bytes of the log that the medium does not have. Nobody has
    /// the archive open now, so they can be forgotten, and the index is made from what is really there.
    private func forgetUnwrittenBytes() throws(StorageError) {
        guard try hasFailedToSync() else { return }
        for name in try folder.names() where SegmentHeader.number(ofFileName: name) != nil {
            guard let file = try openIfPresent(name, writable: true) else { continue }
            // What can still be written is; that some could not be is known.
            try? file.synchronize()
            file.forgetCachedBytes()
        }
    }

    private func hasFailedToSync() throws(StorageError) -> Bool {
        guard let index = try openIfPresent(ArchiveOpening.indexName, writable: false) else { return false }
        var header = ByteReader(try index.read(atMost: 16))
        _ = header.take(IndexLayout.stateOffset)
        return header.uint32() == IndexLayout.State.syncFailed.rawValue
    }

    private func initialize(_ index: IndexMemory, file: OpenFile?) throws(StorageError) {
        let mode = options.locking.resolved
        index.set64(IndexLayout.magicOffset, IndexLayout.magic)
        index.set32(IndexLayout.versionOffset, IndexLayout.version)
        index.set32(IndexLayout.stateOffset, IndexLayout.State.building.rawValue)
        index.setBytes(descriptor.identity, at: IndexLayout.identityOffset)
        index.setBytes(BootIdentity.current, at: IndexLayout.bootOffset)
        if let file { try index.identify(file) }
        index.set32(IndexLayout.lockingOffset, mode.rawValue)
        if mode == .robustMutex {
            let failure = cp_mutex_init(index.base + IndexLayout.mutexOffset)
            guard failure == 0 else {
                throw .system(operation: "make the lock of", path: folder.path, code: failure)
            }
        }
        index.set32(IndexLayout.bucketCountOffset, IndexMemory.firstBuckets)
        index.set64(IndexLayout.touchTailOffset, 1)
        index.set64(IndexLayout.touchDrainedOffset, 1)
        index.set64(IndexLayout.diskLimitOffset, descriptor.configuration.diskLimit ?? .max)
        index.set64(IndexLayout.memoryLimitOffset, descriptor.configuration.memoryLimit ?? .max)
        index.setDurability(descriptor.configuration.durability)
        index.set64(IndexLayout.indexBytesOffset, UInt64(IndexLayout.fileBytes(chunks: 1)))
        try index.grow(toHold: IndexLayout.chunkEntries)
    }
}
