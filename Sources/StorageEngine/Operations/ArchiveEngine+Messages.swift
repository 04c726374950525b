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

    func appendMessage(_ message: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        let limit = diskLimit ?? UInt64(Frame.maximumValueBytes)
        try acquire()
        defer { release() }
        let now = Clock.wall()
        guard message.count <= min(limit, UInt64(Frame.maximumValueBytes)) else {
            index.add(.rejections)
            index.note(
                .rejection, .tooLarge, tag: 0, bytes: message.count, location: .none, pid: pid, time: now)
            throw .valueTooLarge(bytes: message.count, limit: limit, archive: name)
        }
        let stamp = index.takeStampAndDrain()
        var dropped = Dropped(first: firstMessage)
        while valueBytes - UInt64(dropped.bytes) + UInt64(message.count) > limit { dropOldest(&dropped) }
        let content = FrameContent(
            kind: .message, sequence: nextSequence(), recency: stamp, time: now,
            created: Int64(bitPattern: dropped.first.raw),
            key: UnsafeRawBufferPointer(start: nil, count: 0), value: message,
            extensionBytes: UnsafeRawBufferPointer(start: nil, count: 0))
        let location = try append(content)
        adjust(IndexLayout.valueBytesOffset, by: message.count - dropped.bytes)
        adjust(IndexLayout.entryCountOffset, by: 1 - dropped.count)
        firstMessage = dropped.first == .none ? location : dropped.first
        commit(location, bytes: content.frameBytes)
        index.add(.records)
        if dropped.count > 0 {
            index.add(.evictions, UInt64(dropped.count))
            if firstMessage.segment > oldestSegment { dropSegments(before: firstMessage.segment) }
        }
        index.note(.append, .request, tag: 0, bytes: message.count, location: location, pid: pid, time: now)
        return content.sequence
    }

    /// Leaves the oldest message out of account.
    private func dropOldest(_ dropped: inout Dropped) {
        guard let (place, bytes) = message(from: dropped.first) else {
            // No message is left, whatever the totals say.
            dropped.bytes = Int(valueBytes)
            dropped.count = entryCount
            dropped.first = .none
            return
        }
        dropped.count += 1
        dropped.bytes += bytes
        dropped.first = message(from: next(behind: place))?.place ?? .none
    }

    /// The first message at or behind a place, before the head, with its size; what is damaged is passed over.
    private func message(from place: Location) -> (place: Location, bytes: Int)? {
        var place = place
        while place != .none, place < head {
            guard let pin = log.pin(place.segment) else { return nil }
            defer { log.unpin(pin) }
            var offset = place.offset
            while Location(segment: place.segment, offset: offset) < head {
                if let frame = log.frame(pin, at: offset), frame.kind != nil {
                    if frame.kind == .message {
                        return (Location(segment: place.segment, offset: offset), frame.valueBytes)
                    }
                    offset += frame.bytes
                } else if let next = log.nextValidFrame(pin, after: offset) {
                    offset = next
                } else {
                    break
                }
            }
            guard place.segment < head.segment else { return nil }
            place = Location(
                segment: log.nextSegment(after: place.segment, upTo: head.segment),
                offset: SegmentHeader.bytes)
        }
        return nil
    }

    private func next(behind place: Location) -> Location {
        withFrame(at: place) { place.advanced(by: $0.bytes) } ?? .none
    }

    /// What a frame of the log says of a ring: this message was appended, and the oldest that stayed was at
    /// `oldest`. Needs the lock or an index that nobody else has yet.
    func replayMessage(_ frame: Frame, at location: Location) {
        let oldest = Location(raw: UInt64(bitPattern: frame.created))
        var dropped = Dropped(first: firstMessage)
        while dropped.first != .none, dropped.first < (oldest == .none ? location : oldest) {
            guard let (place, bytes) = message(from: dropped.first), place < location else { break }
            guard place < (oldest == .none ? location : oldest) else { break }
            dropped.count += 1
            dropped.bytes += bytes
            dropped.first = next(behind: place)
        }
        adjust(IndexLayout.valueBytesOffset, by: frame.valueBytes - dropped.bytes)
        adjust(IndexLayout.entryCountOffset, by: 1 - dropped.count)
        let first = message(from: dropped.first)?.place ?? .none
        firstMessage = first == .none || oldest == .none ? location : first
    }

    /// After a limit was lowered: the oldest messages go.
    func dropMessages(downTo limit: UInt64) {
        var dropped = Dropped(first: firstMessage)
        while valueBytes - UInt64(dropped.bytes) > limit { dropOldest(&dropped) }
        guard dropped.count > 0 else { return }
        adjust(IndexLayout.valueBytesOffset, by: -dropped.bytes)
        adjust(IndexLayout.entryCountOffset, by: -dropped.count)
        firstMessage = dropped.first
        index.add(.evictions, UInt64(dropped.count))
        if firstMessage.segment > oldestSegment { dropSegments(before: firstMessage.segment) }
    }

    // MARK: Reading, without the lock

    /// Messages from a cursor on, at most `most`.
    func messages(from cursor: MessageCursor?, most: Int) -> MessageBatch {
        let end = head
        var place = cursor.map { Location(raw: $0.place) } ?? firstMessage
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
            guard place != .none, place < end else { break }
            guard let (found, _) = message(from: place), let pin = log.pin(found.segment) else {
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

    /// Where the last `count` messages begin. Reads the headers of as many segments as they fill.
    func cursor(beforeLast count: Int) -> MessageCursor {
        let first = firstMessage
        let end = head
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
