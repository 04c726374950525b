import CPlatform

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
    /// Length of the whole key in bytes; 0 if the event has no key.
    var keyBytes: UInt16
    /// The first 24 bytes of the key.
    var key: [UInt8]

    /// ``key`` without an incomplete character at its end, whose other bytes were cut off.
    var wholeCharacters: ArraySlice<UInt8> {
        // A scalar has at most three bytes after its first one, each 10xxxxxx.
        for back in 1...4 where back <= key.count {
            let byte = key[key.count - back]
            guard byte & 0xc0 != 0x80 else { continue }
            let length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
            return length > back ? key.dropLast(back) : key[...]
        }
        return key[...]
    }
}

/// The ring of recent events (S13): OnDiskFormat, "The event ring". A view of the mapped index, without a lock. Invariants: ``head``
/// only grows, by one atomic addition for each claim. Only the claimer of a number fills its cell, and stores the number last; a
/// reader trusts a cell only if the number is the same before and after. A number's cell is the number modulo the count of cells.
struct EventRing {
    private let index: UnsafeMutableRawPointer
    private let memory: IndexBytes

    @inline(__always) fileprivate init(_ memory: IndexBytes) {
        (self.memory, index) = (memory, memory.base)
    }

    @inline(__always) private func cell(_ sequence: UInt64) -> UnsafeMutableRawPointer {
        index + IndexLayout.eventRingOffset
            + Int(sequence & UInt64(IndexLayout.events - 1)) * IndexLayout.eventBytes
    }

    /// Number of the next event; numbers begin with 0. Writers of events increase it atomically.
    @inline(__always) var head: UInt64 { cp_load64(index + IndexLayout.eventHeadOffset) }

    @inline(__always) func prefetch(_ count: UInt64) {
        let head = cp_relaxed64(index + IndexLayout.eventHeadOffset)
        for ahead in 0..<count { cp_prefetch_write(cell(head &+ ahead)) }
    }

    /// Claims `count` event numbers and returns the first. Called once per change, before it: the addition waits for stores.
    @inline(__always)
    func claim(_ count: Int) -> UInt64 { cp_add64(index + IndexLayout.eventHeadOffset, UInt64(count)) }

    /// Fills the cell of a claimed number, and wakes followers. With an empty `key`, readers use that of the frame at `location`.
    @inline(__always) func publish(
        _ sequence: UInt64, _ kind: EventKind, _ cause: EventCause, tag: UInt32, bytes: Int,
        location: Location, pid: Int32, time: Int64, key: UnsafeRawBufferPointer = .empty
    ) {
        let cell = cell(sequence)
        cp_relaxed_store64(cell, 0)
        cp_store_fence()
        cp_relaxed_store64(cell + 8, UInt64(bitPattern: time))
        cp_relaxed_store64(cell + 16, location.raw)
        cp_relaxed_store64(cell + 24, UInt64(tag) | UInt64(UInt32(truncatingIfNeeded: bytes)) << 32)
        let marks =
            UInt64(kind.rawValue) | UInt64(cause.rawValue) << 8
            | UInt64(UInt16(truncatingIfNeeded: key.count)) << 16
        cp_relaxed_store64(cell + 32, UInt64(UInt32(bitPattern: pid)) | marks << 32)
        if !key.isEmpty {
            cp_relaxed_store64(cell + 40, key.word(0))
            cp_relaxed_store64(cell + 48, key.word(1))
            cp_relaxed_store64(cell + 56, key.word(2))
        }
        cp_store64(cell, sequence &+ 1)
        let isAwaited = cp_relaxed32(index + IndexLayout.eventWaitersOffset) & 1 != 0
        if isAwaited { callWaiters(memory.memory.doorbell) }
    }

    enum Cell {
        case event(RawEvent)
        /// The event isn't published yet, or never will be because its writer died.
        case pending
        case overwritten
    }

    func event(_ sequence: UInt64) -> Cell {
        let cell = cell(sequence)
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

    /// Declares a waiter: events claimed from now on ring the store's doorbell when they are published.
    func markAsAwaited() {
        let word = index + IndexLayout.eventWaitersOffset
        while true {
            // Each waiter sets a separate mark, so that a writer that serves an earlier waiter doesn't clear it.
            let old = cp_load32(word)
            if cp_cas32(word, old, (old &+ 2) | 1) { return }
        }
    }

    /// Rings, then clears the mark. A crash in between only causes one extra wake-up.
    @inline(never) func callWaiters(_ doorbell: Doorbell?) {
        let word = index + IndexLayout.eventWaitersOffset
        let mark = cp_load32(word)
        guard mark & 1 != 0, doorbell?.ring() == true else { return }
        _ = cp_cas32(word, mark, mark & ~1)
    }
}

extension MappedIndex {
    @inline(__always) var events: EventRing { EventRing(memory) }
}
