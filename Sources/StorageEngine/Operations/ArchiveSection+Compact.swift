import CPlatform

/// Making the index smaller again after many entries have gone, so that the footprint keeps S3.
extension ArchiveSection {
    /// Lines of the index that are in use. A log's messages have none.
    private var usedLines: Int {
        (engine.kind == .log ? 0 : index.entryCount) + Int(index.setAsideCount)
    }

    /// Whether the index has room for many more entries than there are, and the footprint suffers from it.
    private var isSparse: Bool {
        let used = Int(index.entryHighWater)
        let needed = usedLines
        // An eighth of them have gone since, so moving the rest is paid for.
        return used > needed + needed / 8 + 2 * IndexLayout.chunkEntries
            && index.indexBytes + engine.leastSegmentBytes > engine.boundBytes
    }

    /// Whether the index was made for many more entries than it ever had, and the footprint suffers from it.
    private var isRoomy: Bool {
        let used = Int(index.entryHighWater)
        return Int(index.entryCapacity) > used + used / 8 + 2
            * IndexLayout.chunkEntries
            && index.indexBytes + index.segmentBytes
                > engine.boundBytes
    }

    /// After the index was made from the log: how many entries there would be was a guess.
    func compactAfterRebuild() {
        if isSparse || isRoomy { compact() }
    }

    /// Needs that touches are drained.
    @inline(__always)
    func compactIfSparse() {
        if isSparse { compact() }
    }

    /// Ends every grace and removes the oldest segments that nothing lives in any more. Needs that touches are
    /// drained.
    func giveUpRoom() throws(StorageError) {
        forgetSetAside(most: .max, evenReversible: true)
        try dropDeadSegments()
        compact()
    }

    /// Removes the oldest segments as long as nothing lives in them.
    func dropDeadSegments() throws(StorageError) {
        // Messages are not counted by segment.
        guard engine.kind != .log else { return dropSegments(before: index.firstMessage.segment) }
        while index.oldestSegment < index.head.segment,
            index.liveFrames(ofSegment: index.oldestSegment) == 0
        {
            let before = index.oldestSegment
            dropSegments(before: try log.nextSegment(after: before, upTo: index.head.segment))
            guard index.oldestSegment > before else { break }
        }
    }

    /// Gives the entries the lowest numbers and the blocks behind them back. Takes a few hundred nanoseconds an
    /// entry that stays. Readers without the lock find an entry by its location, which stays, and believe no miss
    /// meanwhile; touches that name an old number are dropped.
    @inline(never)
    func compact() {
        let used = index.usedEntries
        let needed = UInt32(clamping: usedLines)
        guard needed < used || isRoomy else { return }
        index.beginStructureChange()
        // A snapshot that looked at lines meanwhile may have missed one, and begins anew.
        index.renumberings &+= 1
        moveEntries(above: needed, of: used)
        index.table.clear()
        crashPoint(.compactCleared)
        index.entryHighWater = min(needed, used)
        let buckets = Int(needed) * IndexLayout.chunkBuckets / IndexLayout.chunkEntries
        index.bucketCount = max(IndexLayout.firstBuckets, UInt32(buckets))
        // Reads no frame: a file that can't be opened now must not stop it halfway.
        relink { $0.location != .none }
        crashPoint(.compactRelinked)
        index.endStructureChange()
        index.shrink(toHold: Int(needed))
    }

    /// Copies every entry with a number above `last` to a free one below.
    private func moveEntries(above last: UInt32, of used: UInt32) {
        var free: UInt32 = 1
        for number in last..<used {
            guard let slot = index.entry(number + 1), slot.location != .none else { continue }
            while free <= last, index.entry(free)?.location != Location.none { free += 1 }
            guard free <= last, let place = index.entry(free) else { return index.declareDamaged() }
            place.copy(slot)
            index.marks.set(free, index.marks[number + 1])
            index.marks.set(number + 1, .none)
            index.residency.move(from: number + 1, to: free)
            // The new line first: whoever dies here leaves the entry twice, and repairing keeps one.
            place.location = slot.location
            crashPoint(.compactMoved)
            slot.location = .none
        }
    }
}
