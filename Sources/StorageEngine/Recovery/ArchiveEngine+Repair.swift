import CPlatform

extension ArchiveEngine {
    /// Makes the index whole after the lock's holder died in the middle of a change (F5): chains, lists and
    /// totals are made anew from the entries, each of which names a frame, and frames that were written
    /// behind the committed head are replayed. Needs the lock. Idempotent.
    func repair() throws(StorageError) {
        index.beginStructureChange()
        crashPoint(.repairBegun)
        try relink()
        crashPoint(.repairRelinked)
        index.endStructureChange()
        try dropLeftovers()
        try replayBehindHead()
        crashPoint(.repairReplayed)
        sortRecencyList()
        crashPoint(.repairSorted)
        index.drainTouches(before: index.stampsTaken)
        recountSegments()
    }

    /// Chains, recency, free list and totals from the entries alone.
    private func relink() throws(StorageError) {
        let highWater = index.usedEntries
        var live: [(recency: UInt64, number: UInt32)] = []
        var valueBytes = 0
        for number in 0..<index.usedBuckets { index.bucket(number)?.clear() }
        for slot in 0..<UInt32(SegmentLayout.slots) { index.setLiveBytes(ofSegment: slot, 0) }
        for offset in [
            IndexLayout.freeHeadOffset, IndexLayout.recencyFirstOffset, IndexLayout.recencyLastOffset,
        ] {
            index.set32(offset, 0)
        }
        index.set64(IndexLayout.liveFrameBytesOffset, 0)
        for number in (0..<highWater).reversed() {
            guard let slot = index.entry(number + 1) else { continue }
            guard try restore(slot) else {
                index.freeEntry(number + 1, slot)
                continue
            }
            index.insertIntoBucket(number + 1, slot)
            live.append((slot.recency, number + 1))
            valueBytes += Int(slot.valueBytes)
            adjustLive(slot.location, by: Int(slot.frameBytes))
        }
        live.sort { $0.recency < $1.recency }
        for item in live {
            if let slot = index.entry(item.number) { index.linkAsMostRecent(item.number, slot) }
        }
        index.set64(IndexLayout.entryCountOffset, UInt64(live.count))
        index.set64(IndexLayout.valueBytesOffset, UInt64(valueBytes))
        if let newest = live.last { raiseStamps(above: newest.recency) }
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
        slot.valueBytes = UInt32(frame.valueBytes)
        slot.frameBytes = UInt32(frame.bytes)
        return true
    }

    /// Files that a killed removal left behind, and segments that were begun and never became the head.
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
            // Only an unbroken run of valid frames: what is behind a torn one was never acknowledged.
            while let frame = log.validFrame(pin, at: offset) {
                if oldestSegment == 0 { index.set32(IndexLayout.oldestSegmentOffset, number) }
                try replay(
                    frame, at: Location(segment: number, offset: offset),
                    tag: UInt32(truncatingIfNeeded: hash(frame.key)))
                offset += frame.bytes
                head = Location(segment: number, offset: offset)
            }
            if !log.isBlank(pin, from: offset) { log.blank(pin, from: offset) }
        }
    }

    private func recountSegments() {
        guard let numbers = try? log.segmentNumbers() else { return }
        var bytes = 0
        for number in numbers {
            if let pin = log.pin(number) {
                bytes += log.fileBytes(pin)
                log.unpin(pin)
            }
        }
        index.set64(IndexLayout.segmentBytesOffset, UInt64(bytes))
    }
}
