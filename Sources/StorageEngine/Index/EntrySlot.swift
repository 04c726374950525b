import CPlatform

/// One entry's 64 bytes in the index; a view that is valid as long as the index is mapped.
///
/// Written by whoever has a section. Readers without one take each field as one atomic word: `location` is published last
/// when an entry is made and cleared first when it goes. Offsets: OnDiskFormat, "Entries".
struct EntrySlot<Right> {
    fileprivate let base: UnsafeMutableRawPointer

    @inline(__always)
    init(_ base: UnsafeMutableRawPointer) { self.base = base }

    @inline(__always)
    func prefetch() { cp_prefetch(base) }

    /// Low 32 bits of the key's hash.
    @inline(__always) var tag: UInt32 { cp_relaxed32(base) }
    /// Next entry of the same bucket's overflow, or of the free list.
    @inline(__always) var chainNext: UInt32 { cp_load32(base + 4) }
    /// The frame that the line names. Setting it says that all of the line is that frame's.
    @inline(__always) var location: Location { Location(raw: cp_load64(base + 8) & ~SlotBits.unfilled) }
    /// Whether the line names that frame and all that it says is of it.
    @inline(__always)
    func tells(of location: Location) -> Bool { cp_load64(base + 8) == location.raw }
    @inline(__always) var isFilled: Bool { cp_load64(base + 8) & SlotBits.unfilled == 0 }
    /// The stamp of the last use. What a use changes is `recency`, `hits` and `accessed`, in that order, so whoever reads
    /// them in it, and the first again, knows whether all are of one use.
    @inline(__always) var recency: UInt64 { cp_load64(base + 16) }
    /// The next more recent entry.
    @inline(__always) var newer: UInt32 { cp_relaxed32(base + 24) }
    /// The next less recent entry.
    @inline(__always) var older: UInt32 { cp_relaxed32(base + 28) }
    /// Bytes that count against the disk limit; 0 for an entry that is only in memory.
    @inline(__always) var valueBytes: UInt32 {
        let word = cp_relaxed32(base + 32)
        return word & SlotBits.flag == 0 ? word : 0
    }
    /// Whether the entry is only in the memory of one process (S11).
    @inline(__always) var isMemoryOnly: Bool { cp_relaxed32(base + 32) & SlotBits.flag != 0 }
    /// The size of the value, or of what that process holds.
    var shownBytes: UInt32 { cp_relaxed32(base + 32) & ~SlotBits.flag }
    @inline(__always) var hits: UInt32 { cp_load32(base + 36) }
    @inline(__always) var accessed: Int64 { Int64(bitPattern: cp_load64(base + 40)) }
    /// Microseconds on the boot clock from which on the entry is expired; 0: never.
    @inline(__always) var deadline: Int64 { Int64(bitPattern: cp_relaxed64(base + 48)) }
    /// Setting it takes the mark of ``isSetAside`` away.
    @inline(__always) var frameBytes: UInt32 { cp_relaxed32(base + 56) & ~SlotBits.flag }
    /// Whether the entry was removed and can still be brought back (S12). It keeps its places in bucket and recency
    /// list; whether look-ups find it is what its action's line says (``EntryMarks/isHidden(_:_:)``).
    @inline(__always) var isSetAside: Bool { cp_relaxed32(base + 56) & SlotBits.flag != 0 }
    /// Low bits of the hash of the owner's name; 0: none.
    @inline(__always) var owner: UInt32 { cp_relaxed32(base + 60) }
    /// Whether look-ups find the entry. (Those of one that is coming back do, too, until it is settled.)
    @inline(__always) var isLive: Bool { location != .none && !isSetAside }
    /// Whether a look-up must read this line before it believes the frame; cells say so.
    @inline(__always)
    var needsLook: Bool {
        deadline != Deadline.never || isMemoryOnly || isSetAside
    }

    /// What `body` takes from the line while it names one frame, and is filled or not: it is called anew when that changed
    /// meanwhile. `nil` where there is no entry.
    @inline(__always)
    func read<Value, Failure>(
        _ body: (Location, _ isFilled: Bool) throws(Failure) -> Value?
    ) throws(Failure) -> Value? {
        while true {
            let word = cp_load64(base + 8)
            guard word != 0 else { return nil }
            let value = try body(
                Location(raw: word & ~SlotBits.unfilled), word & SlotBits.unfilled == 0)
            cp_load_fence()
            if cp_load64(base + 8) == word { return value }
        }
    }

    /// Whether the two sizes can belong to one frame.
    @inline(__always) var isPlausible: Bool {
        let around = UInt64(frameBytes) &- UInt64(valueBytes)
        return around >= UInt64(Frame.headerBytes) && frameBytes & 7 == 0
            && around <= UInt64(Frame.headerBytes + Frame.maximumKeyBytes + 0xffff + 7)
    }
}

/// An entry's line for those who look.
typealias SlotView = EntrySlot<Looking>

/// An entry's line for those who have a section.
typealias ChangingSlot = EntrySlot<Changing>

extension ChangingSlot {
    // MARK: Fields

    @inline(__always) var tag: UInt32 {
        get { cp_relaxed32(base) }
        nonmutating set { cp_relaxed_store32(base, newValue) }
    }
    @inline(__always) var chainNext: UInt32 {
        get { cp_load32(base + 4) }
        nonmutating set { cp_store32(base + 4, newValue) }
    }
    @inline(__always) var location: Location {
        get { Location(raw: cp_load64(base + 8) & ~SlotBits.unfilled) }
        nonmutating set { cp_store64(base + 8, newValue.raw) }
    }
    @inline(__always) var recency: UInt64 {
        get { cp_load64(base + 16) }
        nonmutating set { cp_relaxed_store64(base + 16, newValue) }
    }
    @inline(__always) var newer: UInt32 {
        get { cp_relaxed32(base + 24) }
        nonmutating set { cp_relaxed_store32(base + 24, newValue) }
    }
    @inline(__always) var older: UInt32 {
        get { cp_relaxed32(base + 28) }
        nonmutating set { cp_relaxed_store32(base + 28, newValue) }
    }
    @inline(__always) var valueBytes: UInt32 {
        get {
            let word = cp_relaxed32(base + 32)
            return word & SlotBits.flag == 0 ? word : 0
        }
        nonmutating set { cp_relaxed_store32(base + 32, newValue) }
    }
    @inline(__always) var hits: UInt32 {
        get { cp_load32(base + 36) }
        nonmutating set { cp_store32(base + 36, newValue) }
    }
    @inline(__always) var accessed: Int64 {
        get { Int64(bitPattern: cp_load64(base + 40)) }
        nonmutating set { cp_store64(base + 40, UInt64(bitPattern: newValue)) }
    }
    @inline(__always) var deadline: Int64 {
        get { Int64(bitPattern: cp_relaxed64(base + 48)) }
        nonmutating set { cp_relaxed_store64(base + 48, UInt64(bitPattern: newValue)) }
    }
    @inline(__always) var frameBytes: UInt32 {
        get { cp_relaxed32(base + 56) & ~SlotBits.flag }
        nonmutating set { cp_relaxed_store32(base + 56, newValue) }
    }
    @inline(__always) var owner: UInt32 {
        get { cp_relaxed32(base + 60) }
        nonmutating set { cp_relaxed_store32(base + 60, newValue) }
    }

    // MARK: Several at once

    /// Names a frame before the rest of the line is brought in line with it: until ``location`` is set again, what the
    /// line says beyond its place, tag and links is the frame before's or the new one's, and nobody goes by it.
    @inline(__always)
    func name(_ location: Location) {
        cp_store64(base + 8, location.raw | SlotBits.unfilled)
        cp_store_fence()
    }

    func setMemoryOnly(bytes: UInt64) {
        cp_relaxed_store32(base + 32, UInt32(min(bytes, UInt64(Frame.maximumValueBytes))) | SlotBits.flag)
    }

    func markSetAside(frameBytes: UInt32) { cp_relaxed_store32(base + 56, frameBytes | SlotBits.flag) }

    /// Makes it the line of no entry. Whoever finds the flag of what is set aside gone finds the location gone.
    func clear() {
        location = .none
        cp_store_fence()
        frameBytes = 0
    }

    /// Takes everything over but the location.
    func copy(_ other: ChangingSlot) {
        cp_relaxed_store64(base, cp_relaxed64(other.base))
        for offset in stride(from: 16, to: IndexLayout.entryBytes, by: 8) {
            cp_relaxed_store64(base + offset, cp_relaxed64(other.base + offset))
        }
    }
}

extension ChangingIndex {
    /// A line that was found without the right to change it.
    @inline(__always)
    func changing(_ slot: SlotView) -> ChangingSlot { ChangingSlot(slot.base) }
}

private enum SlotBits {
    static let flag: UInt32 = 1 << 31
    /// In the word of the location, where no frame's offset reaches: a frame begins in the first 64 MiB.
    static let unfilled: UInt64 = 1 << 31
}
