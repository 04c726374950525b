import CPlatform

/// One entry's slot: 64 bytes of the index (OnDiskFormat, "Entries"). A view, valid as long as the mapping. Written under the
/// lock only. Readers load each field as one atomic word: `location` is stored last in a new entry and cleared first in a removed
/// one.
struct EntrySlot<Right> {
    fileprivate let base: UnsafeMutableRawPointer

    @inline(__always) init(_ base: UnsafeMutableRawPointer) { self.base = base }

    @inline(__always) func prefetch() { cp_prefetch(base) }

    @inline(__always) var tag: UInt32 { cp_relaxed32(base) }
    @inline(__always) var chainNext: UInt32 { cp_load32(base + 4) }
    /// The frame that the slot names.
    @inline(__always) var location: Location { Location(raw: cp_load64(base + 8) & ~SlotBits.unfilled) }
    @inline(__always) func points(to location: Location) -> Bool { cp_load64(base + 8) == location.raw }
    @inline(__always) var isFilled: Bool { cp_load64(base + 8) & SlotBits.unfilled == 0 }
    /// The stamp of the last access. An access changes `recency`, `hits` and `accessed`, in that order. Reading them in this
    /// order, and the first one again, shows whether all belong to one access.
    @inline(__always) var recency: UInt64 { cp_load64(base + 16) }
    @inline(__always) var newer: UInt32 { cp_relaxed32(base + 24) }
    @inline(__always) var older: UInt32 { cp_relaxed32(base + 28) }
    /// Bytes that count against the disk limit; 0 for a memory-only entry.
    @inline(__always) var valueBytes: UInt32 {
        let word = cp_relaxed32(base + 32)
        return word & SlotBits.flag == 0 ? word : 0
    }
    /// Whether the entry is only in the memory of one process (S11).
    @inline(__always) var isMemoryOnly: Bool { cp_relaxed32(base + 32) & SlotBits.flag != 0 }
    /// Size in bytes of the value or, for a memory-only entry, of the object in memory.
    var shownBytes: UInt32 { cp_relaxed32(base + 32) & ~SlotBits.flag }
    @inline(__always) var hits: UInt32 { cp_load32(base + 36) }
    @inline(__always) var accessed: Int64 { Int64(bitPattern: cp_load64(base + 40)) }
    /// When the entry expires, in microseconds on the boot clock; 0: never.
    @inline(__always) var deadline: Int64 { Int64(bitPattern: cp_relaxed64(base + 48)) }
    @inline(__always) var frameBytes: UInt32 { cp_relaxed32(base + 56) & ~SlotBits.flag }
    /// Whether the entry is tombstoned (S12); ``EntryMarks/isHidden(_:_:)`` decides whether look-ups find it.
    @inline(__always) var isTombstoned: Bool { cp_relaxed32(base + 56) & SlotBits.flag != 0 }
    @inline(__always) var owner: UInt32 { cp_relaxed32(base + 60) }
    /// Whether look-ups may find the entry. After an undo this is false until the entry's flag is cleared.
    @inline(__always) var isLive: Bool { location != .none && !isTombstoned }
    /// Whether a look-up must read this slot before it trusts the frame. Cells have a bit for it.
    @inline(__always) var needsSlot: Bool { deadline != Deadline.never || isMemoryOnly || isTombstoned }

    /// Reads several fields consistently: repeats `body` until the slot named the same frame before and after.
    @inline(__always) func read<Value, Failure>(
        _ body: (Location, _ isFilled: Bool) throws(Failure) -> Value?
    ) throws(Failure) -> Value? {
        while true {
            let word = cp_load64(base + 8)
            guard word != 0 else { return nil }
            let value = try body(Location(raw: word & ~SlotBits.unfilled), word & SlotBits.unfilled == 0)
            cp_load_fence()
            if cp_load64(base + 8) == word { return value }
        }
    }

    @inline(__always) var isPlausible: Bool {
        let around = UInt64(frameBytes) &- UInt64(valueBytes)
        return around >= UInt64(Frame.headerBytes) && frameBytes & 7 == 0
            && around <= UInt64(Frame.headerBytes + Frame.maximumKeyBytes + 0xffff + 7)
    }
}

typealias SlotView = EntrySlot<Reading>

typealias ChangingSlot = EntrySlot<Changing>

extension ChangingSlot {
    @inline(__always) func setTag(_ value: UInt32) { cp_relaxed_store32(base, value) }
    @inline(__always) func setChainNext(_ value: UInt32) { cp_store32(base + 4, value) }
    /// Declares that all of the slot belongs to that frame.
    @inline(__always) func setLocation(_ value: Location) { cp_store64(base + 8, value.raw) }
    @inline(__always) func setRecency(_ value: UInt64) { cp_relaxed_store64(base + 16, value) }
    @inline(__always) func setNewer(_ value: UInt32) { cp_relaxed_store32(base + 24, value) }
    @inline(__always) func setOlder(_ value: UInt32) { cp_relaxed_store32(base + 28, value) }
    @inline(__always) func setValueBytes(_ value: UInt32) { cp_relaxed_store32(base + 32, value) }
    @inline(__always) func setHits(_ value: UInt32) { cp_store32(base + 36, value) }
    @inline(__always) func setAccessed(_ value: Int64) { cp_store64(base + 40, UInt64(bitPattern: value)) }
    @inline(__always)
    func setDeadline(_ value: Int64) { cp_relaxed_store64(base + 48, UInt64(bitPattern: value)) }
    /// Clears ``isTombstoned``.
    @inline(__always) func setFrameBytes(_ value: UInt32) { cp_relaxed_store32(base + 56, value) }
    @inline(__always) func setOwner(_ value: UInt32) { cp_relaxed_store32(base + 60, value) }

    /// Names a new frame. Until ``location`` is set again, fields except bucket number, tag and links may be of either frame.
    @inline(__always) func name(_ location: Location) {
        cp_store64(base + 8, location.raw | SlotBits.unfilled)
        cp_store_fence()
    }

    func setMemoryOnly(bytes: UInt64) {
        cp_relaxed_store32(base + 32, UInt32(min(bytes, UInt64(Frame.maximumValueBytes))) | SlotBits.flag)
    }

    func markTombstoned(frameBytes: UInt32) { cp_relaxed_store32(base + 56, frameBytes | SlotBits.flag) }

    /// The location is cleared first: readers that find the tombstone flag cleared find no location either.
    func clear() {
        setLocation(.none)
        cp_store_fence()
        setFrameBytes(0)
    }

    /// Copies all fields but the location.
    func copy(_ other: ChangingSlot) {
        cp_relaxed_store64(base, cp_relaxed64(other.base))
        for offset in stride(from: 16, to: IndexLayout.entryBytes, by: 8) {
            cp_relaxed_store64(base + offset, cp_relaxed64(other.base + offset))
        }
    }
}

extension ChangingIndex {
    @inline(__always) func changing(_ slot: SlotView) -> ChangingSlot { ChangingSlot(slot.base) }
}

private enum SlotBits {
    static let flag: UInt32 = 1 << 31
    /// Bit 31 of the location, unused by offsets: a frame begins in the first 64 MiB of its segment.
    static let unfilled: UInt64 = 1 << 31
}
