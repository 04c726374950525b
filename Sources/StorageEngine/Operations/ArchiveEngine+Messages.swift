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
        /// Whether the totals may count messages that can't be read any more, or aren't there.
        var isDoubtful = false
    }

    /// A message that can be read.
    private struct Found {
        var place: Location
        var frameBytes: Int
        var bytes: Int
        /// Whether something between the place that was asked for and this one is no frame.
        var isBehindDamage: Bool
        var end: Location { place.advanced(by: frameBytes) }
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
        // More than the limit when nothing was appended yet: a total that dropping must not go by.
        if valueBytes > limit { try recountMessages() }
        let dropped = try oldestMessages { Int(valueBytes) - $0.bytes + message.count > Int(limit) }
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

    /// The oldest messages, as long as `mustGoOn` says of those before that more must go. Where damage is met, or others
    /// are there than the totals say, these are made anew first: by such totals the ring would drop what it has room for.
    private func oldestMessages(while mustGoOn: (Dropped) -> Bool) throws(StorageError) -> Dropped {
        var isRecounted = false
        while true {
            var dropped = Dropped(first: firstMessage)
            while mustGoOn(dropped), isRecounted || !dropped.isDoubtful, try dropOldest(&dropped) {}
            guard dropped.isDoubtful, !isRecounted else { return dropped }
            try recountMessages()
            isRecounted = true
        }
    }

    /// Leaves the oldest message out of account; `false` when there was none.
    private func dropOldest(_ dropped: inout Dropped) throws(StorageError) -> Bool {
        guard let oldest = try message(from: dropped.first, before: head) else {
            dropped.first = .none
            dropped.isDoubtful = true
            return false
        }
        dropped.count += 1
        dropped.bytes += oldest.bytes
        let next = try message(from: oldest.end, before: head)
        dropped.first = next?.place ?? .none
        let totals = (count: entryCount, bytes: Int(valueBytes))
        let addsUp =
            next == nil
            ? (dropped.count, dropped.bytes) == totals
            : dropped.count < totals.count && dropped.bytes <= totals.bytes
        if !addsUp || oldest.isBehindDamage || next?.isBehindDamage == true { dropped.isDoubtful = true }
        return true
    }

    /// The first message that begins at or behind a place, and before another; what is damaged is passed over. That a
    /// segment can't be read just now is an error, and never that it holds none. What is there before `settled` (the head)
    /// doesn't change any more; a frame may reach over `end`, and what its value looks like is none.
    private func message(
        from place: Location, before end: Location, settled: Location? = nil
    ) throws(StorageError) -> Found? {
        var isDamaged = false
        return try message(from: place, before: end, settled: settled ?? head, &isDamaged)
    }

    /// `isDamaged` becomes true where something before the message, or before `end` if there is none, is no frame.
    private func message(
        from place: Location, before end: Location, settled: Location, _ isDamaged: inout Bool
    ) throws(StorageError) -> Found? {
        var place = place
        while place != .none, place < end {
            if let found = try message(
                in: place.segment, from: place.offset, before: end, settled, &isDamaged)
            {
                return found
            }
            guard place.segment < end.segment else { return nil }
            let next = try log.nextSegment(after: place.segment, upTo: end.segment)
            place = Location(segment: next, offset: SegmentHeader.bytes)
        }
        return nil
    }

    private func message(
        in segment: UInt32, from start: Int, before end: Location, _ settled: Location,
        _ isDamaged: inout Bool
    ) throws(StorageError) -> Found? {
        guard let pin = try log.pinIfPresent(segment) else {
            isDamaged = true
            return nil
        }
        defer { log.unpin(pin) }
        var offset = start
        // What is there before the head doesn't change any more; but another process may have made the file longer
        // since this one asked for its size.
        var isSizeKnown = segment == settled.segment
        var limit = isSizeKnown ? settled.offset : log.view(pin).bytes
        while Location(segment: segment, offset: offset) < end {
            // Only whole ones count, as for whoever reads them.
            if let frame = try log.validFrame(pin, at: offset, before: limit) {
                if frame.kind == .message {
                    return Found(
                        place: Location(segment: segment, offset: offset), frameBytes: frame.bytes,
                        bytes: frame.valueBytes, isBehindDamage: isDamaged)
                }
                offset += frame.bytes
            } else if !isSizeKnown {
                try log.learnSize(pin)
                limit = log.view(pin).bytes
                isSizeKnown = true
            } else if segment < end.segment, log.isBlank(pin, from: offset) {
                return nil
            } else {
                isDamaged = true
                guard let next = try log.nextValidFrame(pin, after: offset, before: limit) else { return nil }
                offset = next
            }
        }
        return nil
    }

    /// What a frame of the log says of a ring: this message was appended, and the oldest that stayed was at
    /// `oldest`. Needs the lock or an index that nobody else has yet.
    func replayMessage(_ frame: Frame, at location: Location) throws(StorageError) {
        let said = Location(raw: UInt64(bitPattern: frame.created))
        let oldest = said == .none ? location : min(said, location)
        var dropped = Dropped(first: firstMessage)
        while let found = try message(from: dropped.first, before: oldest, settled: location) {
            dropped.count += 1
            dropped.bytes += found.bytes
            dropped.first = found.end
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
        forget(try oldestMessages { Int(valueBytes) - $0.bytes > Int(clamping: limit) })
        if firstMessage.segment > oldestSegment { dropSegments(before: firstMessage.segment) }
    }

    /// For want of room: the messages before a place go; their segments are the caller's.
    func dropMessages(before place: Location) throws(StorageError) {
        forget(try oldestMessages { $0.first != .none && $0.first < place })
    }

    private func forget(_ dropped: Dropped) {
        guard dropped.first != firstMessage else { return }
        adjust(IndexLayout.valueBytesOffset, by: -dropped.bytes)
        adjust(IndexLayout.entryCountOffset, by: -dropped.count)
        crashPoint(.messagesShortened)
        firstMessage = dropped.first
        index.addLocked(.evictions, UInt64(dropped.count))
    }

    /// Whether the totals are those of the messages that are there.
    func messagesAddUp() throws(StorageError) -> Bool {
        let (count, bytes) = try countMessages()
        return count == entryCount && bytes == Int(valueBytes)
    }

    /// Makes the totals anew: whoever died while appending may have counted its message, and what went for it, or not;
    /// and what was damaged since it was counted takes no room. Costs reading all messages.
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
            place = found.end
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
        var isDamaged = false
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
            var hasDamage = false
            guard let found = try message(from: place, before: end, settled: head, &hasDamage),
                let pin = try log.pinIfPresent(found.place.segment)
            else {
                // Dropped while it was looked for, or nothing is left that can be read.
                if firstMessage > place { continue }
                isDamaged = isDamaged || hasDamage
                break
            }
            defer { log.unpin(pin) }
            guard let frame = log.validFrame(pin, at: found.place.offset) else {
                place = found.place.advanced(by: 8)
                continue
            }
            // Damaged, or dropped while it was looked for.
            if found.isBehindDamage { isPassed = true }
            if isPassed, expected.map({ frame.sequence > $0 }) ?? true {
                isLost = true
                isDamaged = isDamaged || found.isBehindDamage
            }
            isPassed = false
            expected = frame.sequence &+ 1
            messages.append(
                LogMessage(
                    sequence: frame.sequence, time: Timestamp(microseconds: frame.time),
                    bytes: Array(frame.value)))
            place = found.end
        }
        if messages.count < most { place = max(place, end) }
        return MessageBatch(
            messages: messages, next: MessageCursor(place: place.raw, expected: expected),
            someAreLost: isLost || isDamaged, someAreDamaged: isDamaged)
    }

    /// Where the last `count` messages begin, of all or of those before another place; what is damaged is passed over.
    /// Reads the headers of as many segments as they fill.
    func cursor(
        beforeLast count: Int, of last: MessageCursor? = nil
    ) throws(StorageError) -> MessageCursor {
        let first = firstMessage
        let head = head
        let end = last.map { min(Location(raw: $0.place), head) } ?? head
        guard first != .none, count > 0 else {
            return MessageCursor(place: end.raw, expected: index.word64(IndexLayout.sequenceOffset) &+ 1)
        }
        var needed = count
        var segment = end.segment
        while true {
            let places = try messagePlaces(
                in: segment, from: segment == first.segment ? first.offset : SegmentHeader.bytes, before: end)
            if places.count >= needed { return MessageCursor(place: places[places.count - needed].raw) }
            needed -= places.count
            guard segment > first.segment, let before = try log.segment(before: segment, from: first.segment)
            else {
                return MessageCursor(place: first.raw)
            }
            segment = before
        }
    }

    /// Where the messages of a segment are, from `start` on. Goes by the frames' headers; where these lead astray, by
    /// whole frames, as those who read the messages do.
    private func messagePlaces(
        in segment: UInt32, from start: Int, before end: Location
    ) throws(StorageError) -> [Location] {
        guard let pin = try log.pinIfPresent(segment) else { return [] }
        defer { log.unpin(pin) }
        var places: [Location] = []
        var offset = start
        while Location(segment: segment, offset: offset) < end, let frame = log.frame(pin, at: offset),
            let kind = frame.kind
        {
            if kind == .message { places.append(Location(segment: segment, offset: offset)) }
            offset += frame.bytes
        }
        if segment == end.segment ? offset == end.offset : log.isBlank(pin, from: offset) { return places }
        places = []
        offset = start
        var isDamaged = false
        while let found = try message(in: segment, from: offset, before: end, head, &isDamaged) {
            places.append(found.place)
            offset = found.end.offset
        }
        return places
    }
}
