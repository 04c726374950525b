/// Changes a log: appends messages and, at the limit, drops the oldest, and the segments that hold only dropped ones.
struct MessageWriter: ArchiveOperation {
    let engine: ArchiveEngine

    private var reader: MessageReader { MessageReader(engine) }

    private struct Dropped {
        var first: Location
        var count = 0
        var bytes = 0
        var isDoubtful = false
    }

    func append(_ section: borrowing ArchiveSection, _ message: UnsafeRawBufferPointer) throws(StorageError)
        -> UInt64
    {
        let index = section.index
        let limit = min(
            engine.diskLimit ?? UInt64(Frame.maximumValueBytes), ArchiveConfiguration.maximumDiskLimit)
        let most = min(limit, UInt64(Frame.maximumValueBytes))
        let now = Clock.wall()
        guard message.count <= most else {
            index.add(.rejections)
            engine.publish(.rejection, .tooLarge, bytes: message.count, time: now)
            throw .valueTooLarge(bytes: message.count, limit: most, archive: engine.name)
        }
        // Every message's frame contains the location of the oldest message, and a rebuild of the index uses it.
        guard index.firstMessage <= index.head, index.firstMessage != .none || index.entryCount == 0 else {
            throw index.contradiction(
                at: IndexLayout.firstMessageOffset, "the oldest message is outside the log"
            )
        }
        let stamp = section.drainTouches()
        // The total exceeds the limit before the append, so it is wrong: recount before dropping messages.
        if index.valueBytes > limit { try recountMessages(section) }
        let dropped = try oldestMessages(section) {
            Int(index.valueBytes) - $0.bytes + message.count > Int(limit)
        }
        let content = FrameContent(
            kind: .message, sequence: section.nextSequence(), recency: stamp, time: now,
            created: Int64(bitPattern: dropped.first.raw), key: .empty, value: message)
        let location = try section.append(content)
        crashPoint(.messageWritten)
        index.adjust(.valueBytes, by: message.count - dropped.bytes)
        index.adjust(.entryCount, by: 1 - dropped.count)
        crashPoint(.messageCounted)
        index.setFirstMessage(dropped.first == .none ? location : dropped.first)
        section.commit(location, bytes: content.frameBytes)
        index.addLocked(.records)
        if dropped.count > 0 {
            crashPoint(.messagesDropped)
            index.addLocked(.evictions, UInt64(dropped.count))
        }
        // A process that emptied or shortened the ring may have crashed before it removed the files.
        if index.firstMessage.segment > index.oldestSegment {
            section.dropSegments(before: index.firstMessage.segment)
        }
        engine.publish(.append, .request, bytes: message.count, at: location, time: now)
        return content.sequence
    }

    /// The oldest messages while `isNeeded`. Recounts after damage or wrong totals: otherwise messages that fit would be dropped.
    private func oldestMessages(_ section: borrowing ArchiveSection, while isNeeded: (Dropped) -> Bool)
        throws(StorageError) -> Dropped
    {
        var isRecounted = false
        while true {
            var dropped = Dropped(first: section.index.firstMessage)
            while isNeeded(dropped), isRecounted || !dropped.isDoubtful, try dropOldest(section, &dropped) {}
            guard dropped.isDoubtful, !isRecounted else { return dropped }
            try recountMessages(section)
            isRecounted = true
        }
    }

    private func dropOldest(_ section: borrowing ArchiveSection, _ dropped: inout Dropped)
        throws(StorageError) -> Bool
    {
        let index = section.index
        guard let oldest = try reader.message(from: dropped.first, before: index.head) else {
            dropped.first = .none
            dropped.isDoubtful = true
            return false
        }
        dropped.count += 1
        dropped.bytes += oldest.bytes
        let next = try reader.message(from: oldest.end, before: index.head)
        dropped.first = next?.place ?? .none
        let totals = (count: index.entryCount, bytes: Int(index.valueBytes))
        let addsUp =
            next == nil
            ? (dropped.count, dropped.bytes) == totals
            : dropped.count < totals.count && dropped.bytes <= totals.bytes
        if !addsUp || oldest.isBehindDamage || next?.isBehindDamage == true { dropped.isDoubtful = true }
        return true
    }

    func replayMessage(
        _ section: borrowing ArchiveSection, _ frame: Frame, at location: Location, oldest: Location
    ) throws(StorageError) {
        let index = section.index
        let dropped = try messages(before: oldest, settled: location)
        index.adjust(.valueBytes, by: frame.valueBytes - dropped.bytes)
        index.adjust(.entryCount, by: 1 - dropped.count)
        // Searches again only if the location moved; otherwise a large first message would make the replay quadratic.
        guard dropped.count > 0 || index.firstMessage == .none else { return }
        index.setFirstMessage(
            try reader.message(from: dropped.first, before: location, settled: location)?.place ?? location)
    }

    /// Replays the frame of a lowered limit.
    func replayShortening(
        _ section: borrowing ArchiveSection, at location: Location, oldest: Location
    ) throws(StorageError) {
        let index = section.index
        let dropped = try messages(before: oldest, settled: location)
        guard dropped.count > 0 else { return }
        count(section, dropped, sign: -1)
        index.setFirstMessage(
            try reader.message(from: dropped.first, before: location, settled: location)?.place ?? .none)
    }

    private func messages(before oldest: Location, settled: Location) throws(StorageError) -> Dropped {
        let (count, bytes, next) = try reader.countMessages(before: oldest, settled: settled)
        return Dropped(first: next, count: count, bytes: bytes)
    }

    /// Drops at most `most` of the oldest messages for a lower limit. A frame records the drop. Removes the files at the end.
    func dropMessages(_ section: borrowing ArchiveSection, downTo limit: UInt64, most: Int = .max)
        throws(StorageError)
    {
        let index = section.index
        let dropped = try oldestMessages(section) {
            $0.count < most && Int(index.valueBytes) - $0.bytes > Int(clamping: limit)
        }
        guard dropped.first != index.firstMessage else { return }
        try section.appendBare(.evict, created: Int64(bitPattern: dropped.first.raw)) { _, _ in
            forget(section, dropped)
            index.addLocked(.evictions, UInt64(dropped.count))
        }
        LogCleaner(engine).deferCompaction()
    }

    /// Deletes the messages before a cursor, and counts the rest again. Returns `nil` if the cursor's location is unknown.
    func deleteMessages(
        _ section: borrowing ArchiveSection, before end: MessageCursor
    ) throws(StorageError) -> Removal? {
        let index = section.index
        guard let place = reader.place(of: end) else { return nil }
        let start = max(place, index.firstMessage)
        guard let first = try reader.message(from: start, before: index.head)?.place else {
            return try dropAllMessages(section)
        }
        let left = try reader.countMessages(from: first, before: index.head)
        let dropped = Dropped(
            first: first, count: max(0, index.entryCount - left.count),
            bytes: max(0, Int(index.valueBytes) - left.bytes))
        if dropped.count > 0 {
            try section.appendBare(.evict, created: Int64(bitPattern: first.raw)) { _, time in
                forget(section, dropped)
                index.addLocked(.deletes, UInt64(dropped.count))
                engine.publish(.delete, .request, bytes: dropped.bytes, time: time)
            }
            LogCleaner(engine).deferCompaction()
        }
        return Removal(entries: dropped.count, bytes: UInt64(dropped.bytes))
    }

    func dropAllMessages(_ section: borrowing ArchiveSection) throws(StorageError) -> Removal {
        let index = section.index
        let removal = Removal(entries: index.entryCount, bytes: index.valueBytes)
        // An empty ring may also have files to remove.
        guard
            removal.entries > 0 || index.oldestSegment < index.head.segment || section.isNewestSegmentLong
        else {
            return removal
        }
        // The frame begins a new segment, so that all older ones can be removed.
        try section.appendBare(.evict, created: Int64(bitPattern: Location.none.raw), inNewSegment: true) {
            _, time in
            index.setEntryCount(0)
            index.setValueBytes(0)
            crashPoint(.messagesShortened)
            index.setFirstMessage(.none)
            guard removal.entries > 0 else { return }
            engine.publish(.delete, .request, bytes: Int(clamping: removal.bytes), time: time)
        }
        index.add(.deletes, UInt64(removal.entries))
        LogCleaner(engine).deferCompaction()
        return removal
    }

    /// Drops the messages before a location for lack of disk space; restores them if `removing` fails. Returns their number.
    func dropMessages(
        _ section: borrowing ArchiveSection, before place: Location, removing: () throws(StorageError) -> Void
    ) throws(StorageError) -> (count: Int, bytes: Int) {
        let dropped = try oldestMessages(section) { $0.first != .none && $0.first < place }
        let first = section.index.firstMessage
        forget(section, dropped)
        do throws(StorageError) {
            try removing()
        } catch {
            section.index.setFirstMessage(first)
            count(section, dropped, sign: 1)
            throw error
        }
        return (dropped.count, dropped.bytes)
    }

    private func forget(_ section: borrowing ArchiveSection, _ dropped: Dropped) {
        guard dropped.first != section.index.firstMessage else { return }
        engine.countHandled(entries: dropped.count)
        count(section, dropped, sign: -1)
        crashPoint(.messagesShortened)
        section.index.setFirstMessage(dropped.first)
    }

    private func count(_ section: borrowing ArchiveSection, _ dropped: Dropped, sign: Int) {
        section.index.adjust(.valueBytes, by: sign * dropped.bytes)
        section.index.adjust(.entryCount, by: sign * dropped.count)
    }

    /// Recounts all messages: after damage, or a crash during an append, the totals may be wrong. Reads all messages.
    func recountMessages(_ section: borrowing ArchiveSection) throws(StorageError) {
        let found = try reader.countMessages(before: index.head)
        section.index.setEntryCount(found.count)
        section.index.setValueBytes(UInt64(found.bytes))
    }
}
