struct FoundMessage {
    var place: Location
    var frameBytes: Int
    var bytes: Int
    var sequence: UInt64
    var isBehindDamage: Bool
    var end: Location { place.advanced(by: frameBytes) }
}

/// Reads the messages of a log without its lock.
struct MessageReader: ArchiveOperation {
    let engine: ArchiveEngine

    /// The first undamaged message from `place` to `end`. Throws if a segment can't be read now. Bytes before `settled` (the log
    /// tail) no longer change. A frame may extend beyond `end`, and bytes inside its value aren't frames.
    func message(
        from place: Location, before end: Location, settled: Location? = nil
    ) throws(StorageError) -> FoundMessage? {
        var isDamaged = false
        return try message(from: place, before: end, settled: settled ?? index.head, &isDamaged)
    }

    /// Sets `isDamaged` if there is damage before the message or, without a message, before `end`.
    private func message(
        from place: Location, before end: Location, settled: Location, _ isDamaged: inout Bool
    ) throws(StorageError) -> FoundMessage? {
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
    ) throws(StorageError) -> FoundMessage? {
        guard let pin = try log.pinIfPresent(segment) else {
            isDamaged = true
            return nil
        }
        defer { log.unpin(pin) }
        var offset = start
        // The bytes before the log tail no longer change, but another process may have extended the file since.
        var isSizeKnown = segment == settled.segment
        var limit = isSizeKnown ? settled.offset : log.view(pin).bytes
        while Location(segment: segment, offset: offset) < end {
            // Skips frames with a wrong checksum here, too.
            if let frame = try log.validFrame(pin, at: offset, before: limit) {
                if frame.kind == .message {
                    return FoundMessage(
                        place: Location(segment: segment, offset: offset), frameBytes: frame.bytes,
                        bytes: frame.valueBytes, sequence: frame.sequence, isBehindDamage: isDamaged)
                }
                offset += frame.bytes
            } else if !isSizeKnown {
                try log.updateSize(pin)
                limit = log.view(pin).bytes
                isSizeKnown = true
            } else if segment < end.segment, log.view(pin).isBlank(from: offset) {
                return nil
            } else {
                isDamaged = true
                guard let next = try log.nextValidFrame(pin, after: offset, before: limit) else { return nil }
                offset = next
            }
        }
        return nil
    }

    /// The number of messages from `start` (by default the oldest) to `end`, and where the last of them ends.
    func countMessages(
        from start: Location? = nil, before end: Location, settled: Location? = nil
    ) throws(StorageError) -> (count: Int, bytes: Int, next: Location) {
        var (count, bytes, next) = (0, 0, start ?? index.firstMessage)
        while let found = try message(from: next, before: end, settled: settled) {
            (count, bytes, next) = (count + 1, bytes + found.bytes, found.end)
        }
        return (count, bytes, next)
    }

    /// At most `most` messages from `cursor` up to `last`; ends with the message that reaches `mostBytes`.
    func messages(
        from cursor: MessageCursor?, before last: MessageCursor? = nil, most: Int, mostBytes: Int = .max
    ) throws(StorageError) -> MessageBatch {
        // Read before the log tail, so that messages appended during the call aren't missed.
        let settled = index.settledSequence
        let head = index.head
        let end = last.map { $0.log == ownCursorMark ? min(Location(raw: $0.place), head) : .none } ?? head
        let isOfAnother = cursor.map { $0.log != ownCursorMark } ?? false
        let start = cursor.map { isOfAnother ? .none : Location(raw: $0.place) } ?? index.firstMessage
        var beginning = isOfAnother ? index.firstMessage : start
        var place = beginning
        var expected = isOfAnother ? nil : cursor?.expected
        // The ring has moved past the requested location. The next message's sequence shows whether a message was dropped there.
        var isPassed = false
        var isLost = isOfAnother || last.map { $0.log != ownCursorMark } ?? false
        var isDamaged = false
        // Whether the messages before the cursor may have been dropped and replaced. Set at most once for each index, so that the
        // loop always ends.
        var isDoubted = !isOfAnother && place != .none && cursor.map { $0.salt != index.salt } ?? false
        if isDoubted, let number = expected, place > head || place == head && settled >= number {
            isDoubted = false
            if let first = try message(from: number, before: head) {
                (place, isDamaged) = (first.place, true)
            } else {
                (place, expected, isDamaged) = (head, settled &+ 1, place > head)
            }
            beginning = place
        }
        var messages: [LogMessage] = []
        var bytes = 0
        while messages.count < most, bytes < mostBytes {
            let first = oldestMessage
            if place < first {
                // A cursor from before the first write has no location, but has the expected sequence.
                if place != .none || expected != nil {
                    isPassed = true
                    expected = expected.map { number(from: $0, ofMessagesAt: place, upTo: first) }
                }
                place = first
            }
            guard place != .none, place < end else {
                if isPassed { isLost = isLost || (last == nil ? (expected ?? 0) <= settled : start < end) }
                break
            }
            var hasDamage = false
            let found: FoundMessage?
            do throws(StorageError) {
                found = try message(from: place, before: end, settled: head, &hasDamage)
            } catch {
                // The segment was removed because its messages were dropped.
                guard error.isMissing, oldestMessage > place else { throw error }
                continue
            }
            // Messages were dropped during the search: missing bytes aren't damage, and messages before this one may be missing.
            if oldestMessage > place { continue }
            guard let found, let pin = try log.pinIfPresent(found.place.segment) else {
                if oldestMessage > place { continue }
                isDamaged = isDamaged || hasDamage
                break
            }
            var lacksSegment = false
            let isFar = found.place.segment > place.segment &+ 1
            if let number = expected, !isPassed, messages.isEmpty || isFar {
                // The messages in between never existed, were dropped before the cursor's index was built, or are lost. A cursor may
                // also point to the first message after all those that were appended and dropped since.
                expected = self.number(from: number, ofMessagesAt: place, upTo: found.place)
                if place != .none, isFar {
                    let between = place.segment...found.place.segment
                    let numbers = try log.segmentNumbers().filter { between.contains($0) }
                    // A missing segment is lost unless its messages were dropped: then the oldest message is already a later one.
                    lacksSegment = try !log.missing(among: numbers).isEmpty && oldestMessage <= place
                }
                // A repair has filled a gap in which no segment is missing, and reported the loss.
                isPassed = !isFar || lacksSegment || (messages.isEmpty && cursor?.salt != index.salt)
            }
            defer { log.unpin(pin) }
            guard let frame = log.validFrame(pin, at: found.place.offset) else {
                place = found.place.advanced(by: 8)
                continue
            }
            if isDoubted, !isPassed, let number = expected, frame.sequence > number,
                let first = try message(from: number, before: place)
            {
                (beginning, place, isDamaged, isDoubted) = (first.place, first.place, true, false)
                continue
            }
            isDoubted = false
            // The gap is damaged, or its messages were dropped during the search.
            if found.isBehindDamage { isPassed = true }
            if isPassed, expected.map({ frame.sequence > $0 }) ?? true {
                isLost = true
                isDamaged = isDamaged || found.isBehindDamage || lacksSegment
            }
            isPassed = false
            expected = frame.sequence &+ 1
            messages.append(
                LogMessage(
                    sequence: frame.sequence, time: Timestamp(microseconds: frame.time),
                    bytes: Array(frame.value)))
            bytes += frame.valueBytes
            place = found.end
        }
        if messages.count < most, bytes < mostBytes {
            // Stops before messages that follow an unreported drop.
            let reached = place
            place = max(beginning, end)
            if isPassed || expected == nil, last == nil {
                // The drop up to this location has been reported.
                expected = max(expected ?? 0, settled &+ 1)
            } else {
                // Frames other than messages have sequences too.
                expected = expected.map { number(from: $0, ofMessagesAt: reached, upTo: place) }
            }
        }
        return MessageBatch(
            messages: messages, next: self.cursor(at: place, expecting: expected),
            someAreLost: isLost || isDamaged, someAreDamaged: isDamaged)
    }

    private func message(from number: UInt64, before end: Location) throws(StorageError) -> FoundMessage? {
        var place = oldestMessage
        while let found = try message(from: place, before: end) {
            if found.sequence >= number { return found }
            place = found.end
        }
        return nil
    }

    private var oldestMessage: Location {
        while true {
            let first = index.firstMessage
            guard first == .none else { return first }
            // This range has all messages, unless another process appended the first one since.
            let head = index.head
            if index.firstMessage == .none { return head }
        }
    }

    /// The sequence that the next message has if none was dropped. Frames that emptied or shortened the ring also have sequences.
    /// `expected`: the sequence of the first frame at or after `place`.
    private func number(from expected: UInt64, ofMessagesAt place: Location, upTo first: Location) -> UInt64 {
        var expected = expected
        var place = place
        while place < first {
            if place != .none, let pin = log.pin(place.segment) {
                defer { log.unpin(pin) }
                _ = try? log.updateSize(pin)
                var offset = place.offset
                let end = place.segment == first.segment ? first.offset : Int.max
                while offset < end, let frame = log.validFrame(pin, at: offset) {
                    guard frame.sequence < expected || frame.sequence == expected && frame.kind != .message
                    else {
                        return expected
                    }
                    if frame.sequence == expected { expected &+= 1 }
                    offset += frame.bytes
                }
            }
            guard place.segment < first.segment,
                let next = try? log.nextSegment(after: place.segment, upTo: first.segment)
            else { break }
            place = Location(segment: next, offset: SegmentHeader.bytes)
        }
        return expected
    }

    private func cursor(at place: Location, expecting expected: UInt64? = nil) -> MessageCursor {
        MessageCursor(log: ownCursorMark, salt: index.salt, place: place.raw, expected: expected)
    }

    /// The cursor's location; `nil` for a cursor of another log, or of an index that was replaced since.
    func place(of cursor: MessageCursor) -> Location? {
        cursor.log == ownCursorMark && cursor.salt == index.salt ? Location(raw: cursor.place) : nil
    }

    private var ownCursorMark: UInt64 {
        log.identity.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The cursor before the last `count` undamaged messages, or those before a cursor. Reads the headers of their segments.
    func cursor(beforeLast count: Int, of last: MessageCursor? = nil) throws(StorageError) -> MessageCursor {
        try start(ofLast: count, of: last).cursor
    }

    /// See ``Archive/messages(count:behind:appended:)``.
    func messages(
        count: Int, behind: Int, appended: UInt64
    ) throws(StorageError) -> (missing: Int, found: [LogMessage]) {
        var known: Int?
        while true {
            let total = index.count(.records)
            let end = cursor(at: index.head)
            guard index.count(.records) == total else { continue }
            // The counter has restarted: other messages have these numbers.
            guard total >= appended else { return (count, []) }
            let start = try start(ofLast: behind + 1 + Int(clamping: total - appended), of: end)
            let missing = min(count, start.missing)
            let batch = try messages(from: start.cursor, before: end, most: count - missing)
            // Messages may have been dropped since the start was found.
            if !batch.someAreLost || missing == known { return (missing, batch.messages) }
            known = missing
        }
    }

    /// Also returns how many of these messages don't exist.
    private func start(
        ofLast count: Int, of last: MessageCursor?
    ) throws(StorageError) -> (cursor: MessageCursor, missing: Int) {
        while true {
            let first = index.firstMessage
            do throws(StorageError) {
                return try start(ofLast: count, of: last, from: first)
            } catch {
                guard error.isMissing, oldestMessage > first else { throw error }
            }
        }
    }

    private func start(
        ofLast count: Int, of last: MessageCursor?, from first: Location
    ) throws(StorageError) -> (cursor: MessageCursor, missing: Int) {
        let head = index.head
        let end = last.map { $0.log == ownCursorMark ? min(Location(raw: $0.place), head) : head } ?? head
        guard first != .none, count > 0 else {
            return (cursor(at: end, expecting: index.settledSequence &+ 1), max(0, count))
        }
        var needed = count
        var segment = end.segment
        while true {
            let places = try messagePlaces(
                in: segment, from: segment == first.segment ? first.offset : SegmentHeader.bytes, before: end)
            if places.count >= needed { return (cursor(at: places[places.count - needed]), 0) }
            needed -= places.count
            guard segment > first.segment, let before = try log.segment(before: segment, from: first.segment)
            else {
                return (cursor(at: first), needed)
            }
            segment = before
        }
    }

    /// Locations of a segment's messages from `start` on, by the frames' headers or, if a header is damaged, by a search.
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
        if segment == end.segment ? offset == end.offset : log.view(pin).isBlank(from: offset) {
            return places
        }
        places = []
        offset = start
        var isDamaged = false
        while let found = try message(in: segment, from: offset, before: end, index.head, &isDamaged) {
            places.append(found.place)
            offset = found.end.offset
        }
        return places
    }
}
