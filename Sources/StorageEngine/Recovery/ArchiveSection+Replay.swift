import CPlatform

extension ArchiveSection {
    private static let sampleBytes = 4 << 20

    /// Applies a frame of the log to the index. Idempotent, so a crash during recovery needs no special recovery (F3).
    func replay(_ frame: Frame, at location: Location, tag: UInt32) throws(StorageError) {
        switch engine.meaning(of: frame) {
        case .put, .move, .resident:
            for evicted in FrameExtension.evictions(of: frame) {
                try removeEntry(at: evicted, nil, location, by: frame)
            }
            let present = try engine.find(frame.key, tag: tag)
            let presentSequence = present?.frame.sequence
            if let present { engine.unpin(present) }
            if frame.kind != .put, try isOutdated(frame, tag: tag, present: presentSequence) {
                // A move that names removed entries still removes them, although reclaiming writes none.
                if frame.kind == .move, FrameExtension.part(.evictions, in: frame.extension) == nil {
                    engine.replayedRemovals.withLock { $0?.outdated.append(location) }
                }
                return countReplayed(frame)
            }
            guard frame.kind != .resident else {
                // Removes the value on disk. A live process's memory-only entry, others of this key, and moved ones stay.
                if let present, !present.slot.isMemoryOnly { remove(present.number) }
                // The process that recorded the entry died before it marked the entry as held.
                if let number = index.table.entry(at: location, tag: tag), index.residency[number] == 0 {
                    remove(number)
                }
                if index.setAsideCount != 0 { supersede(frame.key, tag: tag) }
                noteRemoval(tag, at: location, by: frame)
                break
            }
            var content = engine.content(of: frame)
            if frame.extensionBytes > 0 {
                let traits = frame.traits
                content.take(traits, ownerTag: engine.ownerTag(traits.owner))
            }
            if present == nil { try index.numbers.reserve() }
            let number = applyPut(content, tag: tag, number: present?.number ?? 0, at: location)
            if let hits = frame.hits { index.entry(number)?.hits = hits }
        case .delete:
            if let present = try engine.find(frame.key, tag: tag) {
                engine.unpin(present)
                if present.slot.isMemoryOnly {
                    removeMemoryOnly(of: frame.key, tag: tag, sparing: present.number)
                }
                remove(present.number)
            }
            noteRemoval(tag, at: location, by: frame)
        case .deleteAll:
            clearEntries()
            engine.replayedRemovals.withLock { $0?.addAll(before: frame.sequence) }
        case .evict where engine.kind == .log:
            try MessageWriter(engine).replayShortening(self, frame, at: location)
        case .evict:
            let note = RemovalNote(of: frame)
            for evicted in FrameExtension.evictions(of: frame) {
                try removeEntry(at: evicted, note, location, by: frame)
            }
        case .deadline:
            try replayDeadline(frame, at: location, tag: tag)
        case .restore:
            if let note = RemovalNote(of: frame) {
                try UndoLog(engine).bringBack(self, note, time: frame.time)
            }
            engine.replayedRemovals.withLock { $0?.forgetAll() }
        case .kept:
            try replayKept(frame, at: location, tag: tag)
        case .message:
            try MessageWriter(engine).replayMessage(self, frame, at: location)
        case .batch, .void, nil:
            break
        }
        countReplayed(frame)
    }

    func countReplayed(_ frame: Frame) {
        if frame.kind == .deadline || frame.kind == .evict, let note = RemovalNote(of: frame),
            let line = index.undo.line(of: note.group)
        {
            // An action's own frames don't shorten its undo window.
            line.lastAppended = index.appendedBytes &+ UInt64(frame.bytes)
            if line.endBytes != .max { line.endBytes &+= UInt64(frame.bytes) }
        }
        if !frame.isCopy { index.adjust(.appendedBytes, by: frame.bytes) }
        let sequence = min(frame.sequence, Frame.latestStamp)
        if sequence > index.sequence {
            index.sequence = sequence
        }
        index.touches.raiseStamps(above: frame.recency)
    }

    /// Removes the entry at `location`, or tombstones it if `note` belongs to an action that can be undone.
    private func removeEntry(
        at location: Location, _ note: RemovalNote?, _ place: Location, by frame: Frame
    ) throws(StorageError) {
        if let note, note.group != 0, location.segment < index.oldestSegment {
            engine.replayedRemovals.withLock { $0?.adjustMissing(of: note.group, by: 1) }
        }
        // Usually the entry is no longer live, which this shows without opening a file.
        guard location < place, location.segment >= index.oldestSegment,
            index.liveFrames(ofSegment: location.segment) != 0,
            let number = try number(at: location), let slot = index.entry(number)
        else { return }
        // The entry was dropped early, to free space for an undo.
        guard index.marks.isLive(number, slot) else {
            return note?.group ?? 0 == 0 ? forget(number, slot) : ()
        }
        noteRemoval(slot.tag, at: location, by: frame)
        // Regardless of the action's age: the log may contain its restore.
        if let note, note.group != 0, !slot.isMemoryOnly {
            let tag = slot.tag
            _ = engine.withFrame(at: location) { forgetFormer($0.key, tag: tag, of: note.group) }
            setAsideInReplay(number, slot, note, place)
        } else {
            remove(number)
        }
    }

    func number(at location: Location) throws(StorageError) -> UInt32? {
        guard let pin = try log.pinIfPresent(location.segment) else { return nil }
        defer { log.unpin(pin) }
        guard let frame = try log.frameIfPresent(pin, at: location.offset), frame.keyBytes > 0 else {
            return nil
        }
        return index.table.entry(at: location, tag: UInt32(truncatingIfNeeded: engine.hash(frame.key)))
    }

    private func replayDeadline(_ frame: Frame, at location: Location, tag: UInt32) throws(StorageError) {
        let note = RemovalNote(of: frame)
        guard let present = try engine.find(frame.key, tag: tag) else {
            // The entry's frame was copied and follows later in the log. The change can still be undone.
            if let note, note.group != 0 { countRemoval(note, first: location, bytes: 0) }
            return
        }
        defer { engine.unpin(present) }
        let deadline = FrameExtension.deadline(.deadline, of: frame)?.resolved(now: Clock.read())
        setDeadline(of: present.number, index.changing(present.slot), to: deadline ?? Deadline.never)
        if let note, note.group != 0 {
            countRemoval(note, first: location, bytes: UInt64(present.slot.valueBytes))
        }
    }

    /// A tombstoned entry that reclaiming copied: tombstones the copy instead of the original.
    private func replayKept(_ frame: Frame, at location: Location, tag: UInt32) throws(StorageError) {
        guard let note = RemovalNote(of: frame), note.group != 0 else { return }
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
        for (number, slot) in hidden(frame.key, tag: tag) where !index.marks[number].isSuperseded {
            let sequence = try engine.withFrameIfPresent(at: slot.location) { $0.sequence } ?? 0
            if sequence == frame.sequence {
                isCounted = isCounted || index.marks[number].place == line?.place
                forget(number, slot)
            }
            if sequence < frame.sequence { index.marks.supersede(number, slot) }
            isOlder = isOlder || sequence > frame.sequence
        }
        forgetFormer(frame.key, tag: tag, of: note.group)
        try index.numbers.reserve()
        var content = engine.content(of: frame)
        let traits = frame.traits
        content.take(traits, ownerTag: engine.ownerTag(traits.owner))
        // Applied like a put followed by its removal.
        let number = applyPut(content, tag: tag, number: 0, at: location, supersedes: false)
        guard let slot = index.entry(number) else { return }
        setAsideInReplay(number, slot, note, location)
        if isCounted, let line, line.group == note.group {
            line.entries = known.entries
            line.bytes = known.bytes
        }
        if !isCounted { engine.replayedRemovals.withLock { $0?.adjustMissing(of: note.group, by: -1) } }
        if isOlder { index.marks.supersede(number, slot) }
    }

    private func setAsideInReplay(
        _ number: UInt32, _ slot: ChangingSlot, _ note: RemovalNote, _ location: Location
    ) {
        setAside(number, slot, note: note, at: location)
        engine.replayedMarks.withLock {
            if !$0.isEmpty { $0[IndexLayout.undoPlace(of: note.group)].append(number) }
        }
    }

    /// An action has at most one entry of a key: the one tombstoned last.
    private func forgetFormer(_ key: UnsafeRawBufferPointer, tag: UInt32, of group: UInt32) {
        guard index.setAsideCount != 0 else { return }
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
            let tag = UInt32(truncatingIfNeeded: engine.hash(frame.key))
            index.table.prefetch(tag)
            waiting.append((frame, location, tag))
            if waiting.count == 32 { try replayWaiting() }
        }
        var sieve = BatchSieve<Frame>(kind: engine.kind)
        var pins: [SegmentLog.Pin] = []
        defer { for pin in pins { log.unpin(pin) } }
        for number in numbers {
            guard let pin = try log.pinIfPresent(number) else {
                // An observer's segment may have been reclaimed; for the only user it must exist.
                guard engine.attachment == nil else {
                    throw .corrupted(
                        path: log.path(of: number), offset: 0, reason: "it can't be read any more")
                }
                throw .system(operation: "open", path: log.path(of: number), code: SystemCode.missing)
            }
            defer { log.unpin(pin) }
            if let problem = try log.lengthProblem(of: number) { findings.add(problem) }
            try log.learnSize(pin)
            segmentBytes += log.view(pin).bytes
            if index.oldestSegment == 0 { index.oldestSegment = number }
            // Cells store only the low bits of a segment's number; the log tail's segment completes them.
            index.head = Location(segment: number, offset: SegmentHeader.bytes)
            let result = try log.scan(pin, from: SegmentHeader.bytes) { (item) throws(StorageError) in
                if case .damage(let from, let to) = item {
                    findings.add(
                        "\(log.path(of: number)): bytes \(from) to \(to) hold no valid entry",
                        at: Location(segment: number, offset: from), isNewest: number == numbers.last)
                }
                try sieve.take(item, log, pin, replaySoon)
            }
            try replayWaiting()
            if let pin = try sieve.endSegment(log, pin) { pins.append(pin) }
            let damagedEnd = number == numbers.last ? sieve.damagedEnd : nil
            let end = damagedEnd ?? result.end
            if !result.isBlankBehind {
                if number != numbers.last || damagedEnd != nil {
                    findings.add("\(log.path(of: number)): no valid entry from byte \(result.end) on")
                }
                if number == numbers.last, engine.attachment != nil {
                    // Leftovers of an operation that was not acknowledged.
                    try segments.clearRemains(pin, from: end)
                }
            }
            index.head = Location(segment: number, offset: end)
            crashPoint(.rebuildSegmentDone)
        }
        let cut = try sieve.endLog(replaySoon)
        findings.endLog(cut: cut)
        try replayWaiting()
        try reportDropped(sieve.dropped, cut: cut, &findings)
        findings.isWhole = try log.missing(among: numbers).isEmpty
        if engine.attachment != nil, findings.damaged == 0, findings.isWhole { try voidOutdatedCopies() }
        index.segmentBytes = segmentBytes
        index.order.sort(entries: index.entryCount + Int(index.setAsideCount))
        countMissingEntries()
        judgeGraces()
        forgetSetAside(most: .max)
        compactAfterRebuild()
        return findings
    }

    /// An incomplete batch at the log's end was not acknowledged. An earlier incomplete one was partly lost, and is left out.
    private func reportDropped(
        _ dropped: [BatchSieve<Frame>.Dropped], cut: Location?, _ findings: inout ReplayFindings
    ) throws(StorageError) {
        for batch in dropped where batch.first != cut {
            findings.add(
                "\(log.path(of: batch.first.segment)): the batch from byte \(batch.first.offset) on never reached the "
                    + "medium completely and is left out")
        }
        guard let cut else { return }
        if cut.segment == index.head.segment { index.head = cut }
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
    private func belongingSegments(_ findings: inout ReplayFindings) throws(StorageError)
        -> [UInt32]
    {
        let names = try log.segmentNames()
        let numbers = try names.files(of: log)
        for stray in names.strays { findings.add(log.strayProblem(stray)) }
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
                findings.add(
                    error.finding,
                    at: Location(segment: number, offset: SegmentHeader.bytes), isNewest: isLost)
                if try log.holdsFrames(number) {
                    readable.append(number)
                } else if offset == SegmentHeader.archiveOffset {
                    foreign += 1
                }
            }
        }
        // More likely the descriptor is foreign than the whole log, and storing now would begin a second log.
        guard !readable.isEmpty || foreign == 0 || engine.attachment == nil else {
            throw .corrupted(
                path: engine.folder.path + "/" + Descriptor.fileName, offset: 16,
                reason: "all segments belong to another archive; a repair recreates the descriptor from them")
        }
        let belonging = readable.filter { $0 >= oldest }
        if let first = belonging.first, let last = belonging.last, !SegmentLayout.isSpan(belonging) {
            throw .corrupted(
                path: log.path(of: first), offset: 0,
                reason:
                    "no log is as long as from this segment to \(SegmentHeader.fileName(last)), which has more than "
                    + "\(SegmentLayout.slots) between: one of the two is not part of it; a repair moves that one away"
            )
        }
        return belonging
    }
}
