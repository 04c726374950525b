import CPlatform

/// Whoever has a view with this right looks at the index, and does what anybody may do at any time: notes uses and events,
/// counts, marks what it holds in memory.
enum Looking {}

/// Whoever has a view with this right may change the index. Only a section gives one (``ArchiveSection/index``), or who
/// made the memory and has it alone: so what needs the archive's lock can't be called without it.
enum Changing {}

/// The mapped index of an archive, as far as its user has a right to it. A view of ``IndexMemory``, valid as
/// long as somebody has that: every engine does. It is a few addresses, and takes no hold on anything. Safe from any thread.
///
/// The header's fields are in `MappedIndex+Header.swift`; of each table behind it there is a type with the same right:
/// ``HashTable``, ``EntryNumbers``, ``EntryOrder``, ``TouchRing``, ``Deadlines``, ``EntryMarks``, ``Residency``; or one
/// whose every word is written with atomic instructions, or by its owner, and needs none: ``EventRing``, ``ProcessTable``.
/// What is declared for ``Changing`` alone needs the lock, all else does not.
struct MappedIndex<Right>: Sendable {
    /// Its words are touched by the types of this folder alone.
    let memory: IndexDoor

    @inline(__always)
    fileprivate init(door: IndexDoor) { memory = door }
}

/// The index for those who look.
typealias IndexView = MappedIndex<Looking>

/// The index for those who have a section.
typealias ChangingIndex = MappedIndex<Changing>

extension IndexView {
    @inline(__always)
    init(_ memory: IndexMemory) { self.init(door: memory.door) }
}

extension ChangingIndex {
    /// For as long as the section lasts.
    @inline(__always)
    init(_ section: borrowing ArchiveSection) { self.init(door: section.engine.index.memory) }

    /// For memory that its maker alone has, or while nobody else has the archive open for writing and nobody can open it.
    init(unshared memory: IndexMemory) { self.init(door: memory.door) }

    @inline(__always) var view: IndexView { IndexView(door: memory) }
}

extension MappedIndex {
    /// For errors.
    var path: String { memory.memory.path }

    /// Rung for who waits for events. A word of this process; set by whoever opens the archive, before anyone else has it.
    var doorbell: Doorbell? {
        get { memory.memory.doorbell }
        nonmutating set { memory.memory.doorbell = newValue }
    }

    // MARK: The file

    /// `nil` without a file, and of one that was removed.
    func fileStatus() throws(StorageError) -> OpenFile.Status? { try memory.memory.fileStatus() }

    var hasFile: Bool { memory.memory.hasFile }

    /// Whether the file was removed, or another has taken its place; never of an index without one.
    var isReplaced: Bool { memory.memory.isReplaced }

    /// Makes sure that all that the index has now is mapped here; for whoever would otherwise take what is not for
    /// nothing. Costs two loads where nothing has grown.
    @inline(__always)
    func catchUp() throws(StorageError) { try memory.catchUp() }

    // MARK: Entries and buckets, numbered from 1 and 0

    /// Entry numbers that may be in use: 1 to this.
    var usedEntries: UInt32 { memory.usedEntries }

    /// Bucket numbers that may be in use: 0 to one less than this.
    var usedBuckets: UInt32 { memory.usedBuckets }

    /// The entry of that number; `nil` for 0 and for numbers past the capacity.
    @inline(__always)
    func entry(_ number: UInt32) -> EntrySlot<Right>? {
        guard let address = memory.entryAddress(number) else { return nil }
        return EntrySlot<Right>(address)
    }

    /// The bucket of that number; `nil` past the capacity.
    @inline(__always)
    func bucket(_ number: UInt32) -> Bucket? {
        guard let address = memory.bucketAddress(number) else { return nil }
        return Bucket(address)
    }

    // MARK: Live frames of each segment: bytes in the low 40 bits, their number above

    @inline(__always)
    func liveFrames(ofSegment segment: UInt32) -> UInt64 {
        cp_relaxed64(memory.segmentAddress(segment))
    }
}

extension ChangingIndex {
    @inline(__always)
    func setLiveFrames(ofSegment segment: UInt32, _ word: UInt64) {
        cp_relaxed_store64(memory.segmentAddress(segment), word)
    }

    /// Makes room for `capacity` entries; the header says so only once the blocks are there.
    func grow(toHold capacity: Int) throws(StorageError) {
        let chunks = (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries
        let bytes = IndexLayout.fileBytes(chunks: chunks)
        // Never zeros over what the capacity says is in use, whatever the other field says (a process may have
        // died between the two stores below).
        let present = IndexLayout.fileBytes(
            chunks: Int(entryCapacity) / IndexLayout.chunkEntries)
        let start = max(indexBytes, present)
        try memory.memory.extend(from: min(start, bytes), to: bytes)
        crashPoint(.indexExtended)
        entryCapacity = UInt32(chunks * IndexLayout.chunkEntries)
        indexBytes = bytes
        memory.memory.relearnCapacity()
    }

    /// Gives back the blocks of all chunks that `capacity` entries do not need. The file keeps its length, so
    /// that whoever has it mapped reads zeros (F4); growing reserves blocks again. Where reading a hole takes room of its
    /// own (tmpfs), or that can't be tried, another's look-up would end by SIGBUS once there is none: there the blocks stay until the last
    /// writer leaves. Needs that no entry and no bucket behind is in use.
    func shrink(toHold capacity: Int) {
        let chunks = max(1, (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries)
        let least = IndexLayout.fileBytes(chunks: chunks)
        let end = indexBytes
        guard end > least, Int(entryHighWater) <= capacity else { return }
        entryCapacity = UInt32(chunks * IndexLayout.chunkEntries)
        crashPoint(.indexShrunk)
        indexBytes = least
        memory.memory.punch(
            from: IndexLayout.reservedBytes(for: least), to: IndexLayout.reservedBytes(for: end))
        memory.memory.relearnCapacity()
    }
}
