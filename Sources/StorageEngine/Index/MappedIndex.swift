import CPlatform

/// The right to read the index, and to record accesses and events, count, and mark held objects: all without the lock.
enum Reading {}

/// The right to change the index, from a write lock guard (``ArchiveSection/index``) or for the memory's creator and only user.
enum Changing {}

/// The mapped index of an archive, with one of two rights: methods declared for ``Changing`` require the lock, others don't. A
/// view of ``IndexMemory``, which every engine owns, and valid as long as it. Header: `MappedIndex+Header.swift`.
///
/// The tables behind it: ``HashTable``, ``EntryNumbers``, ``EntryOrder``, ``TouchRing``, ``Deadlines``, ``EntryMarks``,
/// ``Residency``; and ``EventRing`` and ``ProcessTable``, which need no right: their words are written atomically, or by one
/// process only.
struct MappedIndex<Right>: Sendable {
    /// Only the types of `Index` and `Tables` access its words.
    let memory: IndexBytes

    @inline(__always) fileprivate init(bytes: IndexBytes) { memory = bytes }
}

typealias IndexView = MappedIndex<Reading>

typealias ChangingIndex = MappedIndex<Changing>

extension IndexView {
    @inline(__always) init(_ memory: IndexMemory) { self.init(bytes: memory.bytes) }
}

extension ChangingIndex {
    /// Used by the write lock guard only.
    @inline(__always) init(locked index: IndexView) { self.init(bytes: index.memory) }

    /// Used for memory of its creator only, or while no other process writes to the archive or can open it.
    init(unshared memory: IndexMemory) { self.init(bytes: memory.bytes) }

    @inline(__always) var view: IndexView { IndexView(bytes: memory) }
}

extension MappedIndex {
    /// The memory into which the file is mapped.
    var storage: IndexMemory { memory.memory }

    var path: String { storage.path }

    @inline(__always) func catchUp() throws(StorageError) { try memory.catchUp() }

    // MARK: Entries, numbered from 1, and buckets, numbered from 0

    var usedEntries: UInt32 { memory.usedEntries }

    var usedBuckets: UInt32 { memory.usedBuckets }

    @inline(__always) func entry(_ number: UInt32) -> EntrySlot<Right>? {
        guard let address = memory.entryAddress(number) else { return nil }
        return EntrySlot<Right>(address)
    }

    // MARK: Queues of S3-FIFO

    /// ``QueuePlace/none`` for numbers beyond the capacity.
    @inline(__always) func queuePlace(of number: UInt32) -> QueuePlace {
        guard let address = memory.queueAddress(number) else { return .none }
        let shift = UInt64(UInt(bitPattern: address) & 7) * 8
        return QueuePlace(raw: UInt8(truncatingIfNeeded: cp_relaxed64(wordOfPlace(address)) >> shift))
    }

    fileprivate func wordOfPlace(_ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        address - Int(UInt(bitPattern: address) & 7)
    }

    // MARK: Live frames of each segment: their bytes in the low 40 bits, their count above

    @inline(__always) func liveFrames(ofSegment segment: UInt32) -> UInt64 {
        cp_relaxed64(memory.segmentAddress(segment))
    }
}

extension ChangingIndex {
    @inline(__always) func setQueuePlace(of number: UInt32, _ place: QueuePlace) {
        guard let address = memory.queueAddress(number) else { return }
        let shift = UInt64(UInt(bitPattern: address) & 7) * 8
        let word = wordOfPlace(address)
        cp_relaxed_store64(word, cp_relaxed64(word) & ~(0xff << shift) | UInt64(place.raw) << shift)
    }

    func clearQueuePlaces() {
        for number in stride(from: 1, through: usedEntries, by: 8) {
            if let address = memory.queueAddress(number) { cp_relaxed_store64(address, 0) }
        }
    }

    @inline(__always) func setLiveFrames(ofSegment segment: UInt32, _ word: UInt64) {
        cp_relaxed_store64(memory.segmentAddress(segment), word)
    }

    /// Extends the file to `capacity` entries. The header is updated only after the blocks are allocated.
    func grow(toHold capacity: Int) throws(StorageError) {
        let chunks = (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries
        let bytes = IndexLayout.fileBytes(chunks: chunks)
        try storage.removalReserve?.extend(forEntries: chunks * IndexLayout.chunkEntries)
        // Entries within the capacity must not be zeroed: a process may have died between the two stores below.
        let present = IndexLayout.fileBytes(chunks: Int(entryCapacity) / IndexLayout.chunkEntries)
        let start = max(indexBytes, present)
        try storage.extend(from: min(start, bytes), to: bytes)
        crashPoint(.indexExtended)
        setEntryCapacity(UInt32(chunks * IndexLayout.chunkEntries))
        setIndexBytes(bytes)
        storage.refreshCapacity()
    }

    /// Frees the blocks of all chunks that `capacity` entries don't need; the file keeps its length, so other mappings read zeros
    /// (F4). If reading a hole allocates a block (tmpfs), or can't be tested, a look-up could raise SIGBUS on a full disk: then
    /// the blocks stay until the last writer closes. No entry beyond may be in use.
    func shrink(toHold capacity: Int) {
        let chunks = max(1, (capacity + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries)
        let least = IndexLayout.fileBytes(chunks: chunks)
        let end = indexBytes
        guard end > least, Int(entryHighWater) <= capacity else { return }
        setEntryCapacity(UInt32(chunks * IndexLayout.chunkEntries))
        crashPoint(.indexShrunk)
        setIndexBytes(least)
        storage.removalReserve?.shrink(forEntries: chunks * IndexLayout.chunkEntries)
        storage.punch(
            from: IndexLayout.reservedBytes(for: least), to: IndexLayout.reservedBytes(for: end))
        storage.refreshCapacity()
    }
}
