import CPlatform

/// One entry's 64 bytes in the index; a view that is valid as long as the index is mapped.
///
/// Guarded by the archive's lock for writing. Readers without the lock take each field as one atomic word:
/// `location` is published last when an entry is made and cleared first when it goes. Offsets:
/// OnDiskFormat, "Entries".
struct EntrySlot {
    let base: UnsafeMutableRawPointer

    @inline(__always)
    init(_ base: UnsafeMutableRawPointer) { self.base = base }

    /// Low 32 bits of the key's hash.
    @inline(__always) var tag: UInt32 {
        get { cp_relaxed32(base) }
        nonmutating set { cp_relaxed_store32(base, newValue) }
    }
    /// Next entry of the same bucket's overflow, or of the free list.
    @inline(__always) var chainNext: UInt32 {
        get { cp_load32(base + 4) }
        nonmutating set { cp_store32(base + 4, newValue) }
    }
    @inline(__always) var location: Location {
        get { Location(raw: cp_load64(base + 8)) }
        nonmutating set { cp_store64(base + 8, newValue.raw) }
    }
    @inline(__always) var recency: UInt64 {
        get { cp_relaxed64(base + 16) }
        nonmutating set { cp_relaxed_store64(base + 16, newValue) }
    }
    /// The next more recent entry.
    @inline(__always) var newer: UInt32 {
        get { cp_relaxed32(base + 24) }
        nonmutating set { cp_relaxed_store32(base + 24, newValue) }
    }
    /// The next less recent entry.
    @inline(__always) var older: UInt32 {
        get { cp_relaxed32(base + 28) }
        nonmutating set { cp_relaxed_store32(base + 28, newValue) }
    }
    @inline(__always) var valueBytes: UInt32 {
        get { cp_relaxed32(base + 32) }
        nonmutating set { cp_relaxed_store32(base + 32, newValue) }
    }
    @inline(__always) var hits: UInt32 {
        get { cp_relaxed32(base + 36) }
        nonmutating set { cp_relaxed_store32(base + 36, newValue) }
    }
    @inline(__always) var accessed: Int64 {
        get { Int64(bitPattern: cp_relaxed64(base + 40)) }
        nonmutating set { cp_relaxed_store64(base + 40, UInt64(bitPattern: newValue)) }
    }
    /// Microseconds since 1970 after which the entry is expired; 0: never.
    @inline(__always) var deadline: Int64 {
        get { Int64(bitPattern: cp_relaxed64(base + 48)) }
        nonmutating set { cp_relaxed_store64(base + 48, UInt64(bitPattern: newValue)) }
    }
    @inline(__always) var frameBytes: UInt32 {
        get { cp_relaxed32(base + 56) }
        nonmutating set { cp_relaxed_store32(base + 56, newValue) }
    }
    /// Whether the two sizes can belong to one frame.
    @inline(__always) var isPlausible: Bool {
        let around = UInt64(frameBytes) &- UInt64(valueBytes)
        return around >= UInt64(Frame.headerBytes) && frameBytes & 7 == 0
            && around <= UInt64(Frame.headerBytes + Frame.maximumKeyBytes + 0xffff + 7)
    }
    // base + 60: four bytes reserved for the owner.
}
