import CPlatform

/// Making an index anew from the log.
extension ArchiveOpening {
    /// Makes the index anew from the log, and gives whether other processes see it. It keeps what a witness, the index
    /// that is given up for it, knows of losses. Needs the turn to open, and that nobody has the archive open for writing.
    ///
    /// What no longer fits into the limit goes. On a full disk the index that is given up makes room. Where that isn't enough,
    /// or there was none, what an archive with a limit would evict first goes, or else the index stays in the memory of this
    /// process: so whoever comes to make room always can. For who looks no entry goes. OnDiskFormat, "A full disk".
    func buildIndex(
        attachment: OpenFile, witness: IndexWitness?
    ) throws(StorageError) -> (IndexMemory, isShared: Bool) {
        try forgetUnwrittenBytes()
        do throws(StorageError) {
            return (try buildIndexFile(attachment: attachment, witness: witness, isRoomy: true), true)
        } catch {
            guard case .noSpace = error else { throw error }
            if let index = try buildIndexInPlaceOfTheOld(attachment: attachment, witness: witness) {
                return (index, true)
            }
            guard purpose == .writing else { throw error }
            return try buildIndexInMemory(attachment: attachment, witness: witness, refusal: error)
        }
    }

    private func buildIndexFile(
        attachment: OpenFile, witness: IndexWitness?, isRoomy: Bool
    ) throws(StorageError) -> IndexMemory {
        try folder.unlink(ArchiveOpening.newIndexName)
        let file = try folder.newFile(named: ArchiveOpening.newIndexName)
        do throws(StorageError) {
            try file.extend(from: 0, to: IndexLayout.fileBytes(chunks: 1))
            let engine = try fill(
                IndexMemory(file, as: .open(file, in: folder), writable: true), file: file,
                as: .writer(attachment: attachment, slot: nil), witness: witness,
                isRoomy: isRoomy)
            let section = ArchiveSection(unshared: engine)
            if purpose == .writing, let limit = descriptor.configuration.diskLimit {
                try section.fitMakingRoom(into: limit)
            }
            section.index.state = .ready
            crashPoint(.indexBuilt)
            try folder.rename(ArchiveOpening.newIndexName, to: ArchiveOpening.indexName)
            crashPoint(.indexRenamed)
        } catch {
            try? folder.unlink(ArchiveOpening.newIndexName)
            throw error
        }
        return try mapForWriting(file)
    }

    /// Removes the index that is there, which nobody trusts, and builds in its room; `nil` where that isn't enough.
    /// Observers that still have it mapped let go of it at their next look.
    private func buildIndexInPlaceOfTheOld(
        attachment: OpenFile, witness: IndexWitness?
    ) throws(StorageError) -> IndexMemory? {
        guard try folder.hasEntry(named: ArchiveOpening.indexName) else { return nil }
        try folder.unlink(ArchiveOpening.indexName)
        crashPoint(.oldIndexRemoved)
        for attempt in 0..<ArchiveOpening.looksForRoom {
            if attempt > 0 { cp_sleep(25_000_000) }
            do throws(StorageError) {
                return try buildIndexFile(attachment: attachment, witness: witness, isRoomy: false)
            } catch {
                guard case .noSpace = error else { throw error }
            }
        }
        return nil
    }

    /// How often room is looked for that observers are about to give back.
    private static let looksForRoom = 12

    /// Builds in the memory of this process, makes room for a file from there, and builds that if there is enough. An
    /// archive that holds nothing has nothing to give up: there it is `refusal`.
    private func buildIndexInMemory(
        attachment: OpenFile, witness: IndexWitness?, refusal: StorageError
    ) throws(StorageError) -> (IndexMemory, isShared: Bool) {
        let memory = try memoryForIndex(mayGrow: true)
        let engine = try fill(
            memory, file: nil, as: .writer(attachment: attachment, slot: nil), witness: witness)
        guard engine.index.head != .none else { throw refusal }
        let section = ArchiveSection(unshared: engine)
        section.index.state = .ready
        if let limit = descriptor.configuration.diskLimit { try section.fitMakingRoom(into: limit) }
        try section.giveUpOldest(forBytes: section.index.indexBytes)
        do throws(StorageError) {
            return (try buildIndexFile(attachment: attachment, witness: witness, isRoomy: false), true)
        } catch {
            guard case .noSpace = error else { throw error }
            return (memory, false)
        }
    }

    /// Memory of this process for an index of the log that there is: it reserves addresses, not memory, for more than the
    /// log can need. `mayGrow`: entries will be added.
    func memoryForIndex(mayGrow: Bool) throws(StorageError) -> IndexMemory {
        let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: false)
        let most = try log.mostEntries(in: log.segmentNumbers())
        let chunks = (most + most / 8) / IndexLayout.chunkEntries + 16
        let bytes = IndexLayout.fileBytes(chunks: chunks)
        return try IndexMemory(privateBytes: bytes, room: mayGrow ? 2 * bytes : 0, path: folder.path)
    }

    /// Fills an empty index from the log; it stays in the state *being built*.
    func fill(
        _ memory: IndexMemory, file: OpenFile?, as role: ArchiveRole, witness: IndexWitness?,
        isRoomy: Bool = true
    ) throws(StorageError) -> ArchiveEngine {
        try initialize(ChangingIndex(unshared: memory), file: file)
        let engine = try engine(on: memory, as: role)
        crashPoint(.indexFileMade)
        let section = ArchiveSection(unshared: engine)
        section.index.damagedPlaces = try section.rebuild(isRoomy: isRoomy).damaged
        section.index.settleSequence()
        section.index.loss = witness?.loss(logEndsAt: engine.index.head, messages: engine.index.entryCount)
        return engine
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

    func hasFailedToSync() throws(StorageError) -> Bool {
        guard let index = try openIfPresent(ArchiveOpening.indexName, writable: false) else { return false }
        return try IndexHeader(index)?.state == .syncFailed
    }

    private func initialize(_ index: ChangingIndex, file: OpenFile?) throws(StorageError) {
        // A lock that nobody else sees needs no namespace.
        let mode = file == nil ? LockingMode.automatic.resolved : lockingForNewIndex
        var salt = ByteReader(try RandomSource.bytes(8, for: folder.path))
        index.beginBuilding(archive: descriptor.identity, salt: salt.uint64())
        if let file { try index.identify(file) }
        index.locking = mode
        if mode == .robustMutex {
            index.lockNamespace = Namespaces.processes
            let failure = cp_mutex_init(index.mutex)
            guard failure == 0 else {
                throw .system(operation: "make the lock of", path: folder.path, code: failure)
            }
        }
        index.bucketCount = IndexLayout.firstBuckets
        index.touches.raiseStamps(above: 0)
        index.setConfiguration(descriptor.configuration)
        index.indexBytes = IndexLayout.fileBytes(chunks: 1)
        try index.grow(toHold: IndexLayout.chunkEntries)
    }
}
