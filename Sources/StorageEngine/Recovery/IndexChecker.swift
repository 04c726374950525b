import CPlatform

/// Checks all invariants of an index between two operations, and changes nothing. Findings count only if no process changed it
/// during the check (``undisturbedViolations(of:)``). One pass, with a byte of memory for each entry; ends despite cycles.
struct IndexChecker {
    private let index: IndexView
    private let most: Int
    private(set) var found: [String] = []
    private var standing: [Standing]

    private enum Standing: UInt8 {
        case free, live, tombstoned
        case listed, reached
        case accounted
    }

    /// Checks all rules; with `most` 1, only until the first violation.
    init(_ engine: ArchiveEngine, most: Int = 10) {
        index = engine.index
        self.most = most
        standing = []
        if index.structureVersion & 1 != 0 { add("chains were being changed") }
        if index.batchOpen != .none || index.batchDone != .none { add("a batch is not finished") }
        if engine.index.firstMessage > engine.index.head { add("the oldest message is after the log tail") }
        guard engine.kind != .log else { return }
        standing = [Standing](repeating: .free, count: Int(index.usedEntries) + 1)
        let counts = checkEntries(engine)
        checkTombstones(counts.tombstoned)
        // Tombstoned entries stay in their buckets and in the order.
        checkOrder(counts.live + counts.tombstoned)
        checkBuckets(counts.live + counts.tombstoned)
        checkDeadlines()
        checkFree()
    }

    private mutating func add(_ problem: String) { if found.count < most { found.append(problem) } }

    private mutating func checkEntries(_ engine: ArchiveEngine) -> (live: Int, tombstoned: Int) {
        var live = 0
        var tombstoned = 0
        var values: UInt64 = 0
        var frames: UInt64 = 0
        var segments = [UInt64](repeating: 0, count: SegmentLayout.slots)
        let stamps = index.touches.taken
        for number in 1..<standing.count {
            guard let slot = index.entry(UInt32(number)), slot.location != .none else { continue }
            if !slot.isPlausible { add("entry \(number) has impossible sizes") }
            if slot.recency >= stamps { add("entry \(number) has a stamp that is too large") }
            if slot.location >= engine.index.head { add("entry \(number) names a frame beyond the log tail") }
            frames &+= UInt64(slot.frameBytes)
            segments[Int(slot.location.segment & SegmentLayout.slotMask)] &+=
                1 << IndexLayout.liveCountShift + UInt64(slot.frameBytes)
            if slot.isTombstoned != index.marks[UInt32(number)].isSet {
                add("entry \(number) is tombstoned without a mark, or marked but not tombstoned")
            }
            if index.marks.isHidden(UInt32(number), slot) {
                standing[number] = .tombstoned
                tombstoned += 1
            } else {
                standing[number] = .live
                live += 1
                values &+= UInt64(slot.valueBytes)
            }
        }
        if live != engine.index.entryCount {
            add("the index counts \(engine.index.entryCount) entries but has \(live)")
        }
        if values != engine.index.valueBytes {
            add("the index counts \(engine.index.valueBytes) value bytes but has \(values)")
        }
        if frames != index.liveFrameBytes { add("the total of live frame bytes is wrong") }
        for (place, word) in segments.enumerated() where index.liveFrames(ofSegment: UInt32(place)) != word {
            add("the count of live frames is wrong for the segments of slot \(place)")
        }
        return (live, tombstoned)
    }

    private mutating func checkOrder(_ live: Int) {
        let hasQueues = index.evictionPolicy == .s3fifo
        let main = checkList(.main, isByStamp: !hasQueues, most: live)
        let small = hasQueues ? checkList(.small, isByStamp: false, most: live) : 0
        if main + small != live { add("the order of eviction has \(main + small) entries, expected \(live)") }
        checkQueuePlaces(hasQueues: hasQueues)
    }

    /// Returns the number of entries.
    private mutating func checkList(_ list: IndexLayout.Queue, isByStamp: Bool, most: Int) -> Int {
        var seen = 0
        var previous: UInt32 = 0
        var stamp = UInt64.max
        var number = index.newest(in: list)
        while let slot = index.entry(number), seen <= most {
            guard standing(of: number) == .live || standing(of: number) == .tombstoned else {
                add("the \(list) list has entry \(number), which is free or listed twice")
                break
            }
            if list == .small, standing(of: number) == .tombstoned || slot.isMemoryOnly {
                add("entry \(number) is in the small queue, but counts against no limit")
            }
            standing[Int(number)] = .listed
            if slot.newer != previous { add("entry \(number) has the wrong neighbor") }
            if isByStamp, slot.recency > stamp { add("entry \(number) is out of order") }
            if index.queuePlace(of: number).isSmall != (list == .small) {
                add("the byte of entry \(number) names the wrong queue")
            }
            stamp = slot.recency
            previous = number
            number = slot.older
            seen += 1
        }
        if index.oldest(in: list) != previous { add("the \(list) list doesn't end at its last entry") }
        return seen
    }

    private mutating func checkQueuePlaces(hasQueues: Bool) {
        var bytes = 0
        for number in 1..<standing.count {
            let place = index.queuePlace(of: UInt32(number))
            if !place.isValid || place != .none && (!hasQueues || standing[number] == .free) {
                add("the byte of entry \(number)'s queue is invalid")
            }
            if place.isSmall, let slot = index.entry(UInt32(number)) { bytes += Int(slot.valueBytes) }
        }
        if hasQueues, bytes != index.smallBytes {
            add("the index counts \(index.smallBytes) bytes in the small queue but has \(bytes)")
        }
    }

    private mutating func checkBuckets(_ live: Int) {
        var seen = 0
        for number in 0..<index.usedBuckets {
            guard let bucket = index.bucket(number) else { break }
            for place in 0..<Bucket.cells where bucket.cell(place) != 0 {
                let entry = bucket.number(place)
                seen += meet(entry, in: number)
                if let slot = index.entry(entry),
                    Bucket.cell(of: slot, at: slot.location) != bucket.cell(place)
                {
                    add("a cell of bucket \(number) and the entry's slot name different frames")
                }
            }
            var chain = index.table.chain(of: bucket)
            while chain.next() != nil { seen += meet(chain.number, in: number) }
            if chain.isBroken { add("the chain of bucket \(number) has a cycle or an invalid entry") }
        }
        if seen != live { add("buckets have \(seen) entries, expected \(live)") }
    }

    private mutating func meet(_ number: UInt32, in bucket: UInt32) -> Int {
        switch standing(of: number) {
        case .live, .tombstoned, .listed: standing[Int(number)] = .reached
        case .reached: add("entry \(number) is in buckets twice")
        default: add("bucket \(bucket) has the free entry \(number)")
        }
        if let slot = index.entry(number),
            index.table.number(of: slot.tag, count: index.bucketCount) != bucket
        {
            add("entry \(number) is in the wrong bucket")
        }
        return 1
    }

    private mutating func checkTombstones(_ count: Int) {
        var pending: [Int: (entries: UInt64, bytes: UInt64)] = [:]
        var marks = [UInt64](repeating: 0, count: IndexLayout.undoLines)
        var flagged = 0
        for number in 1..<standing.count {
            let mark = index.marks[UInt32(number)]
            if mark.isSet { marks[mark.place] += 1 }
            guard let slot = index.entry(UInt32(number)), slot.location != .none, slot.isTombstoned else {
                continue
            }
            flagged += 1
            guard standing[number] == .tombstoned else { continue }
            if index.undo[mark.place].group == 0 {
                add("entry \(number) is tombstoned without an undo record")
            }
            guard !mark.isOverwritten else { continue }
            pending[mark.place, default: (0, 0)].entries += 1
            pending[mark.place]?.bytes &+= UInt64(slot.valueBytes)
        }
        var marked: UInt64 = 0
        for place in 0..<IndexLayout.undoLines {
            let line = index.undo[place]
            marked &+= line.marked
            if line.marked != marks[place] {
                add(
                    "line \(place) of the undo table counts \(line.marked) entries, but \(marks[place]) have its mark"
                )
            }
        }
        for line in index.undo.lines {
            let there = pending[line.place] ?? (0, 0)
            if (line.pendingEntries, line.pendingBytes) != there {
                add(
                    "undo record \(line.group) counts \(line.pendingEntries) entries to restore, but \(there.entries) exist"
                )
            }
        }
        if marked != UInt64(index.tombstoneCount) || flagged != Int(index.tombstoneCount) {
            add(
                "\(flagged) entries are tombstoned; the index counts \(index.tombstoneCount), the undo table \(marked)"
            )
        }
    }

    private mutating func checkDeadlines() {
        for number in 1..<standing.count {
            guard let slot = index.entry(UInt32(number)), slot.isLive, slot.deadline != Deadline.never,
                !index.deadlines.bounds(slot.deadline, of: UInt32(number))
            else { continue }
            add("entry \(number) expires before a lower bound of expiry times")
        }
    }

    private mutating func checkFree() {
        var number = index.freeHead
        while let slot = index.entry(number) {
            guard standing(of: number) == .free else {
                add("the free list has entry \(number), which is in use or listed twice")
                break
            }
            standing[Int(number)] = .accounted
            number = slot.chainNext
        }
        let lost = standing.dropFirst().count { $0 == .free }
        if lost > 0 { add("\(lost) free entries are missing from the free list") }
    }

    private func standing(of number: UInt32) -> Standing? {
        Int(number) < standing.count ? standing[Int(number)] : nil
    }

    /// The violations at a moment without changes; `nil` if there was no such moment in some attempts.
    static func undisturbedViolations(of engine: ArchiveEngine) -> [String]? {
        let index = engine.index
        func state() -> [UInt64] {
            [
                index.lockOwner, index.head.raw,
                index.structureVersion, index.touches.taken, index.touches.drained,
                index.events.head,
            ]
        }
        let wait = WriterWait(index)
        for attempt in 0..<5 {
            if attempt > 0 { cp_sleep(1_000_000 << Int64(attempt)) }
            while index.lockOwner != 0 { guard wait.shouldContinue() else { return nil } }
            let before = state()
            guard before[0] == 0 else { continue }
            let found = IndexChecker(engine).found
            if state() == before { return found }
        }
        return nil
    }
}
