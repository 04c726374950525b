import CPlatform

extension ArchiveSection {
    private static let sampleBytes = 4 << 20

    /// Applies a frame of the log to the index. Idempotent, so a crash during recovery needs no special recovery (F3).
    func replay(_ frame: Frame, at location: Location, tag: UInt32) throws(StorageError) {
        switch frame.change(in: engine.kind, at: location) {
        case .store(let isCopy): try replayStore(frame, at: location, tag: tag, isCopy: isCopy)
        case .storeInMemory: try replayStoreInMemory(frame, at: location, tag: tag)
        case .storeDamaged: engine.replayedRemovals.withLock { _ = $0?.damaged.insert(location) }
        case .remove:
            try removeEntries(namedIn: frame, undo: nil, location)
            if let present = try engine.find(frame.key, tag: tag) {
                engine.unpin(present)
                if present.slot.isMemoryOnly {
                    removeMemoryOnly(of: frame.key, tag: tag, sparing: present.number)
                }
                remove(present.number)
            }
            noteRemoval(tag, at: location, by: frame)
        case .removeAll:
            clearEntries()
            engine.replayedRemovals.withLock { $0?.addAll(before: frame.sequence) }
        case .evict(let note): try removeEntries(namedIn: frame, undo: note, location)
        case .setDeadline(let note): try replayDeadline(frame, note, at: location, tag: tag)
        case .tombstone(let note): try replayTombstone(frame, note, at: location, tag: tag)
        case .restore(let note):
            if let note { try UndoLog(engine).replayRestore(self, note, time: frame.time) }
            engine.replayedRemovals.withLock { $0?.removeAll() }
        case .append(let oldest):
            try MessageWriter(engine).replayMessage(self, frame, at: location, oldest: oldest)
        case .shorten(let oldest):
            try MessageWriter(engine).replayShortening(self, at: location, oldest: oldest)
        case .none: break
        }
        guard !frame.isDamaged else { return }
        countReplayed(frame)
    }

    @inline(__always) private func replayStore(
        _ frame: Frame, at location: Location, tag: UInt32, isCopy: Bool
    ) throws(StorageError) {
        try removeEntries(namedIn: frame, undo: nil, location)
        let (present, isOutdated) = try find(keyOf: frame, tag: tag, isCopy: isCopy)
        if isOutdated { return }
        if present == nil { try index.numbers.reserve() }
        let number = applyPut(engine.content(of: frame), tag: tag, number: present?.number ?? 0, at: location)
        if let hits: UInt32 = frame.number(.hits) { index.entry(number)?.setHits(hits) }
    }

    /// Removes the key's value on disk. Keeps memory-only entries of live processes, and moved entries.
    private func replayStoreInMemory(
        _ frame: Frame, at location: Location, tag: UInt32
    ) throws(StorageError) {
        try removeEntries(namedIn: frame, undo: nil, location)
        let (present, isOutdated) = try find(keyOf: frame, tag: tag, isCopy: true)
        if isOutdated { return }
        if let present, !present.slot.isMemoryOnly { remove(present.number) }
        // The process that recorded the entry died before it marked the entry as held.
        if let number = index.table.entry(at: location, tag: tag), index.residency[number] == 0 {
            remove(number)
        }
        if index.tombstoneCount != 0 { markOverwritten(frame.key, tag: tag) }
        noteRemoval(tag, at: location, by: frame)
    }

    func countReplayed(_ frame: Frame) {
        if frame.kind == .deadline || frame.kind == .evict, let note = RemovalNote(of: frame),
            let line = index.undo.line(of: note.group)
        {
            // An action's own frames don't shorten its undo window.
            line.setLastAppended(index.appendedBytes &+ UInt64(frame.bytes))
            if line.endBytes != .max { line.setEndBytes(line.endBytes &+ UInt64(frame.bytes)) }
        }
        if !frame.isCopy { index.adjust(.appendedBytes, by: frame.bytes) }
        let sequence = min(frame.sequence, Frame.latestStamp)
        if sequence > index.sequence { index.setSequence(sequence) }
        index.touches.raiseStamps(above: frame.recency)
    }

    /// Removes the entries that a frame names, or tombstones them for the action of `note`.
    private func removeEntries(
        namedIn frame: Frame, undo note: RemovalNote?, _ place: Location
    ) throws(StorageError) {
        for location in frame.evictions { try removeEntry(at: location, note, place, by: frame) }
    }

    private func removeEntry(
        at location: Location, _ note: RemovalNote?, _ place: Location, by frame: Frame
    ) throws(StorageError) {
        if let note, location.segment < index.oldestSegment {
            engine.replayedRemovals.withLock { $0?.adjustMissing(of: note.group, by: 1) }
        }
        let isDamaged =
            engine.kind == .collection
            && engine.replayedRemovals.withLock { $0?.damaged.contains(location) ?? false }
        // Checked without opening a file, because usually the entry is no longer live.
        guard location < place, location.segment >= index.oldestSegment,
            isDamaged || index.liveFrames(ofSegment: location.segment) != 0,
            let number = try number(at: location, isDamaged: isDamaged), let slot = index.entry(number)
        else { return }
        // The entry was dropped early, to free space for an undo.
        guard index.marks.isLive(number, slot) else { return note == nil ? forget(number, slot) : () }
        noteRemoval(slot.tag, at: location, by: frame)
        // Tombstones the entry whatever the action's age: the log may contain its restore.
        guard let note, !slot.isMemoryOnly else { return remove(number) }
        let tag = slot.tag
        _ = engine.withFrame(at: location) { forgetFormer($0.key, tag: tag, of: note.group) }
        tombstoneInReplay(number, slot, note, place)
    }

    /// The entry that a frame stored; for a damaged one the older entry of its key.
    func number(at location: Location, isDamaged: Bool = false) throws(StorageError) -> UInt32? {
        guard let (pin, frame) = try log.pinnedFrame(at: location) else { return nil }
        defer { log.unpin(pin) }
        guard frame.keyBytes > 0 else { return nil }
        let tag = engine.hash.tag(frame.key)
        guard isDamaged else { return index.table.entry(at: location, tag: tag) }
        guard let older = try engine.find(frame.key, tag: tag) else { return nil }
        engine.unpin(older)
        return older.location < location ? older.number : nil
    }

    /// Appends a frame, and applies it as a rebuild of the index would.
    func appendReplayed(_ content: FrameContent) throws(StorageError) {
        if engine.kind != .log { try index.numbers.reserve() }
        let location = try append(content)
        guard let (pin, frame) = try log.pinnedFrame(at: location) else {
            throw log.damage(at: location, "written data could not be read back")
        }
        defer { log.unpin(pin) }
        try replay(frame, at: location, tag: engine.hash.tag(frame.key))
        commit(location, bytes: content.frameBytes)
    }

    private func replayDeadline(
        _ frame: Frame, _ note: RemovalNote?, at location: Location, tag: UInt32
    ) throws(StorageError) {
        var bytes: UInt64 = 0
        // If the entry is absent, a copy of its frame follows in the log. The change can still be undone.
        if let present = try engine.find(frame.key, tag: tag) {
            defer { engine.unpin(present) }
            setDeadline(of: present.number, index.changing(present.slot), to: frame.deadline(.deadline))
            bytes = UInt64(present.slot.valueBytes)
        }
        if let note { countRemoval(note, first: location, bytes: bytes) }
    }

    /// Tombstones the copy of a tombstoned entry instead of the original.
    private func replayTombstone(
        _ frame: Frame, _ note: RemovalNote, at location: Location, tag: UInt32
    ) throws(StorageError) {
        // The process that died while copying the entry may have applied the copy.
        guard index.table.entry(at: location, tag: tag) == nil else { return }
        var isOlder = false
        if let present = try engine.find(frame.key, tag: tag) {
            engine.unpin(present)
            isOlder = true
        }
        // The action's totals already include the entry if the frame that removed it is still in the log.
        let line = index.undo.line(of: note.group)
        let known = (entries: line?.entries ?? 0, bytes: line?.bytes ?? 0)
        var isCounted = line?.isOfDeadlines ?? false
        for (number, slot) in hidden(frame.key, tag: tag) where !index.marks[number].isOverwritten {
            let sequence = try engine.withFrameIfPresent(at: slot.location) { $0.sequence } ?? 0
            if sequence == frame.sequence {
                isCounted = isCounted || index.marks[number].place == line?.place
                forget(number, slot)
            }
            if sequence < frame.sequence { index.marks.markOverwritten(number, slot) }
            isOlder = isOlder || sequence > frame.sequence
        }
        forgetFormer(frame.key, tag: tag, of: note.group)
        try index.numbers.reserve()
        // Applied like a put followed by its removal.
        let number = applyPut(engine.content(of: frame), tag: tag, number: 0, at: location, overwrites: false)
        guard let slot = index.entry(number) else { return }
        tombstoneInReplay(number, slot, note, location)
        if isCounted, let line, line.group == note.group {
            line.setRemoved(entries: known.entries, bytes: known.bytes)
        }
        if !isCounted { engine.replayedRemovals.withLock { $0?.adjustMissing(of: note.group, by: -1) } }
        if isOlder { index.marks.markOverwritten(number, slot) }
    }

    private func tombstoneInReplay(
        _ number: UInt32, _ slot: ChangingSlot, _ note: RemovalNote, _ location: Location
    ) {
        tombstone(number, slot, note: note, at: location)
        engine.replayedMarks.withLock {
            if !$0.isEmpty { $0[IndexLayout.undoPlace(of: note.group)].append(number) }
        }
    }

    /// An action has at most one entry of a key: the one tombstoned last.
    private func forgetFormer(_ key: UnsafeRawBufferPointer, tag: UInt32, of group: UInt32) {
        guard index.tombstoneCount != 0 else { return }
        for (number, slot) in hidden(key, tag: tag)
        where index.marks[number].place == IndexLayout.undoPlace(of: group) {
            forget(number, slot)
        }
    }

    /// Fills an empty index from all segments, oldest first. `isRoomy` sizes its table in advance; otherwise it grows as needed.
    func rebuild(isRoomy: Bool = true) throws(StorageError) -> ReplayFindings {
        var findings = ReplayFindings()
        engine.replayedMarks.withLock { $0 = [[UInt32]](repeating: [], count: IndexLayout.undoLines) }
        engine.replayedRemovals.withLock { $0 = ReplayedRemovals() }
        defer {
            engine.replayedMarks.withLock { $0 = [] }
            engine.replayedRemovals.withLock { $0 = nil }
        }
        let numbers = try belongingSegments(&findings)
        var segmentBytes = 0
        if isRoomy { try index.table.prepare(forEntries: try estimatedEntries(numbers)) }
        // Applies frames in groups, so that the buckets that they need are prefetched together.
        var waiting: [(frame: Frame, location: Location, tag: UInt32)] = []
        waiting.reserveCapacity(32)
        func replayWaiting() throws(StorageError) {
            for item in waiting { try replay(item.frame, at: item.location, tag: item.tag) }
            waiting.removeAll(keepingCapacity: true)
        }
        func replaySoon(_ frame: Frame, _ location: Location) throws(StorageError) {
            let tag = engine.hash.tag(frame.key)
            index.table.prefetch(tag)
            waiting.append((frame, location, tag))
            if waiting.count == 32 { try replayWaiting() }
        }
        var reader = LogReader(log, kind: engine.kind)
        for number in numbers {
            guard let pin = try log.pinIfPresent(number) else {
                // An observer's segment may have been reclaimed; for the only user it must exist.
                guard engine.attachment == nil else {
                    throw log.damage(of: number, "it can no longer be read")
                }
                throw .system(operation: "open", path: log.path(of: number), code: SystemCode.missing)
            }
            defer { log.unpin(pin) }
            let isShort = try log.lengthProblem(of: number) != nil
            if isShort { findings.damaged += 1 }
            try log.updateSize(pin)
            segmentBytes += log.view(pin).bytes
            if index.oldestSegment == 0 { index.setOldestSegment(number) }
            // Cells store only the low bits of a segment's number; the log tail's segment completes them.
            index.setHead(Location(segment: number, offset: SegmentHeader.bytes))
            let isNewest = number == numbers.last
            let result = try reader.read(
                pin, damage: { findings.add(at: $0, isNewest: isNewest) }, replaySoon)
            try replayWaiting()
            let damagedEnd = isNewest ? reader.filter.damagedEnd : nil
            let end = damagedEnd ?? result.end
            if result.isBlankBehind {
                if !isNewest, !isShort { findings.ends[number] = end }
            } else {
                if !isNewest || damagedEnd != nil { findings.damaged += 1 }
                // Clears the leftovers of an operation that was not acknowledged.
                if isNewest, engine.attachment != nil { try segments.clearRemains(pin, from: end) }
            }
            index.setHead(Location(segment: number, offset: end))
            crashPoint(.rebuildSegmentDone)
        }
        let cut = try reader.filter.endLog(replaySoon)
        findings.endLog(cut: cut)
        try replayWaiting()
        // An incomplete batch before the log's end was partly lost, and is left out.
        findings.damaged += reader.filter.dropped.count { $0.first != cut }
        if let cut { try clearBatch(from: cut) }
        findings.damaged += try log.missing(among: numbers).count
        index.setSegmentBytes(segmentBytes)
        index.order.sort(entries: index.entryCount + Int(index.tombstoneCount))
        // An undo reports an action's missing entries as skipped. Reclaiming drops overwritten ones, and those of a discarded record.
        for line in index.undo.lines where line.state == .reversible && !line.isOfDeadlines {
            line.setMissing(UInt64(engine.replayedRemovals.withLock { $0?.missing(of: line.group) } ?? 0))
        }
        applyUndoBudget()
        dropTombstones(most: .max)
        compactAfterRebuild()
        return findings
    }

    /// Removes an incomplete batch at the log's end, which was not acknowledged.
    private func clearBatch(from cut: Location) throws(StorageError) {
        if cut.segment == index.head.segment { index.setHead(cut) }
        guard engine.attachment != nil, let pin = try log.pinIfPresent(cut.segment) else { return }
        defer { log.unpin(pin) }
        try segments.completeHeader(pin, oldest: index.oldestSegment)
        try segments.clearRemains(pin, from: cut.offset)
    }

    /// Estimates the entries from intact frames of the oldest and newest segment, to size the table; at most what files can hold.
    private func estimatedEntries(_ numbers: [UInt32]) throws(StorageError) -> Int {
        guard engine.kind != .log else { return 0 }
        var keys = Set<UInt64>()
        var frameBytes = 0
        for number in Set([numbers.first, numbers.last].compactMap { $0 }) {
            guard let pin = try log.pinIfPresent(number) else { continue }
            defer { log.unpin(pin) }
            var offset = SegmentHeader.bytes
            while offset < ArchiveSection.sampleBytes, let frame = log.validFrame(pin, at: offset) {
                if frame.kind == .put || frame.kind == .move { keys.insert(engine.hash(frame.key)) }
                offset += frame.bytes
                frameBytes += frame.bytes
            }
        }
        var bytes = 0
        for number in numbers {
            let status = try engine.folder.status(ofEntry: SegmentHeader.fileName(number))
            bytes += min(status?.bytes ?? 0, status?.allocatedBytes ?? 0)
        }
        // Assumes that a fifth of the entries is stored again later.
        let estimate = Int(Double(keys.count) * Double(bytes) / Double(max(frameBytes, 1)) * 0.8)
        return min(estimate, try log.mostEntries(in: numbers))
    }

    /// Numbers of the segments that are part of the log, without leftovers of an interrupted removal.
    private func belongingSegments(_ findings: inout ReplayFindings) throws(StorageError) -> [UInt32] {
        let names = try log.segmentNames()
        let numbers = try names.files(of: log)
        findings.damaged += names.strays.count
        var oldest: UInt32 = 0
        var readable: [UInt32] = []
        var foreign = 0
        for number in numbers {
            do throws(StorageError) {
                let header = try log.checkHeader(of: number)
                oldest = max(oldest, header.oldest)
                readable.append(number)
            } catch {
                // A segment whose header was never written held nothing that was acknowledged.
                let isLast = number == numbers.last
                if case .corrupted = error, isLast, try log.isUnwritten(number) { continue }
                guard case .corrupted(_, let offset, _) = error else { throw error }
                // The segment's first page may have been lost together with the batch that began it.
                let isLost = isLast ? try log.beginsBlank(number) : false
                findings.add(at: Location(segment: number, offset: SegmentHeader.bytes), isNewest: isLost)
                if try log.holdsFrames(number) {
                    readable.append(number)
                } else if offset == SegmentHeader.archiveOffset {
                    foreign += 1
                }
            }
        }
        // If all segments belong to another archive, probably the descriptor is foreign. Storing now would begin a second log.
        guard !readable.isEmpty || foreign == 0 || engine.attachment == nil else {
            throw .corrupted(
                path: engine.folder.path + "/" + Descriptor.fileName, offset: 16,
                reason: "all segments belong to another archive; a repair recreates the descriptor from them")
        }
        let belonging = readable.filter { $0 >= oldest }
        if let first = belonging.first, let last = belonging.last, !SegmentLayout.isSpan(belonging) {
            throw log.damage(
                of: first,
                "this segment and \(SegmentHeader.fileName(last)) are further apart than the "
                    + "\(SegmentLayout.slots) numbers of a log, so one of them is not part of it; a repair renames that one"
            )
        }
        return belonging
    }
}
