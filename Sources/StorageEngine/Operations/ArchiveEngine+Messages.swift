/// Messages of a log archive: a ring. They have no keys and no lines in the index, only their order in the
/// log; when the limit leaves no room the oldest go, and so do segments that hold no others.
extension ArchiveEngine {
    /// The oldest message that remains; none while there is no message.
    var firstMessage: Location {
        get { Location(raw: index.word64(IndexLayout.firstMessageOffset)) }
        set { index.set64(IndexLayout.firstMessageOffset, newValue.raw) }
    }

    /// What must go so that there is room.
    private struct Dropped {
        var first: Location
        var count = 0
        var bytes = 0
    }

    /// Appends a message, on a full disk in the room of the oldest.
    func appendMessage(_ message: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        do throws(StorageError) {
            return try appendMessageOnce(message)
        } catch {
            guard case .noSpace = error else { throw error }
            let bytes = Frame.bytes(key: 0, extension: 0, value: message.count)
            return try makingRoom(for: bytes, refusal: error) { () throws(StorageError) in
                try appendMessageOnce(message)
            }
        }
    }

    private func appendMessageOnce(_ message: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        try acquire()
        defer { release() }
        let limit = min(diskLimit ?? UInt64(Frame.maximumValueBytes), ArchiveConfiguration.maximumDiskLimit)
        let now = Clock.wall()
        guard message.count <= min(limit, UInt64(Frame.maximumValueBytes)) else {
            index.add(.rejections)
            index.note(
                .rejection, .tooLarge, tag: 0, bytes: message.count, location: .none, pid: pid, time: now)
            throw .valueTooLarge(bytes: message.count, limit: limit, archive: name)
        }
        let stamp = index.takeStampAndDrain()
        var dropped = Dropped(first: firstMessage)
        while Int(valueBytes) - dropped.bytes + message.count > Int(limit) { try dropOldest(&dropped) }
        let content = FrameContent(
            kind: .message, sequence: nextSequence(), recency: stamp, time: now,
            created: Int64(bitPattern: dropped.first.raw),
            key: UnsafeRawBufferPointer(start: nil, count: 0), value: message,
            extensionBytes: UnsafeRawBufferPointer(start: nil, count: 0))
        let location = try append(content)
        crashPoint(.messageWritten)
        adjust(IndexLayout.valueBytesOffset, by: message.count - dropped.bytes)
        adjust(IndexLayout.entryCountOffset, by: 1 - dropped.count)
        crashPoint(.messageCounted)
        firstMessage = dropped.first == .none ? location : dropped.first
        commit(location, bytes: content.frameBytes)
        index.addLocked(.records)
        if dropped.count > 0 {
            crashPoint(.messagesDropped)
            index.addLocked(.evictions, UInt64(dropped.count))
            if firstMessage.segment > oldestSegment { dropSegments(before: firstMessage.segment) }
        }
        index.note(.append, .request, tag: 0, bytes: message.count, location: location, pid: pid, time: now)
        return content.sequence
    }

    /// Leaves the oldest message out of account.
    private func dropOldest(_ dropped: inout Dropped) throws(StorageError) {
        guard let (place, bytes) = try message(from: dropped.first, before: head) else {
            // No message is left, whatever the totals say.
            dropped.bytes = Int(valueBytes)
            dropped.count = entryCount
            dropped.first = .none
            return
        }
        dropped.count += 1
        dropped.bytes += bytes
        dropped.first = try message(from: next(behind: place), before: head)?.place ?? .none
    }

    /// The first message that begins at or behind a place, and before another, with its size; what is damaged is passed
    /// over. What is there before `settled` (the head) doesn't change any more; a frame may reach over `end`, and what its
    /// value looks like is none.
    private func message(
        from place: Location, before end: Location, settled: Location? = nil
    ) throws(StorageError) -> (place: Location, bytes: Int)? {
        let settled = settled ?? head
        var place = place
        while place != .none, place < end {
            if let found = try message(in: place.segment, from: place.offset, before: end, settled) {
                return found
            }
            guard place.segment < end.segment else { return nil }
            let next = try log.nextSegment(after: place.segment, upTo: end.segment)
            place = Location(segment: next, offset: SegmentHeader.bytes)
        }
        return nil
    }

    private func message(
        in segment: UInt32, from start: Int, before end: Location, _ settled: Location
    ) throws(StorageError) -> (place: Location, bytes: Int)? {
        guard let pin = try log.pinIfPresent(segment) else { return nil }
        defer { log.unpin(pin) }
        var offset = start
        let limit = segment == settled.segment ? settled.offset : log.fileBytes(pin)
        while Location(segment: segment, offset: offset) < end {
            // Only whole ones count, as for whoever reads them.
            if let frame = try log.validFrame(pin, at: offset, before: limit) {
                if frame.kind == .message {
                    return (Location(segment: segment, offset: offset), frame.valueBytes)
                }
                offset += frame.bytes
            } else if let next = try log.nextValidFrame(pin, after: offset, before: limit) {
                offset = next
            } else {
                return nil
            }
        }
        return nil
    }

    private func next(behind place: Location) -> Location {
        withFrame(at: place) { place.advanced(by: $0.bytes) } ?? .none
    }

    /// What a frame of the log says of a ring: this message was appended, and the oldest that stayed was at
    /// `oldest`. Needs the lock or an index that nobody else has yet.
    func replayMessage(_ frame: Frame, at location: Location) throws(StorageError) {
        let said = Location(raw: UInt64(bitPattern: frame.created))
        let oldest = said == .none ? location : min(said, location)
        var dropped = Dropped(first: firstMessage)
        while let (place, bytes) = try message(from: dropped.first, before: oldest, settled: location) {
            dropped.count += 1
            dropped.bytes += bytes
            dropped.first = next(behind: place)
        }
        adjust(IndexLayout.valueBytesOffset, by: frame.valueBytes - dropped.bytes)
        adjust(IndexLayout.entryCountOffset, by: 1 - dropped.count)
        // Looked at again only where it moved: the checksum of a large first message for each that follows is quadratic.
        guard dropped.count > 0 || firstMessage == .none else { return }
        firstMessage =
            try message(from: dropped.first, before: location, settled: location)?.place ?? location
    }

    /// After a limit was lowered: the oldest messages go.
    func dropMessages(downTo limit: UInt64) throws(StorageError) {
        var dropped = Dropped(first: firstMessage)
        while Int(valueBytes) - dropped.bytes > Int(clamping: limit) { try dropOldest(&dropped) }
        forget(dropped)
        if firstMessage.segment > oldestSegment { dropSegments(before: firstMessage.segment) }
    }

    /// For want of room: the messages before a place go; their segments are the caller's.
    func dropMessages(before place: Location) throws(StorageError) {
        var dropped = Dropped(first: firstMessage)
        while dropped.first != .none, dropped.first < place { try dropOldest(&dropped) }
        forget(dropped)
    }

    private func forget(_ dropped: Dropped) {
        guard dropped.count > 0 else { return }
        adjust(IndexLayout.valueBytesOffset, by: -dropped.bytes)
        adjust(IndexLayout.entryCountOffset, by: -dropped.count)
        crashPoint(.messagesShortened)
        firstMessage = dropped.first
        index.addLocked(.evictions, UInt64(dropped.count))
    }

    /// Whether the totals are those of the messages that are there.
    func messagesAddUp() -> Bool {
        guard let (count, bytes) = try? countMessages() else { return false }
        return count == entryCount && bytes == Int(valueBytes)
    }

    /// Makes the totals anew: whoever died while appending may have counted its message, and what went for it,
    /// or not.
    func recountMessages() throws(StorageError) {
        let (count, bytes) = try countMessages()
        index.set64(IndexLayout.entryCountOffset, UInt64(count))
        index.set64(IndexLayout.valueBytesOffset, UInt64(bytes))
    }

    private func countMessages() throws(StorageError) -> (count: Int, bytes: Int) {
        var count = 0
        var bytes = 0
        var place = firstMessage
        while let found = try message(from: place, before: head) {
            count += 1
            bytes += found.bytes
            place = next(behind: found.place)
        }
        return (count, bytes)
    }

    // MARK: Reading, without the lock

    /// Messages from a cursor on, and before another, at most `most`.
    func messages(
        from cursor: MessageCursor?, before last: MessageCursor? = nil, most: Int
    ) throws(StorageError) -> MessageBatch {
        let head = head
        let end = last.map { min(Location(raw: $0.place), head) } ?? head
        let start = cursor.map { Location(raw: $0.place) } ?? firstMessage
        var place = start
        var expected = cursor?.expected
        // The ring has moved on past the place; whether a message was there, the next one's number tells.
        var isPassed = false
        var isLost = false
        var messages: [LogMessage] = []
        while messages.count < most {
            let first = firstMessage
            if place < first {
                isPassed = isPassed || place != .none
                place = first
            }
            guard place != .none, place < end else {
                // All that was asked for may have gone.
                if isPassed, last != nil, start < end { isLost = true }
                break
            }
            guard let (found, _) = try message(from: place, before: end), let pin = log.pin(found.segment)
            else {
                // Dropped while it was looked for, or nothing is left that can be read.
                if firstMessage > place { continue }
                break
            }
            defer { log.unpin(pin) }
            guard let frame = log.validFrame(pin, at: found.offset) else {
                place = found.advanced(by: 8)
                continue
            }
            if isPassed { isLost = isLost || expected.map { frame.sequence > $0 } ?? true }
            isPassed = false
            expected = frame.sequence &+ 1
            messages.append(
                LogMessage(
                    sequence: frame.sequence, time: Timestamp(microseconds: frame.time),
                    bytes: Array(frame.value)))
            place = found.advanced(by: frame.bytes)
        }
        if messages.count < most { place = max(place, end) }
        return MessageBatch(
            messages: messages, next: MessageCursor(place: place.raw, expected: expected),
            someAreLost: isLost)
    }

    /// Where the last `count` messages begin, of all or of those before another place. Reads the headers of as many
    /// segments as they fill.
    func cursor(beforeLast count: Int, of last: MessageCursor? = nil) -> MessageCursor {
        let first = firstMessage
        let head = head
        let end = last.map { min(Location(raw: $0.place), head) } ?? head
        guard first != .none, count > 0 else {
            return MessageCursor(place: end.raw, expected: index.word64(IndexLayout.sequenceOffset) &+ 1)
        }
        var needed = count
        var segment = end.segment
        while true {
            var places: [Location] = []
            if let pin = log.pin(segment) {
                defer { log.unpin(pin) }
                var offset = segment == first.segment ? first.offset : SegmentHeader.bytes
                while Location(segment: segment, offset: offset) < end,
                    let frame = log.frame(pin, at: offset),
                    let kind = frame.kind
                {
                    if kind == .message { places.append(Location(segment: segment, offset: offset)) }
                    offset += frame.bytes
                }
            }
            if places.count >= needed { return MessageCursor(place: places[places.count - needed].raw) }
            needed -= places.count
            guard segment > first.segment, let before = log.segment(before: segment, from: first.segment)
            else {
                return MessageCursor(place: first.raw)
            }
            segment = before
        }
    }
}
