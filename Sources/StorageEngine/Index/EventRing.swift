import CPlatform

/// The ring of recent events. A writer claims the next number with one atomic addition, so that events need no
/// lock, fills the cell and publishes it by its number; a reader believes a cell only if that number is the
/// same before and after. Layout: OnDiskFormat, "The event ring".
struct RawEvent {
    static let noted = 24

    var sequence: UInt64
    var time: Int64
    var location: Location
    var tag: UInt32
    var bytes: UInt32
    var pid: UInt32
    var kind: UInt8
    var cause: UInt8
    /// The key's whole length; 0: not noted.
    var keyBytes: UInt16
    /// Its first 24 bytes.
    var key: [UInt8]
}

extension IndexMemory {
    @inline(__always)
    private func eventCell(_ sequence: UInt64) -> UnsafeMutableRawPointer {
        base + IndexLayout.eventRingOffset
            + Int(sequence & UInt64(IndexLayout.events - 1)) * IndexLayout.eventBytes
    }

    /// Number of the event that comes next; numbers begin with 0.
    @inline(__always) var eventHead: UInt64 { word64(IndexLayout.eventHeadOffset) }

    /// Lets the lines come that the next `count` events will fill.
    @inline(__always)
    func prefetchEvents(_ count: UInt64) {
        let head = cp_relaxed64(base + IndexLayout.eventHeadOffset)
        for ahead in 0..<count { cp_prefetch_write(eventCell(head &+ ahead)) }
    }

    /// Claims the numbers of the next `count` events and returns the first. Each must be published: followers wait for it
    /// as long as for one whose writer may have died. One claim for all that a change tells, before it changes anything:
    /// an atomic addition waits until all earlier stores have arrived.
    @inline(__always)
    func claimEvents(_ count: Int) -> UInt64 { cp_add64(base + IndexLayout.eventHeadOffset, UInt64(count)) }

    /// Notes an event; needs no lock. `key` may be empty where it is not at hand: readers then take it from
    /// the frame at `location`.
    @inline(__always)
    func note(
        _ kind: EventKind, _ cause: EventCause, tag: UInt32, bytes: Int, location: Location, pid: Int32,
        time: Int64, key: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        publishEvent(
            claimEvents(1), kind, cause, tag: tag, bytes: bytes, location: location, pid: pid, time: time,
            key: key)
    }

    /// Fills the cell of a claimed number.
    @inline(__always)
    func publishEvent(
        _ sequence: UInt64, _ kind: EventKind, _ cause: EventCause, tag: UInt32, bytes: Int,
        location: Location, pid: Int32, time: Int64,
        key: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        let cell = eventCell(sequence)
        cp_relaxed_store64(cell, 0)
        cp_store_fence()
        cp_relaxed_store64(cell + 8, UInt64(bitPattern: time))
        cp_relaxed_store64(cell + 16, location.raw)
        cp_relaxed_store64(cell + 24, UInt64(tag) | UInt64(UInt32(truncatingIfNeeded: bytes)) << 32)
        let marks =
            UInt64(kind.rawValue) | UInt64(cause.rawValue) << 8 | UInt64(
                UInt16(truncatingIfNeeded: key.count)) << 16
        cp_relaxed_store64(cell + 32, UInt64(UInt32(bitPattern: pid)) | marks << 32)
        if !key.isEmpty {
            cp_relaxed_store64(cell + 40, key.word(0))
            cp_relaxed_store64(cell + 48, key.word(1))
            cp_relaxed_store64(cell + 56, key.word(2))
        }
        cp_store64(cell, sequence &+ 1)
        if cp_relaxed32(base + IndexLayout.eventWaitersOffset) != 0 { wakeFollowers() }
    }

    @inline(never)
    private func wakeFollowers() {
        let waiters = base + IndexLayout.eventWaitersOffset
        cp_store32(waiters, 0)
        cp_wake_word(waiters)
    }

    enum EventCell {
        case event(RawEvent)
        /// Not published yet, or never: its writer may have died.
        case pending
        case overwritten
    }

    func event(_ sequence: UInt64) -> EventCell {
        let cell = eventCell(sequence)
        let before = cp_load64(cell)
        if before > sequence &+ 1 { return .overwritten }
        guard before == sequence &+ 1 else { return .pending }
        let time = Int64(bitPattern: cp_relaxed64(cell + 8))
        let location = Location(raw: cp_relaxed64(cell + 16))
        let sizes = cp_relaxed64(cell + 24)
        let marks = cp_relaxed64(cell + 32)
        let keyBytes = UInt16(truncatingIfNeeded: marks >> 48)
        let words = (cp_relaxed64(cell + 40), cp_relaxed64(cell + 48), cp_relaxed64(cell + 56))
        let key = withUnsafeBytes(of: words) { Array($0.prefix(Int(keyBytes))) }
        cp_load_fence()
        guard cp_load64(cell) == before else { return .overwritten }
        return .event(
            RawEvent(
                sequence: sequence, time: time, location: location, tag: UInt32(truncatingIfNeeded: sizes),
                bytes: UInt32(truncatingIfNeeded: sizes >> 32), pid: UInt32(truncatingIfNeeded: marks),
                kind: UInt8(truncatingIfNeeded: marks >> 32), cause: UInt8(truncatingIfNeeded: marks >> 40),
                keyBytes: keyBytes, key: key))
    }

    /// Waits until an event comes after `head`, or the time is over. A follower that may write says that it
    /// waits, and is woken; one that may not looks again as often as a person could notice.
    func waitForEvent(after head: UInt64, nanoseconds: Int64, mayWrite: Bool) {
        var left = nanoseconds
        while eventHead == head, left > 0 {
            let step = min(left, mayWrite ? 100_000_000 : 50_000_000)
            if mayWrite {
                let waiters = base + IndexLayout.eventWaitersOffset
                cp_store32(waiters, 1)
                guard eventHead == head else { return }
                // A writer that missed the mark costs this wait's length and no more.
                cp_wait_word(waiters, 1, step)
                // More may follow at once: so a writer wakes a follower some hundred times a second at most.
                if eventHead != head { cp_sleep(2_000_000) }
            } else {
                cp_sleep(step)
            }
            left -= step
        }
    }
}
