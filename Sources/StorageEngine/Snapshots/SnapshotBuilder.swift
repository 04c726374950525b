import CPlatform

/// Takes a snapshot of an archive without its lock: reads all slots, then updates them to one moment, the log tail after the last
/// read. Every change since the first read has a frame after the first log tail, which replaces the slot's content. The one
/// operation that may have reached the index but not yet the log tail is included. All segments are pinned first. Starts again if
/// removed entries were restored, or a file to be read was removed.
struct SnapshotBuilder: ArchiveOperation {
    let engine: ArchiveEngine

    struct Result {
        var items: [SnapshotItem]
        var damaged: [StorageError] = []
        var segments: PinnedSegments
        var boot: Int64
        var wall: Int64
    }

    private static let attempts = 200
    /// A single read may meet a slot that is being changed.
    private static let readingsToReportDamage = 3

    func take() throws(StorageError) -> Result {
        var timesDamaged = 0
        for attempt in 0..<SnapshotBuilder.attempts {
            do throws(StorageError) {
                var isDamaged = false
                let missingIsLost = attempt >= SnapshotBuilder.readingsToReportDamage
                if let result = try attemptOnce(&isDamaged, missingIsLost: missingIsLost) { return result }
                timesDamaged = isDamaged ? timesDamaged + 1 : 0
                if timesDamaged == SnapshotBuilder.readingsToReportDamage { throw damagedIndex }
            } catch {
                // A file to be read was removed, because the log has advanced.
                guard error.isMissing else { throw error }
            }
            // The process that changes the archive was stopped: the next attempt would have the same result.
            if attempt > SnapshotBuilder.readingsToReportDamage, index.isWriterStopped { break }
            if attempt > 3 { cp_sleep(Int64(min(attempt, 20)) * 100_000) }
        }
        guard !engine.isFolderRemoved else { throw .closed(name: engine.name) }
        let end = engine.index.head
        if end != .none, try !PinnedSegments(log).add(end.segment) { throw log.unreadable(end.segment) }
        throw .busy(
            archive: engine.name, process: 0,
            reason: "other processes change it faster than a snapshot can be taken; try again")
    }

    private var damagedIndex: StorageError {
        .corrupted(
            path: engine.folder.path + "/" + ArchiveFile.index, offset: 0,
            reason: "it names frames that the log doesn't have; a check shows which, a repair rebuilds it")
    }

    /// Sets `isDamaged` if no process changes the archive and the index names missing frames. `missingIsLost`: an absent
    /// or damaged segment not older than the log is lost and not reclaimed; reading its entries throws.
    private func attemptOnce(_ isDamaged: inout Bool, missingIsLost: Bool) throws(StorageError) -> Result? {
        let isStopped = engine.isRestoreStopped
        let returns = index.returns
        let segments = PinnedSegments(log)
        let first = engine.index.firstMessage
        let begin = engine.index.head
        guard try pin(segments, upTo: begin, missingIsLost) else { return nil }
        if engine.kind == .log { return try messages(segments, from: first, upTo: begin, missingIsLost) }
        let found = try readSlots()
        // Frames in older segments were either moved, as later frames show, or dropped on a full disk, which no frame shows.
        let oldest = engine.index.oldestSegment
        guard let end = try end(behind: found.last) else {
            isDamaged = index.lockOwner == 0 && engine.index.head == begin
            return nil
        }
        guard index.returns == returns, isStopped || returns & 1 == 0 else { return nil }
        // All frames after the first log tail must be present. Otherwise the log has advanced past them, or there was no log.
        guard try pin(segments, upTo: end, missingIsLost),
            begin == end || begin != .none && engine.index.oldestSegment <= begin.segment
        else {
            // The index is damaged if it names frames although its log is empty.
            isDamaged = begin == .none && index.lockOwner == 0 && engine.index.head == .none
            return nil
        }
        var overlay = SnapshotOverlay(engine: engine, items: found.items, segments: segments)
        guard try overlay.apply(from: begin, to: end) else { return nil }
        let now = Clock.read()
        let items = overlay.items(atBoot: now.boot, from: oldest)
        // An unreadable segment must not silently leave out entries.
        for segment in Set(items.map(\.location.segment)) {
            let isThere = try segments.add(segment)
            guard isThere || missingIsLost && segment >= engine.index.oldestSegment else { return nil }
        }
        return result(items, segments, now)
    }

    private func result(_ items: [SnapshotItem], _ segments: PinnedSegments, _ now: Clock.Reading) -> Result {
        segments.keep(only: Set(items.map(\.location.segment)))
        return Result(items: items, segments: segments, boot: now.boot, wall: now.wall)
    }

    /// Pins all segments up to `end` with their present sizes. Returns `false` if one was removed, or is damaged and not lost.
    private func pin(
        _ segments: PinnedSegments, upTo end: Location, _ missingIsLost: Bool
    ) throws(StorageError) -> Bool {
        guard end != .none else { return true }
        let oldest = engine.index.oldestSegment
        if engine.isCopy {
            // A copy has mapped all segments that existed when it was made; the files may have been removed.
            for number in oldest...max(oldest, end.segment) { _ = try segments.add(number) }
            return segments.pins[end.segment] != nil
        }
        for number in try log.segmentNumbers() where number >= oldest && number <= end.segment {
            guard try segments.add(number) || missingIsLost else { return false }
        }
        guard segments.pins[end.segment] != nil else { return false }
        return try segments.updateSizes(upTo: end)
    }

    private func readSlots() throws(StorageError) -> (items: [SnapshotItem], last: Location) {
        try index.catchUp()
        var items: [SnapshotItem] = []
        let count = min(engine.index.entryCount, Int(index.usedEntries))
        try AddressPressure.requireFree(for: count, bytesEach: 160, in: engine.folder.path)
        items.reserveCapacity(count)
        var last = Location.none
        let renumberings = index.renumberings
        let isChanging = index.structureVersion & 1 != 0
        try engine.forEachEntry(uses: index.touches.pending()) { content in
            last = max(last, content.location)
            guard !content.isMemoryOnly, let use = content.use else { return }
            items.append(
                SnapshotItem(
                    location: content.location, recency: use.recency, accessed: use.accessed,
                    deadline: content.deadline, tag: content.tag, hits: use.hits))
        }
        if isChanging || index.renumberings != renumberings {
            var seen: Set<Location> = []
            items.removeAll { !seen.insert($0.location).inserted }
        }
        // No slot shows a batch that only deletes. When it is finished, the log tail is after it.
        if index.batchOpen == .none {
            let done = index.batchDone
            if index.lockOwner != 0 { last = max(last, done) }
        }
        return (items, last)
    }

    private func isSettled(at end: Location) -> Bool {
        var isSettled = true
        // If the wait times out, the holder of the lock was stopped, or is busy with another change.
        _ = becomesTrue {
            let isQuiet = index.lockOwner == 0
            isSettled = engine.index.head == end
            return isQuiet || !isSettled
        }
        return isSettled
    }

    /// Repeats the check until it is true, or until the running operation has taken too long.
    private func becomesTrue(_ condition: () -> Bool) -> Bool {
        let wait = WriterWait(index)
        while !condition() { guard wait.shouldContinue() else { return false } }
        return true
    }

    private func end(behind last: Location) throws(StorageError) -> Location? {
        // A running operation may have left slots half changed; when it ends, the log shows the change.
        let before = engine.index.head
        var head = before
        let isOver = becomesTrue {
            let isQuiet = index.lockOwner == 0
            head = engine.index.head
            return (isQuiet || head != before) && (last < head || last == .none)
        }
        if isOver { return head }
        // The process that changes the index is slow or dead. Frames named by the index are complete in the log.
        var end = engine.index.head
        if last == .none { return end }
        while end <= last {
            if end.segment < last.segment {
                end = Location(segment: last.segment, offset: SegmentHeader.bytes)
            }
            guard let pin = try log.pinIfPresent(end.segment) else { return nil }
            defer { log.unpin(pin) }
            guard let frame = log.validFrame(pin, at: end.offset) else { return nil }
            guard frame.kind == .batch else {
                end = end.advanced(by: frame.bytes)
                continue
            }
            guard let behind = log.endOfBatch(pin, at: end.offset) else { return nil }
            end = Location(segment: end.segment, offset: behind)
        }
        return end
    }

    /// The messages of a log archive that ended at `end`, oldest first. The last frame names the oldest message.
    private func messages(
        _ segments: PinnedSegments, from first: Location, upTo end: Location, _ missingIsLost: Bool
    ) throws(StorageError) -> Result? {
        let now = Clock.read()
        guard first != .none, end != .none else { return result([], segments, now) }
        var items: [SnapshotItem] = []
        var damaged: [Location] = []
        var oldest: Location?
        for number in segments.pins.keys.sorted() where number >= first.segment {
            guard let pin = segments.pins[number] else { continue }
            let rest = try log.scan(pin, from: first, before: end) { (item) throws(StorageError) in
                if case .damage(let range) = item {
                    damaged.append(Location(segment: number, offset: range.lowerBound))
                }
                guard case .frame(let frame, let location) = item,
                    case .append(let first) = frame.change(in: .log, at: location)
                else { return }
                oldest = max(oldest ?? .none, first)
                items.append(
                    SnapshotItem(
                        location: location, recency: UInt64(items.count), accessed: frame.time,
                        deadline: Deadline.never, tag: 0, hits: 0))
            }
            if !rest.isBlankBehind || number == end.segment && rest.end < end.offset {
                damaged.append(Location(segment: number, offset: rest.end))
            }
        }
        // An append drops the oldest messages before it publishes its message.
        if let oldest, first > oldest, !isSettled(at: end) { return nil }
        let begin = max(first, oldest ?? .none)
        items.removeAll { $0.location < begin }
        // The messages may have been dropped before they were pinned.
        guard segments.pins[begin.segment] != nil || missingIsLost && engine.index.firstMessage <= begin
        else { return nil }
        let unreadable = try log.segmentNumbers().filter {
            $0 >= begin.segment && $0 < end.segment && segments.pins[$0] == nil
        }
        let counted = engine.index.entryCount
        var result = result(items, segments, now)
        result.damaged = damaged.filter { $0 >= begin }.map {
            log.damage(at: $0, "one or more messages fail their checksums")
        }
        result.damaged += unreadable.map(log.unreadable)
        // If the last frames are all zero, only the index's count shows it, unless a process changes it or died while doing so.
        if result.damaged.isEmpty, items.count < counted, index.lockOwner == 0, engine.index.head == end,
            engine.index.firstMessage == begin, counted == engine.index.entryCount
        {
            result.damaged.append(
                .corrupted(
                    path: engine.folder.path, offset: 0,
                    reason: "the index counts \(counted) messages, the log has \(items.count)"))
        }
        return result
    }
}

/// The items found in the index, with changes from later frames of the log.
private struct SnapshotOverlay {
    let engine: ArchiveEngine
    var items: [SnapshotItem]
    let segments: PinnedSegments
    /// Positions of items by tag, for tags that were changed.
    var places: [UInt32: [Int]] = [:]
    var removed: [Bool] = []

    /// Applies the frames between two locations; returns `false` if they don't show all changes.
    mutating func apply(from begin: Location, to end: Location) throws(StorageError) -> Bool {
        removed = [Bool](repeating: false, count: items.count)
        guard begin != end else { return true }
        guard let frames = try segments.frames(from: begin, to: end) else { return false }
        var tags: Set<UInt32> = []
        for (frame, _) in frames {
            if frame.keyBytes > 0 { tags.insert(tag(of: frame)) }
            for evicted in frame.evictions {
                if let frame = segments.uncheckedFrame(at: evicted) { tags.insert(tag(of: frame)) }
            }
        }
        for (place, item) in items.enumerated() where tags.contains(item.tag) {
            // An entry that was deleted and stored again during the walk was found in two slots.
            if let frame = segments.uncheckedFrame(at: item.location), self.place(of: frame.key) != nil {
                removed[place] = true
            } else {
                places[item.tag, default: []].append(place)
            }
        }
        for (frame, location) in frames {
            guard apply(frame, at: location) else { return false }
        }
        return true
    }

    private func tag(of frame: Frame) -> UInt32 { engine.hash.tag(frame.key) }

    private mutating func apply(_ frame: Frame, at location: Location) -> Bool {
        for evicted in frame.evictions { remove(at: evicted) }
        switch frame.change(in: engine.kind, at: location) {
        case .store(let isCopy): store(frame, at: location, isCopy: isCopy)
        case .remove, .storeInMemory: if let place = place(of: frame.key) { removed[place] = true }
        case .removeAll: removed = [Bool](repeating: true, count: items.count)
        case .setDeadline:
            if let place = place(of: frame.key) { items[place].deadline = frame.deadline(.deadline) }
        case .evict, .tombstone, .append, .shorten: break
        case .none: return frame.kind != nil
        // Repeats the walk: an undo restores entries that were removed before it.
        default: return false
        }
        return true
    }

    private mutating func store(_ frame: Frame, at location: Location, isCopy: Bool) {
        let tag = tag(of: frame)
        var item = SnapshotItem(
            location: location, recency: frame.recency, accessed: frame.time,
            deadline: frame.options.deadline, tag: tag, hits: 0)
        guard let place = place(of: frame.key) else {
            places[tag, default: []].append(items.count)
            removed.append(false)
            return items.append(item)
        }
        let found = items[place]
        // The slot may have hits and accesses that are later than the frame.
        if found.location == location || (isCopy && !removed[place]) { item.hits = found.hits }
        if found.recency > item.recency { (item.recency, item.accessed) = (found.recency, found.accessed) }
        items[place] = item
        removed[place] = false
    }

    private func place(of key: UnsafeRawBufferPointer) -> Int? {
        let tag = engine.hash.tag(key)
        return places[tag]?.first { place in
            segments.uncheckedFrame(at: items[place].location)?.key.elementsEqual(key) == true
        }
    }

    private mutating func remove(at location: Location) {
        guard let frame = segments.uncheckedFrame(at: location), let place = place(of: frame.key),
            items[place].location == location
        else { return }
        removed[place] = true
    }

    func items(atBoot now: Int64, from oldest: UInt32) -> [SnapshotItem] {
        var kept: [SnapshotItem] = []
        kept.reserveCapacity(items.count)
        for (place, item) in items.enumerated() where !removed[place] && item.location.segment >= oldest {
            if item.deadline != Deadline.never, item.deadline <= now { continue }
            kept.append(item)
        }
        return kept
    }
}

struct SnapshotItem {
    var location: Location
    /// Stamp and time of the last access, and the hits, when the slot was read.
    var recency: UInt64
    var accessed: Int64
    /// Expiry time on the boot clock.
    var deadline: Int64
    var tag: UInt32
    var hits: UInt32
}
