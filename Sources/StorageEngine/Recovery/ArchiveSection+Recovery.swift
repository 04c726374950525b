import CPlatform

extension ArchiveSection {
    /// Rebuilds chains, lists and totals, and replays frames after the log tail, when a lock holder has died (F5). Idempotent.
    func recover() throws(StorageError) {
        let isDecided = index.batchDone != .none
        if isDecided { index.setBatchOpen(.none) }
        index.beginStructureChange()
        crashPoint(.repairBegun)
        try relink { (slot) throws(StorageError) in try refill(slot) }
        if engine.kind == .log { try MessageWriter(engine).recountMessages(self) }
        index.setRenumberings(index.renumberings &+ 1)
        crashPoint(.repairRelinked)
        index.endStructureChange()
        for number in try log.segmentNumbers() where number < index.oldestSegment {
            try segments.removeFile(of: number)
        }
        try UndoLog(engine).recountDeadlineActions(self)
        try replayBehindHead()
        // If a batch is still open, some of its frames are missing, and no slot names one of them.
        index.setBatchOpen(.none)
        crashPoint(.repairReplayed)
        index.touches.drainAll()
        // Sorts last, because replayed frames are more recent than touches that were still pending.
        index.order.sort(entries: index.entryCount + Int(index.tombstoneCount))
        crashPoint(.repairSorted)
        // The crashed process may have been changing the configuration.
        try followDescriptor()
        index.setBatchDone(.none)
        try recountSegments()
    }

    /// Rebuilds chains, order, free list and totals from the entries alone. Frees entries for which `keeps` is false.
    func relink<Failure>(keeping keeps: (ChangingSlot) throws(Failure) -> Bool) throws(Failure) {
        let highWater = index.usedEntries
        var linked: [(recency: UInt64, number: UInt32)] = []
        var live = 0
        var valueBytes = 0
        index.table.clear()
        for slot in 0..<UInt32(SegmentLayout.slots) { index.setLiveFrames(ofSegment: slot, 0) }
        index.clearLists()
        index.setLiveFrameBytes(0)
        index.deadlines.clear()
        beginRecountOfTombstones()
        for number in (0..<highWater).reversed() {
            guard let slot = index.entry(number + 1) else { continue }
            // A crash during a renumbering leaves an entry in two slots.
            guard try keeps(slot), recountTombstones(number + 1, slot),
                index.table.entry(at: slot.location, tag: slot.tag) == nil
            else {
                index.marks.set(number + 1, .none)
                index.order.forget(number + 1)
                index.numbers.free(number + 1, slot)
                continue
            }
            if slot.deadline != Deadline.never { index.deadlines.expect(slot.deadline, of: number + 1) }
            index.adjustLive(slot.location, by: Int(slot.frameBytes))
            index.table.insert(number + 1, slot)
            linked.append((slot.recency, number + 1))
            guard !slot.isTombstoned else {
                countTombstones(number + 1, slot)
                continue
            }
            live += 1
            valueBytes += Int(slot.valueBytes)
        }
        linked.sort { $0.recency < $1.recency }
        for item in linked {
            if let slot = index.entry(item.number) { index.order.restore(item.number, slot) }
        }
        index.setEntryCount(live)
        index.setValueBytes(UInt64(valueBytes))
        if let newest = linked.last { index.touches.raiseStamps(above: newest.recency) }
        for line in index.undo.lines where line.state == .returning { line.setState(.reversible) }
        index.endRestore()
    }

    private func beginRecountOfTombstones() {
        index.setTombstoneCount(0)
        index.setTombstoneBytes(0)
        for line in index.undo.lines {
            line.clearSums(ofMarks: true)
            // An undone action keeps its totals; for others they are counted again.
            guard !line.isOfDeadlines, line.state == .reversible else { continue }
            line.setRemoved(entries: 0, bytes: 0)
        }
    }

    /// Makes an entry's flag and mark agree. Returns `false` if the entry is tombstoned without an undo record.
    private func recountTombstones(_ number: UInt32, _ slot: ChangingSlot) -> Bool {
        let mark = index.marks[number]
        guard slot.isTombstoned else {
            if mark != .none { index.marks.set(number, .none) }
            return true
        }
        let line = index.undo[mark.place]
        guard mark.isSet, line.group != 0 else { return false }
        guard line.isRestored else { return true }
        guard !mark.isOverwritten else { return false }
        slot.setFrameBytes(slot.frameBytes)
        index.marks.set(number, .none)
        return true
    }

    private func countTombstones(_ number: UInt32, _ slot: ChangingSlot) {
        let mark = index.marks[number]
        let line = index.undo[mark.place]
        line.addMarked(frameBytes: UInt64(slot.frameBytes))
        index.setTombstoneCount(index.tombstoneCount &+ 1)
        index.setTombstoneBytes(index.tombstoneBytes + Int(slot.frameBytes))
        if !mark.isOverwritten { line.addPending(bytes: UInt64(slot.valueBytes)) }
        if !line.isOfDeadlines { line.addRemoved(bytes: UInt64(slot.valueBytes)) }
    }

    /// Restores an entry's tag and sizes from its frame, or the whole slot. `false` if the slot names no frame.
    private func refill(_ slot: ChangingSlot) throws(StorageError) -> Bool {
        try takeBack(slot)
        let location = slot.location
        guard location.segment >= max(index.oldestSegment, 1),
            let (pin, frame) = try log.pinnedFrame(at: location)
        else { return false }
        defer { log.unpin(pin) }
        guard frame.keyBytes > 0, frame.kind != .delete else { return false }
        slot.setTag(engine.hash.tag(frame.key))
        if frame.kind == .resident {
            slot.setMemoryOnly(bytes: frame.options.residentBytes)
        } else {
            slot.setValueBytes(UInt32(frame.valueBytes))
        }
        if slot.isTombstoned {
            slot.markTombstoned(frameBytes: UInt32(frame.bytes))
        } else {
            slot.setFrameBytes(UInt32(frame.bytes))
        }
        guard !slot.isFilled else { return true }
        let options = frame.options
        slot.setDeadline(options.deadline)
        slot.setOwner(engine.ownerTag(options.owner))
        slot.setRecency(frame.recency)
        slot.setAccessed(frame.time)
        slot.setHits(0)
        slot.setLocation(location)
        return true
    }

    /// If a slot names a frame of an unpublished batch, makes it name the entry's previous frame.
    private func takeBack(_ slot: ChangingSlot) throws(StorageError) {
        let open = index.batchOpen
        let location = slot.location
        guard open != .none, location >= open,
            let part = try engine.withFrameIfPresent(at: location, { BatchPart(of: $0) }) ?? nil
        else { return }
        slot.setLocation(part.previous)
    }

    private func replayBehindHead() throws(StorageError) {
        for number in try log.segmentNumbers() where number >= max(index.head.segment, 1) {
            guard let pin = try log.pinIfPresent(number) else { continue }
            defer { log.unpin(pin) }
            try log.updateSize(pin)
            let start = number == index.head.segment ? index.head.offset : SegmentHeader.bytes
            var offset = start
            if number > index.head.segment {
                // The segment is still empty. It is never recreated, because processes that map it would continue with the old file (F7).
                if index.oldestSegment == 0 { index.setOldestSegment(number) }
                index.setHead(Location(segment: number, offset: start))
            }
            // Only an unbroken run of valid frames counts: bytes after a torn frame were never acknowledged.
            while let frame = log.validFrame(pin, at: offset) {
                if frame.kind == .batch, engine.kind != .log {
                    guard let end = log.endOfBatch(pin, at: offset) else { break }
                    let first = Location(segment: number, offset: offset)
                    if index.batchDone != first {
                        try republish(from: first, to: end, pin)
                        offset = end
                        continue
                    }
                }
                try replay(
                    frame, at: Location(segment: number, offset: offset),
                    tag: engine.hash.tag(frame.key))
                offset += frame.bytes
                index.setHead(Location(segment: number, offset: offset))
            }
            if !log.view(pin).isBlank(from: offset) { try segments.clearRemains(pin, from: offset) }
        }
    }

    /// Publishes a batch that is complete in the log; readers see it at one instant.
    private func republish(from first: Location, to end: Int, _ pin: SegmentLog.Pin) throws(StorageError) {
        var batch = BatchPublication(first: first, bytes: end - first.offset, steps: [], victims: [])
        var offset = first.offset
        while offset < end, let frame = log.frame(pin, at: offset) {
            let location = Location(segment: first.segment, offset: offset)
            offset += frame.bytes
            countReplayed(frame)
            for evicted in frame.evictions {
                if let number = try number(at: evicted) { batch.victims.append(number) }
            }
            let isPut: Bool
            switch frame.change(in: engine.kind, at: location) {
            case .store(isCopy: false): isPut = true
            case .remove: isPut = false
            default: continue
            }
            let tag = engine.hash.tag(frame.key)
            let present = try engine.find(frame.key, tag: tag)
            if let present { engine.unpin(present) }
            batch.steps.append(
                BatchStep(
                    isPut: isPut, tag: tag, number: present?.number ?? 0, location: location))
        }
        try reserveEntries(batch.steps.count { $0.isPut && $0.number == 0 })
        batch.publish(self, pin)
        // Each frame has been counted already.
        index.adjust(.appendedBytes, by: -batch.bytes)
    }

    /// The entry of a frame's key, unpinned, and whether the frame is a copy of an overwritten state of the key.
    func find(
        keyOf frame: Frame, tag: UInt32, isCopy: Bool
    ) throws(StorageError) -> (FoundEntry?, isOutdated: Bool) {
        if let present = try engine.find(frame.key, tag: tag) {
            defer { engine.unpin(present) }
            return (present, isCopy && present.frame.sequence > frame.sequence)
        }
        guard isCopy else { return (nil, false) }
        let removal = engine.replayedRemovals.withLock { $0?.place(of: tag, after: frame.sequence) }
        guard removal?.all != true, let place = removal?.place else { return (nil, removal?.all == true) }
        return (nil, try engine.withFrameIfPresent(at: place) { $0.key.elementsEqual(frame.key) } ?? false)
    }

    /// Records that a frame removed an entry, for later copies. `place`: of a frame with its key.
    func noteRemoval(_ tag: UInt32, at place: Location, by frame: Frame) {
        let sequence = frame.sequence
        engine.replayedRemovals.withLock { $0?.add(tag, at: place, sequence) }
    }
}

/// Slots of the process table. Processes release their slots at closing; other processes release those of crashed ones.
extension ArchiveSection {
    /// Clears the slot of a process, and removes entries that only it held.
    func leave(_ slot: ProcessSlot) {
        if slot.memoryBytes != 0 || index.residency.isUsed {
            for number in 1...max(1, index.usedEntries)
            where index.residency[number] & 1 << UInt64(slot.line) != 0 {
                index.residency.unmark(number, line: slot.line)
                guard let entry = index.entry(number), entry.isLive, entry.isMemoryOnly,
                    index.residency[number] == 0
                else { continue }
                let (tag, bytes, location) = (entry.tag, Int(entry.shownBytes), entry.location)
                engine.trace(.expiry, tag: tag, entry: number)
                remove(number)
                engine.publish(.expiry, .processEnded, tag: tag, bytes: bytes, at: location)
            }
        }
        index.detach(slot)
    }
}
