import CPlatform

/// Reads the event ring. Requires no lock and writes nothing.
struct EventReader: ArchiveOperation {
    let engine: ArchiveEngine

    var nextEvent: UInt64 { index.events.head &+ engine.eventBase.load(ordering: .relaxed) }

    func events(from first: UInt64?) -> EventBatch {
        let base = engine.eventBase.load(ordering: .relaxed)
        // Numbers before the base belong to events that only a former index had.
        var batch = ringEvents(from: first.map { $0 - min($0, base) })
        if let first, first < base { batch.lost &+= base - first }
        guard base > 0 else { return batch }
        // In a damaged index, the number is arbitrary.
        batch.next &+= base
        for place in batch.events.indices { batch.events[place].sequence &+= base }
        return batch
    }

    private func ringEvents(from first: UInt64?) -> EventBatch {
        let head = index.events.head
        let oldest = head - min(head, UInt64(IndexLayout.events))
        // A number beyond the ring's end comes from an index that has been replaced since.
        let wanted = first.map { $0 > head ? oldest : $0 } ?? oldest
        var sequence = max(wanted, oldest)
        var lost = first == nil ? 0 : sequence - wanted
        var events: [ArchiveEvent] = []
        events.reserveCapacity(Int(head - sequence))
        while sequence < head {
            switch index.events.event(sequence) {
            case .event(let raw): events.append(describe(raw))
            case .overwritten: if first != nil { lost += 1 }
            case .pending:
                guard isAbandoned(sequence, head: head) else {
                    return EventBatch(events: events, lost: lost, next: sequence)
                }
                lost += 1
            }
            sequence += 1
        }
        return EventBatch(events: events, lost: lost, next: sequence)
    }

    /// Adds missing keys from other events of the same entries.
    func nameEvents(_ events: inout [ArchiveEvent]) {
        let unnamed = Set(events.filter { $0.key == nil && $0.keyHash != 0 }.map(\.keyHash))
        guard !unnamed.isEmpty else { return }
        var named: [UInt32: ArchiveEvent] = [:]
        let head = index.events.head
        for sequence in (head - min(head, UInt64(IndexLayout.events)))..<head {
            guard case .event(let raw) = index.events.event(sequence), raw.keyBytes > 0,
                unnamed.contains(raw.tag)
            else { continue }
            named[raw.tag] = describe(raw)
        }
        for place in events.indices where events[place].key == nil {
            guard let event = named[events[place].keyHash] else { continue }
            (events[place].key, events[place].keyIsComplete) = (event.key, event.keyIsComplete)
        }
    }

    /// Whether this event will never be published, because its writer was killed or stopped. A writer that claimed many numbers
    /// may still be working. The wait ends before the numbers are overwritten.
    private func isAbandoned(_ sequence: UInt64, head: UInt64) -> Bool {
        guard head - sequence < UInt64(IndexLayout.events / 2) else { return true }
        for later in sequence..<head {
            if case .event(let event) = index.events.event(later) {
                return Clock.wall().subtractingSaturating(event.time) > 200_000
            }
        }
        return false
    }

    func waitForEvents(from first: UInt64, atMost wait: Duration) -> EventBatch {
        let product = wait.clampedMicroseconds.multipliedReportingOverflow(by: 1000)
        let nanoseconds = product.overflow ? Int64.max : product.partialValue
        let start = cp_monotonic_time()
        let bell = engine.processSlot == nil ? nil : try? index.storage.doorbell?.bell()
        while true {
            let count = bell?.count ?? 0
            if bell != nil { index.events.markAsAwaited() }
            let head = nextEvent
            let batch = events(from: first)
            let left = nanoseconds - (cp_monotonic_time() - start)
            guard batch.events.isEmpty, batch.lost == 0, left > 0 else { return batch }
            if head != first {
                // An event number was claimed, but the event isn't published yet.
                cp_sleep(min(left, 2_000_000))
            } else if let bell {
                bell.wait(since: count, atMost: min(left, 1_000_000_000))
                // More events may follow soon. The pause limits a follower to some hundred wake-ups a second.
                if nextEvent != first { cp_sleep(2_000_000) }
            } else {
                cp_sleep(min(left, 50_000_000))
            }
        }
    }

    private func describe(_ raw: RawEvent) -> ArchiveEvent {
        var key: String?
        var isComplete = true
        if raw.keyBytes > 0, Int(raw.keyBytes) <= RawEvent.noted {
            key = String(decoding: raw.key, as: UTF8.self)
        } else if raw.location != .none, let known = self.key(at: raw.location, tag: raw.tag) {
            key = known
        } else if raw.keyBytes > 0 {
            key = String(decoding: raw.wholeCharacters, as: UTF8.self)
            isComplete = false
        }
        return ArchiveEvent(
            sequence: raw.sequence, time: Timestamp(microseconds: raw.time),
            kind: EventKind(rawValue: raw.kind) ?? .record, cause: EventCause(rawValue: raw.cause) ?? .none,
            key: key, keyIsComplete: isComplete, bytes: Int(raw.bytes), pid: Int32(bitPattern: raw.pid),
            keyHash: raw.tag)
    }

    private func key(at location: Location, tag: UInt32) -> String? {
        let found: String?? = engine.withFrame(at: location) { frame in
            guard frame.keyBytes > 0, engine.hash.tag(frame.key) == tag else { return nil }
            return String(decoding: frame.key, as: UTF8.self)
        }
        return found ?? nil
    }

    func history(of key: UnsafeRawBufferPointer) -> KeyHistory {
        let tag = engine.hash.tag(key)
        let name = String(decoding: key, as: UTF8.self)
        let head = index.events.head
        let oldest = head - min(head, UInt64(IndexLayout.events))
        var events: [ArchiveEvent] = []
        var earliest: Int64?
        for sequence in oldest..<head {
            guard case .event(let raw) = index.events.event(sequence) else { continue }
            if earliest == nil { earliest = raw.time }
            let isOfAll = raw.tag == 0 && raw.kind == EventKind.delete.rawValue
            guard raw.tag == tag || isOfAll else { continue }
            var event = describe(raw)
            // Two keys may share 32 bits of hash.
            if !isOfAll, event.keyIsComplete, let known = event.key, known != name { continue }
            if event.kind.setsExpiry, raw.location != .none {
                let deadline = try? engine.withFrame(at: raw.location, tag: tag) { $0.deadline(.deadline) }
                event.expires = deadline.flatMap(Deadline.date)
            }
            events.append(event)
        }
        return KeyHistory(
            events: events, reachesBackTo: earliest.map { Timestamp(microseconds: $0) }, isCutOff: oldest > 0)
    }
}
