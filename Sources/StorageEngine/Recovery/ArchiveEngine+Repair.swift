import CPlatform

extension ArchiveEngine {
    /// Makes the index whole after the lock's holder died in the middle of a change (F5): chains, lists and
    /// totals are made anew from the entries, each of which names a frame, and frames that were written
    /// behind the committed head are replayed. Needs the lock. Idempotent.
    func repair() throws(StorageError) {
        index.beginStructureChange()
        crashPoint(.repairBegun)
        try relink { (slot) throws(StorageError) in try restore(slot) }
        if kind == .log { try recountMessages() }
        crashPoint(.repairRelinked)
        index.endStructureChange()
        try dropLeftovers()
        try recountDeadlineActions()
        try replayBehindHead()
        crashPoint(.repairReplayed)
        index.drainTouches(before: index.stampsTaken)
        // Last: what was replayed is younger than uses that were still pending.
        sortRecencyList()
        crashPoint(.repairSorted)
        if let limit = diskLimit { try fit(into: limit) }
        try recountSegments()
    }

    /// Chains, recency, free list and totals from the entries alone; those that it does not keep are freed.
    func relink<Failure>(keeping keeps: (EntrySlot) throws(Failure) -> Bool) throws(Failure) {
        let highWater = index.usedEntries
        var live: [(recency: UInt64, number: UInt32)] = []
        var setAside: [(group: UInt32, recency: UInt64, number: UInt32)] = []
        var setAsideLocations = Set<Location>()
        var valueBytes = 0
        for number in 0..<index.usedBuckets { index.bucket(number)?.clear() }
        for slot in 0..<UInt32(SegmentLayout.slots) { index.setLiveFrames(ofSegment: slot, 0) }
        for offset in [
            IndexLayout.freeHeadOffset, IndexLayout.recencyFirstOffset, IndexLayout.recencyLastOffset,
            IndexLayout.setAsideNewestOffset, IndexLayout.setAsideOldestOffset,
            IndexLayout.setAsideCountOffset,
        ] {
            index.set32(offset, 0)
        }
        index.set64(IndexLayout.liveFrameBytesOffset, 0)
        for number in (0..<highWater).reversed() {
            guard let slot = index.entry(number + 1) else { continue }
            // A death while entries were being given other numbers leaves one of them twice.
            guard try keeps(slot),
                slot.isSetAside
                    ? setAsideLocations.insert(slot.location).inserted
                    : entry(at: slot.location, tag: slot.tag) == nil
            else {
                index.freeEntry(number + 1, slot)
                continue
            }
            adjustLive(slot.location, by: Int(slot.frameBytes))
            if slot.isSetAside {
                setAside.append((slot.group, slot.recency, number + 1))
                continue
            }
            index.insertIntoBucket(number + 1, slot)
            live.append((slot.recency, number + 1))
            valueBytes += Int(slot.valueBytes)
        }
        relink(setAside)
        live.sort { $0.recency < $1.recency }
        for item in live {
            if let slot = index.entry(item.number) { index.linkAsMostRecent(item.number, slot) }
        }
        index.set64(IndexLayout.entryCountOffset, UInt64(live.count))
        index.set64(IndexLayout.valueBytesOffset, UInt64(valueBytes))
        if let newest = live.last { raiseStamps(above: newest.recency) }
    }

    /// The list of what is set aside, and how many entries each action has there.
    private func relink(_ setAside: [(group: UInt32, recency: UInt64, number: UInt32)]) {
        for line in index.undoLines where line.kind != ReversibleAction.Kind.deadline.rawValue {
            line.entries = 0
            line.bytes = 0
        }
        for item in setAside.sorted(by: { ($0.group, $0.recency) < ($1.group, $1.recency) }) {
            guard let slot = index.entry(item.number) else { continue }
            index.linkAsNewestSetAside(item.number, slot)
            guard let line = index.undoLine(of: item.group),
                line.kind != ReversibleAction.Kind.deadline.rawValue
            else { continue }
            line.entries += 1
            line.bytes &+= UInt64(slot.valueBytes)
        }
    }

    /// Sizes and tag of an entry from its frame; `false` when it names none.
    private func restore(_ slot: EntrySlot) throws(StorageError) -> Bool {
        let location = slot.location
        guard location != .none, let pin = try log.pinIfPresent(location.segment) else { return false }
        defer { log.unpin(pin) }
        guard let frame = try log.frameIfPresent(pin, at: location.offset), frame.keyBytes > 0 else {
            return false
        }
        slot.tag = UInt32(truncatingIfNeeded: hash(frame.key))
        if frame.kind == .resident {
            slot.setMemoryOnly(bytes: frame.traits.residentBytes)
        } else {
            slot.valueBytes = UInt32(frame.valueBytes)
        }
        if slot.isSetAside {
            slot.markSetAside(frameBytes: UInt32(frame.bytes))
        } else {
            slot.frameBytes = UInt32(frame.bytes)
        }
        return true
    }

    /// Files that a killed removal left behind.
    private func dropLeftovers() throws(StorageError) {
        for number in try log.segmentNumbers() where number < oldestSegment {
            _ = try log.removeFile(of: number)
        }
    }

    private func replayBehindHead() throws(StorageError) {
        for number in try log.segmentNumbers() where number >= max(head.segment, 1) {
            guard let pin = try log.pinIfPresent(number) else { continue }
            defer { log.unpin(pin) }
            try log.learnSize(pin)
            let start = number == head.segment ? head.offset : SegmentHeader.bytes
            var offset = start
            if number > head.segment {
                // Begun and still empty. It is used and never made anew: whoever has it mapped would go on with the
                // old file (F7).
                if oldestSegment == 0 { index.set32(IndexLayout.oldestSegmentOffset, number) }
                head = Location(segment: number, offset: start)
            }
            // Only an unbroken run of valid frames: what is behind a torn one was never acknowledged.
            while let frame = log.validFrame(pin, at: offset) {
                try replay(
                    frame, at: Location(segment: number, offset: offset),
                    tag: UInt32(truncatingIfNeeded: hash(frame.key)))
                offset += frame.bytes
                head = Location(segment: number, offset: offset)
            }
            if !log.isBlank(pin, from: offset) { log.view(pin).blank(from: offset) }
        }
    }

    /// The sum of the files' sizes decides how much is reclaimed, and nothing else.
    func recountSegments() throws(StorageError) {
        var bytes = 0
        for number in try log.segmentNumbers() { bytes += try log.fileBytes(of: number) }
        index.set64(IndexLayout.segmentBytesOffset, UInt64(bytes))
    }
}
