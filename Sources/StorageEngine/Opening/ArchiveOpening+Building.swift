import CPlatform

extension ArchiveOpening {
    /// Builds the index from the log, with the losses known to `evidence`, the replaced index; returns whether other processes
    /// can see it. Requires the open lock, and no writer. Evicts entries beyond the limit, but not for reading.
    func buildIndex(
        attachment: FileDescriptor, evidence: PriorIndexEvidence?
    ) throws(StorageError) -> (IndexMemory, isShared: Bool) {
        if purpose == .reading, try isLogJustWritten() {
            throw .busy(
                archive: descriptor.name, process: 0,
                reason: "it has no valid index and changed just now; it may still be being copied; try again")
        }
        try forgetUnwrittenBytes()
        // Its hashes are those of the old index, and the new index may need its space.
        try? folder.unlink(ArchiveFile.requests)
        do throws(StorageError) {
            return (try buildIndexFile(attachment: attachment, evidence: evidence, isRoomy: true), true)
        } catch {
            guard error.isNoSpace, purpose == .writing else { throw error }
            return try buildIndexOnFullDisk(attachment: attachment, evidence: evidence, refusal: error)
        }
    }

    private func buildIndexFile(
        attachment: FileDescriptor, evidence: PriorIndexEvidence?, isRoomy: Bool
    ) throws(StorageError) -> IndexMemory {
        var isDamaged = false
        let file = try folder.replaceIndex(bytes: IndexLayout.fileBytes(chunks: 1)) {
            (file) throws(StorageError) in
            let engine = try fill(
                IndexMemory(file, in: folder, writable: true), file: file,
                as: .writer(attachment: attachment), evidence: evidence, isRoomy: isRoomy)
            let section = ArchiveSection(unshared: engine)
            if purpose == .writing, let limit = descriptor.configuration.diskLimit {
                try section.fitEvenOnFullDisk(into: limit)
            }
            section.index.setState(.ready)
            isDamaged =
                section.index.loss != nil || section.index.damagedPlaces > 0 || evidence?.isReplaced == true
                || evidence?.isDamaged == true
            // A crash of the machine must not lose the record of a loss with the old index.
            if isDamaged { try section.index.storage.synchronize() }
        }
        // After a crash of the machine, the old index must not be evidence again.
        if isDamaged { try folder.synchronizeNames() }
        return try mapForWriting(file)
    }

    /// Whether the log was written within the last minute, perhaps by an unfinished copy. Then readers create no index file.
    func isLogJustWritten() throws(StorageError) -> Bool {
        let minute = 60_000_000_000
        let now = Int(truncatingIfNeeded: Clock.wall()) &* 1_000
        for name in try folder.names()
        where name == Descriptor.fileName || SegmentHeader.number(ofFileName: name) != nil {
            guard let status = try folder.status(ofEntry: name) else { continue }
            if (-minute..<minute).contains(now &- status.changed) { return true }
        }
        return false
    }

    /// Removes the old index and builds one in its space; `nil` if that isn't enough. Observers may release its space later.
    private func buildIndexInPlaceOfTheOld(
        attachment: FileDescriptor, evidence: PriorIndexEvidence?
    ) throws(StorageError) -> IndexMemory? {
        guard try folder.hasEntry(named: ArchiveFile.index) else { return nil }
        try folder.unlink(ArchiveFile.index)
        crashPoint(.oldIndexRemoved)
        for attempt in 0..<ArchiveOpening.spaceChecks {
            if attempt > 0 { cp_sleep(25_000_000) }
            let built = try StorageError.nilIf(
                \.isNoSpace, buildIndexFile(attachment: attachment, evidence: evidence, isRoomy: false))
            if let built { return built }
        }
        return nil
    }

    /// Number of checks for space that observers are about to free.
    private static let spaceChecks = 12

    /// Builds the index in memory first, which appends to the log the changes that only the old index has, except a loss. Then
    /// builds the file in the space of the old index or, in a limited archive, of evicted entries; if that isn't enough, the index
    /// stays in memory. Throws `refusal` for an empty archive. OnDiskFormat, "A full disk".
    private func buildIndexOnFullDisk(
        attachment: FileDescriptor, evidence: PriorIndexEvidence?, refusal: StorageError
    ) throws(StorageError) -> (IndexMemory, isShared: Bool) {
        let memory = try memoryForIndex(mayGrow: true)
        let engine = try fill(memory, file: nil, as: .writer(attachment: attachment), evidence: evidence)
        let section = ArchiveSection(unshared: engine)
        // Leaves out the appended changes: appending them again would move the log tail past that of this engine.
        let evidence = evidence?.recorded(withLoss: section.index.loss)
        func counted(_ index: IndexMemory) -> IndexMemory {
            for counter in [IndexLayout.Counter.deletes, .records] {
                ChangingIndex(unshared: index).addLocked(counter, section.index.count(counter))
            }
            if let known = section.index.evidence { ChangingIndex(unshared: index).setEvidence(known) }
            return index
        }
        if let index = try buildIndexInPlaceOfTheOld(attachment: attachment, evidence: evidence) {
            return (counted(index), true)
        }
        guard engine.index.head != .none else { throw refusal }
        section.index.setState(.ready)
        if let limit = descriptor.configuration.diskLimit { try section.fitEvenOnFullDisk(into: limit) }
        if !options.keepsEntriesWithoutIndex {
            try section.dropOldestSegments(forBytes: section.index.indexBytes)
        }
        let file = try StorageError.nilIf(
            \.isNoSpace, buildIndexFile(attachment: attachment, evidence: evidence, isRoomy: false))
        return (file.map(counted) ?? memory, file != nil)
    }

    /// Memory for an index of the present log. Reserves more addresses than the index can need. `mayGrow`: entries will be added.
    func memoryForIndex(mayGrow: Bool) throws(StorageError) -> IndexMemory {
        let log = try SegmentLog(folder: folder, identity: descriptor.identity, writable: false)
        let most = try log.mostEntries(in: log.segmentNumbers())
        let chunks = (most + most / 8) / IndexLayout.chunkEntries + 16
        let bytes = IndexLayout.fileBytes(chunks: chunks)
        return try IndexMemory(privateBytes: bytes, reserve: mayGrow ? 2 * bytes : 0, path: folder.path)
    }

    func fill(
        _ memory: IndexMemory, file: FileDescriptor?, as role: ArchiveRole, evidence: PriorIndexEvidence?,
        isRoomy: Bool = true
    ) throws(StorageError) -> ArchiveEngine {
        try initialize(ChangingIndex(unshared: memory), file: file)
        let engine = try engine(on: memory, as: role)
        crashPoint(.indexFileMade)
        let section = ArchiveSection(unshared: engine)
        let findings = try section.rebuild(isRoomy: isRoomy)
        section.index.setDamagedPlaces(findings.damaged)
        section.index.setLoss(
            evidence?.loss(
                logEndsAt: engine.index.head, messages: engine.index.entryCount, ends: findings.ends))
        // New operations must not reuse numbers from a lost part of the log (``ReplayedRemovals``).
        var sequence = max(section.index.sequence, evidence?.sequence ?? 0)
        // Sequences begin with the time, so that no plan for a former archive of this name matches. Messages are numbered from 1.
        if engine.kind != .log { sequence = max(sequence, min(UInt64(clamping: Clock.wall()), 1 << 60)) }
        section.index.setSequence(sequence)
        section.index.settleSequence()
        try reconcile(section, with: evidence, role)
        section.index.order.adopt(descriptor.configuration.evictionPolicy)
        return engine
    }

    /// If the replaced index outranks the new one, removes the entries that it lists as deleted and, in a cache, those that it
    /// doesn't list; sets its expiry times; and stores its entries again that damage would lose. A copy changes only its own index.
    private func reconcile(
        _ section: borrowing ArchiveSection, with evidence: PriorIndexEvidence?, _ role: ArchiveRole
    ) throws(StorageError) {
        let index = section.index
        guard let evidence, evidence.outranks(index) else { return }
        try evidence.readEntries { (memory) throws(StorageError) in
            try IndexSoundness(engine(on: memory, as: .observer)).isConsistent()
        }
        guard let found = try evidence.contradictions(in: section.engine) else { return }
        let isCache = descriptor.configuration.kind == .cache
        let outdated = found.deleted + (isCache ? found.unnamed : [])
        // In a collection, older values are current now.
        if evidence.predatesDamage, isCache || found.unnamed.isEmpty { index.setEvidence(.reconciled) }
        guard !outdated.isEmpty || !found.deadlines.isEmpty || !found.lacking.isEmpty else { return }
        let isCopy = role.attachment == nil
        if isCopy {
            for number in outdated { section.remove(number) }
            index.addLocked(.deletes, UInt64(outdated.count))
        } else {
            // The removal appends frames, after which the new end of the log would hide the loss.
            try evidence.markReplaced(in: folder, index.loss)
            try section.removeBatch(outdated, .eviction, .damage)
        }
        for (number, deadline) in found.deadlines {
            guard let slot = index.entry(number) else { continue }
            if isCopy {
                section.setDeadline(of: number, slot, to: deadline)
            } else {
                try section.recordDeadline(of: number, slot, as: deadline)
            }
        }
        for (location, deadline) in found.lacking {
            try storeAgain(location, deadline, section, isCopy: isCopy)
        }
        // The stored entries have their former recency.
        if !found.lacking.isEmpty {
            index.order.sort(entries: index.entryCount + Int(index.tombstoneCount))
        }
        // A crash of the machine must not lose these changes after the old index.
        if !isCopy { try section.engine.synchronize(upTo: index.head) }
    }

    /// Stores the entry of an intact frame again if its key has no entry. A copy only lists it.
    private func storeAgain(
        _ location: Location, _ deadline: Int64, _ section: borrowing ArchiveSection, isCopy: Bool
    ) throws(StorageError) {
        let engine = section.engine
        guard location.segment >= section.index.oldestSegment,
            let pin = try engine.log.pinIfPresent(location.segment)
        else { return }
        defer { engine.log.unpin(pin) }
        guard let frame = engine.log.validFrame(pin, at: location.offset),
            case .store = frame.change(in: engine.kind, at: location)
        else { return }
        let tag = engine.hash.tag(frame.key)
        if let present = try engine.find(frame.key, tag: tag) { return engine.unpin(present) }
        guard !isCopy else {
            try section.index.numbers.reserve()
            let number = section.applyPut(engine.content(of: frame), tag: tag, number: 0, at: location)
            if let slot = section.index.entry(number) { section.setDeadline(of: number, slot, to: deadline) }
            return
        }
        var options = frame.options
        options.deadline = deadline
        try section.withExtension(bytes: options.bytes) { (writer) throws(StorageError) in
            options.write(to: &writer)
            var content = FrameContent(
                kind: .put, encoding: frame.encoding, sequence: section.nextSequence(),
                recency: frame.recency, time: frame.time, created: frame.created, key: frame.key,
                value: frame.value)
            content.extensionBytes = writer.written
            try section.appendReplayed(content)
        }
        section.index.addLocked(.records)
    }

    /// After a failed sync, cached pages may differ from the medium: drops them while no process has the archive open.
    private func forgetUnwrittenBytes() throws(StorageError) {
        guard try hasFailedToSync() else { return }
        for name in try folder.names() where SegmentHeader.number(ofFileName: name) != nil {
            guard let file = try openIfPresent(name, writable: true) else { continue }
            // Writes as much as possible; an earlier sync has already reported the failure.
            try? file.synchronize()
            file.forgetCachedBytes()
        }
    }

    func hasFailedToSync() throws(StorageError) -> Bool {
        guard let index = try openIfPresent(ArchiveFile.index, writable: false) else { return false }
        return try IndexHeader(index)?.state == .syncFailed
    }

    private func initialize(_ index: ChangingIndex, file: FileDescriptor?) throws(StorageError) {
        // A lock that no other process sees needs no namespace.
        let mode = file == nil ? LockingMode.automatic.resolved : lockingForNewIndex
        var salt = ByteReader(try RandomSource.bytes(8, for: folder.path))
        index.beginBuilding(archive: descriptor.identity, salt: salt.uint64())
        if let file { try index.identify(file) }
        index.setLocking(mode)
        if mode == .robustMutex {
            index.setLockNamespace(Namespaces.processes)
            try index.makeMutex()
        }
        index.setBucketCount(IndexLayout.firstBuckets)
        index.touches.raiseStamps(above: 0)
        index.setConfiguration(descriptor.configuration)
        index.setIndexBytes(IndexLayout.fileBytes(chunks: 1))
        try index.grow(toHold: IndexLayout.chunkEntries)
    }
}

extension FileDescriptor {
    /// Creates an index file of `bytes` in this archive's folder, which `fill` completes, in place of the present one.
    func replaceIndex(
        bytes: Int, _ fill: (FileDescriptor) throws(StorageError) -> Void
    ) throws(StorageError) -> FileDescriptor {
        try unlink(ArchiveFile.newIndex)
        let file = try newFile(named: ArchiveFile.newIndex)
        try StorageError.rethrowing(after: { try? unlink(ArchiveFile.newIndex) }) { () throws(StorageError) in
            try file.extend(from: 0, to: bytes)
            try fill(file)
            crashPoint(.indexBuilt)
            try rename(ArchiveFile.newIndex, to: ArchiveFile.index)
            crashPoint(.indexRenamed)
        }
        return file
    }
}
