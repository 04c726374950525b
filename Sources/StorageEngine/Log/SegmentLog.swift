import CPlatform
import Synchronization

/// The archive's segments, mapped into this process as they are needed.
///
/// Safe from any thread. Bytes of a segment are read only while it is pinned; a pinned segment stays
/// mapped even after its file was unlinked, so what a reader sees never changes under it (F7). Appending
/// and dropping need the archive's lock.
final class SegmentLog: @unchecked Sendable {
    let folder: OpenFile
    let identity: [UInt8]
    let writable: Bool
    private let window: AddressWindow
    /// One record a segment slot, in this process' memory: number of the mapped segment (0: none), pins,
    /// bytes of its file, seed of its checksums. Numbers and pins are atomic; the rest is written before
    /// the number is published.
    private let slots: UnsafeMutableRawPointer
    private static let slotBytes = 32
    /// Files of the mapped segments, by number; the mutex also serialises mapping and unmapping.
    private let files = Mutex<[UInt32: OpenFile]>([:])
    /// The damaged segment that was last searched for frames, so that whoever comes again needn't begin anew.
    private let searched = Mutex<(segment: UInt32, search: FrameSearch)?>(nil)
    /// The oldest segment that this process knows of; what is older has been let go.
    private let knownOldest = Atomic<UInt32>(0)

    init(folder: OpenFile, identity: [UInt8], writable: Bool) throws(StorageError) {
        self.folder = folder
        self.identity = identity
        self.writable = writable
        window = try AddressWindow(
            bytes: SegmentLayout.windowBytes, least: SegmentLayout.leastWindowBytes, path: folder.path)
        let bytes = SegmentLayout.slots * SegmentLog.slotBytes
        slots = .allocate(byteCount: bytes, alignment: 64)
        slots.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    }

    deinit { slots.deallocate() }

    @inline(__always)
    private func slot(_ segment: UInt32) -> UnsafeMutableRawPointer {
        slots + Int(segment & SegmentLayout.slotMask) * SegmentLog.slotBytes
    }

    @inline(__always)
    private func windowOffset(_ segment: UInt32) -> Int {
        Int(segment & SegmentLayout.slotMask) * SegmentLayout.strideBytes
    }

    // MARK: Pinning

    /// A segment that cannot be unmapped before ``SegmentLog/unpin(_:)``.
    struct Pin {
        let segment: UInt32
        fileprivate let base: UnsafeMutableRawPointer
        let seed: UInt32
    }

    /// `nil` when the segment is no longer (or never was) part of the log.
    @inline(__always)
    func pin(_ segment: UInt32) -> Pin? {
        pinIfMapped(segment) ?? pinSlowly(segment)
    }

    @inline(__always)
    private func pinIfMapped(_ segment: UInt32) -> Pin? {
        let pins = slot(segment) + 4
        _ = cp_add32(pins, 1)
        if let pin = uncounted(segment) { return pin }
        _ = cp_add32(pins, .max)
        return nil
    }

    /// As ``SegmentLog/pin(_:)``, but counts nothing and must not be unpinned: for whoever counts by itself, and for
    /// the newest segment while the archive's lock is held, since then it stays the newest, and only older ones are
    /// let go. `nil` also when this process has not mapped it yet.
    @inline(__always)
    func uncounted(_ segment: UInt32) -> Pin? {
        let slot = slot(segment)
        guard cp_load32(slot) == segment else { return nil }
        return Pin(segment: segment, base: window.base + windowOffset(segment), seed: cp_relaxed32(slot + 16))
    }

    @inline(never)
    private func pinSlowly(_ segment: UInt32) -> Pin? {
        guard segment > 0, (try? map(segment)) != nil else { return nil }
        return pinIfMapped(segment)
    }

    /// As ``SegmentLog/pin(_:)``, but `nil` only when the segment is no part of the log: that it can't be opened
    /// or mapped now (no descriptor, no memory, a read error) is an error, and must never pass for its being
    /// gone where that would remove entries.
    func pinIfPresent(_ segment: UInt32) throws(StorageError) -> Pin? {
        for _ in 0..<3 {
            if let pin = pin(segment) { return pin }
            guard segment > 0 else { return nil }
            do throws(StorageError) {
                try map(segment)
            } catch {
                switch error {
                case .corrupted, .unsupportedVersion, .system(_, _, SystemCode.missing): return nil
                default: throw error
                }
            }
        }
        return nil
    }

    /// The frame at `offset`; `nil` only when the file is known to hold none there.
    func frameIfPresent(_ pin: Pin, at offset: Int) throws(StorageError) -> Frame? {
        if let frame = frame(pin, at: offset) { return frame }
        try learnSize(pin)
        return frame(pin, at: offset)
    }

    /// Asks the file of a pinned segment for its size, which another process may have changed.
    func learnSize(_ pin: Pin) throws(StorageError) {
        let file = files.withLock { $0[pin.segment] }
        guard let bytes = try file?.status().bytes else { return }
        let usable = min(bytes, window.bytes - windowOffset(pin.segment))
        cp_relaxed_store64(slot(pin.segment) + 8, UInt64(usable))
    }

    @inline(__always)
    func unpin(_ pin: Pin) { _ = cp_add32(slot(pin.segment) + 4, .max) }

    /// Bytes of the segment's file; asks the file again when `atLeast` is more than is known.
    @inline(__always)
    func fileBytes(_ pin: Pin, atLeast: Int = 0) -> Int {
        let known = Int(cp_relaxed64(slot(pin.segment) + 8))
        return known >= atLeast ? known : learnFileBytes(pin.segment)
    }

    @inline(never)
    private func learnFileBytes(_ segment: UInt32) -> Int {
        files.withLock { files in
            guard let file = files[segment], let bytes = try? file.status().bytes else { return 0 }
            let usable = min(bytes, window.bytes - windowOffset(segment))
            cp_relaxed_store64(slot(segment) + 8, UInt64(usable))
            return usable
        }
    }

    /// The frame at `offset` of a pinned segment, its lengths checked and its checksum not; `nil` when
    /// there cannot be one.
    @inline(__always)
    func frame(_ pin: Pin, at offset: Int) -> Frame? {
        guard offset >= SegmentHeader.bytes else { return nil }
        let known = fileBytes(pin)
        if known - offset >= Frame.headerBytes,
            let frame = Frame(at: pin.base + offset, available: known - offset)
        {
            return frame
        }
        return frameAfterGrowth(pin, at: offset, known: known)
    }

    @inline(never)
    private func frameAfterGrowth(_ pin: Pin, at offset: Int, known: Int) -> Frame? {
        let grown = learnFileBytes(pin.segment)
        guard grown > known, grown - offset >= Frame.headerBytes else { return nil }
        return Frame(at: pin.base + offset, available: grown - offset)
    }

    /// A copy of bytes of a pinned segment, clamped to its file.
    func bytes(_ pin: Pin, _ range: Range<Int>) -> [UInt8] {
        let inside = range.clamped(to: 0..<fileBytes(pin))
        return Array(UnsafeRawBufferPointer(start: pin.base + inside.lowerBound, count: inside.count))
    }

    /// Where what was ever written ends: behind the last word that is not zero.
    func writtenEnd(_ pin: Pin) -> Int {
        var end = fileBytes(pin) & ~7
        while end > SegmentHeader.bytes, (pin.base + end - 8).load(as: UInt64.self) == 0 { end -= 8 }
        return end
    }

    /// Whether everything from `offset` to the end of the file is zero: never written.
    func isBlank(_ pin: Pin, from offset: Int) -> Bool {
        let end = fileBytes(pin)
        var cursor = (offset + 7) & ~7
        while cursor + 8 <= end {
            if (pin.base + cursor).load(as: UInt64.self) != 0 { return false }
            cursor += 8
        }
        return true
    }

    /// A hint that the frame there will be read soon. It needs no pin: a hint never faults.
    @inline(__always)
    func prefetch(_ location: Location) {
        let offset = min(location.offset, SegmentLayout.strideBytes)
        let address = window.base + windowOffset(location.segment) + offset
        for line in 0..<4 { cp_prefetch(address + 64 * line) }
    }

    // MARK: Damaged segments

    /// Finds the frames of a pinned segment behind damage.
    func search(_ pin: Pin) throws(StorageError) -> FrameSearch {
        let file = files.withLock { $0[pin.segment] }
        guard let file else { throw .closed(name: path(of: pin.segment)) }
        try learnSize(pin)
        return FrameSearch(file, bytes: fileBytes(pin), segmentSeed: pin.seed)
    }

    /// The same, and kept for the next call; for bytes up to `end`, which no longer change.
    func withSearch<Result>(
        of pin: Pin, atLeast end: Int, _ body: (FrameSearch) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        try searched.withLock { (known) throws(StorageError) -> Result in
            if let known, known.segment == pin.segment, known.search.bytes >= end {
                return try body(known.search)
            }
            let search = try search(pin)
            known = (pin.segment, search)
            return try body(search)
        }
    }

    /// Whether a segment is the one that was last searched: it is damaged.
    func isSearched(_ pin: Pin) -> Bool { searched.withLock { $0?.segment == pin.segment } }

    // MARK: Mapping

    func path(of segment: UInt32) -> String { folder.path + "/" + SegmentHeader.fileName(segment) }

    private func map(_ segment: UInt32) throws(StorageError) {
        let result: Result<Void, StorageError> = files.withLock { files in
            do throws(StorageError) {
                guard cp_load32(slot(segment)) != segment else { return .success(()) }
                let file = try folder.file(named: SegmentHeader.fileName(segment), writable: writable)
                try checkBelonging(file, segment)
                try publish(segment, file, &files)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private func header(of file: OpenFile, _ segment: UInt32) throws(StorageError) -> SegmentHeader {
        let header = try SegmentHeader.decode(file.read(atMost: SegmentHeader.bytes), path: file.path)
        guard header.archive == identity else {
            throw .corrupted(
                path: file.path, offset: SegmentHeader.archiveOffset, reason: "belongs to another archive")
        }
        guard header.segment == segment else {
            throw .corrupted(
                path: file.path, offset: 12, reason: "is segment \(header.segment) under another name")
        }
        return header
    }

    /// A segment whose header is damaged is this archive's all the same if it holds a frame that passes its
    /// checksum, which is seeded with identity and number: one bad byte must not cost a whole segment (R6).
    private func checkBelonging(_ file: OpenFile, _ segment: UInt32) throws(StorageError) {
        do throws(StorageError) {
            _ = try header(of: file, segment)
        } catch {
            guard case .corrupted = error, try SegmentSearch.holdsFrame(file, identity, segment) else {
                throw error
            }
        }
    }

    /// Whether a segment without a right header holds frames of this archive.
    func holdsFrames(_ segment: UInt32) -> Bool {
        guard let file = try? folder.file(named: SegmentHeader.fileName(segment), writable: false) else {
            return false
        }
        return (try? SegmentSearch.holdsFrame(file, identity, segment)) ?? false
    }

    /// The header of a segment's file, if it is this archive's.
    @discardableResult
    func checkHeader(of segment: UInt32) throws(StorageError) -> SegmentHeader {
        let file = try folder.file(named: SegmentHeader.fileName(segment), writable: false)
        return try header(of: file, segment)
    }

    /// Whether a segment's header was never written: its maker is at work, or was killed.
    func isUnwritten(_ segment: UInt32) -> Bool {
        guard let file = try? folder.file(named: SegmentHeader.fileName(segment), writable: false),
            let bytes = try? file.read(atMost: SegmentHeader.bytes)
        else { return false }
        return bytes.allSatisfy { $0 == 0 }
    }

    /// Whether a segment was begun and nothing was ever written behind its header.
    private func isLeftover(_ segment: UInt32) -> Bool {
        if isUnwritten(segment) { return true }
        guard (try? checkHeader(of: segment)) != nil, let pin = pin(segment) else { return false }
        defer { unpin(pin) }
        return isBlank(pin, from: SegmentHeader.bytes)
    }

    private func publish(
        _ segment: UInt32, _ file: OpenFile, _ files: inout [UInt32: OpenFile]
    ) throws(StorageError) {
        let slot = slot(segment)
        let present = cp_load32(slot)
        if present != 0 {
            guard release(present, &files) else {
                throw .busy(
                    archive: folder.path, process: 0, reason: "a reader still uses segment \(present)")
            }
        }
        let bytes = try file.status().bytes
        let strides = SegmentLayout.slots(forBytes: bytes)
        let offset = windowOffset(segment)
        let length = strides * SegmentLayout.strideBytes
        try window.map(file, at: offset, length: length, writable: writable)
        cp_relaxed_store64(slot + 8, UInt64(bytes))
        cp_relaxed_store32(slot + 16, SegmentHeader.seed(archive: identity, segment: segment))
        files[segment] = file
        cp_store32(slot, segment)
    }

    /// Unmaps a segment unless a reader has it pinned.
    private func release(_ segment: UInt32, _ files: inout [UInt32: OpenFile]) -> Bool {
        let slot = slot(segment)
        guard cp_cas32(slot, segment, 0) else { return true }
        // A reader adds its pin before it looks at the number, so either it sees 0 or its pin is seen here.
        guard cp_load32(slot + 4) == 0 else {
            cp_store32(slot, segment)
            return false
        }
        let bytes = Int(cp_relaxed64(slot + 8))
        window.unmap(
            at: windowOffset(segment),
            length: SegmentLayout.slots(forBytes: bytes) * SegmentLayout.strideBytes)
        files[segment] = nil
        return true
    }

    /// Lets go of segments older than `oldest`, so that their disk space can be used again.
    @inline(__always)
    func releaseSegments(before oldest: UInt32) {
        if knownOldest.load(ordering: .relaxed) != oldest { releaseSlowly(before: oldest) }
    }

    @inline(never)
    private func releaseSlowly(before oldest: UInt32) {
        files.withLock { files in
            var complete = true
            for segment in files.keys.filter({ $0 < oldest }) where !release(segment, &files) {
                complete = false
            }
            if complete { knownOldest.store(oldest, ordering: .relaxed) }
        }
    }

    // MARK: Files

    /// Numbers of the segment files in the folder, ascending.
    func segmentNumbers() throws(StorageError) -> [UInt32] {
        try folder.names().compactMap(SegmentHeader.number(ofFileName:)).sorted()
    }

    /// The smallest number above `segment`, and not above `last`, of a segment that exists.
    func nextSegment(after segment: UInt32, upTo last: UInt32) throws(StorageError) -> UInt32 {
        guard segment < last else { return last }
        // Segments of one log are never further apart; a damaged index may say so.
        var next = max(segment + 1, last - min(last, UInt32(SegmentLayout.slots)))
        while next < last {
            if try folder.hasEntry(named: SegmentHeader.fileName(next)) { break }
            next += 1
        }
        return next
    }

    /// The largest number below `segment`, and not below `first`, of a segment that exists.
    func segment(before segment: UInt32, from first: UInt32) -> UInt32? {
        var number = segment
        while number > first, segment - number < UInt32(SegmentLayout.slots) {
            number -= 1
            if (try? folder.hasEntry(named: SegmentHeader.fileName(number))) == true { return number }
        }
        return nil
    }

    /// Makes segment `number` with room for `bytes`, replacing a leftover of the same name. A file that holds
    /// anything is no leftover, and is kept aside.
    func create(_ number: UInt32, oldest: UInt32, bytes: Int) throws(StorageError) {
        let name = SegmentHeader.fileName(number)
        if try folder.hasEntry(named: name) {
            if isLeftover(number) {
                try folder.unlink(name)
            } else {
                _ = try DamagedFile.setAside(name, in: folder)
            }
        }
        let file = try folder.newFile(named: name)
        do throws(StorageError) {
            try file.extend(from: 0, to: bytes)
            crashPoint(.segmentBegun)
            let header = SegmentHeader(
                archive: identity, segment: number, oldest: oldest, created: Clock.wall())
            try file.write(header.encoded)
            let result: Result<Void, StorageError> = files.withLock { files in
                do throws(StorageError) {
                    try publish(number, file, &files)
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            try result.get()
        } catch {
            try? folder.unlink(name)
            throw error
        }
    }

    /// Makes the file of a pinned segment at least `bytes` long.
    func extend(_ pin: Pin, to bytes: Int) throws(StorageError) {
        let before = fileBytes(pin)
        let file = files.withLock { $0[pin.segment] }
        guard let file else { throw .closed(name: path(of: pin.segment)) }
        // Another process may have made it longer, and written there.
        let present = max(before, try file.status().bytes)
        guard present < bytes else { return }
        try file.extend(from: present, to: bytes)
        cp_relaxed_store64(slot(pin.segment) + 8, UInt64(bytes))
    }

    /// Brings what was written to a pinned segment to the medium.
    func synchronize(_ pin: Pin) throws(StorageError) {
        let file = files.withLock { $0[pin.segment] }
        guard let file else { return }
        // What others appended counts as synchronized as well.
        try learnSize(pin)
        let bytes = fileBytes(pin)
        try file.synchronize(mapped: UnsafeMutableRawBufferPointer(start: pin.base, count: bytes))
    }

    /// Removes the file of a segment; readers that have it pinned keep their bytes. Returns its size.
    func removeFile(of segment: UInt32) throws(StorageError) -> Int {
        let name = SegmentHeader.fileName(segment)
        guard try folder.hasEntry(named: name) else { return 0 }
        let bytes = try folder.file(named: name, writable: false).status().bytes
        try folder.unlink(name)
        return bytes
    }

    // MARK: Writing, under the archive's lock

    /// Writes a frame into a pinned segment that has room for it.
    @inline(__always)
    func write(_ content: FrameContent, _ pin: Pin, at offset: Int) {
        guard writable, offset >= SegmentHeader.bytes, offset + content.frameBytes <= fileBytes(pin) else {
            return
        }
        Frame.write(content, at: pin.base + offset, seed: Frame.seed(segmentSeed: pin.seed, offset: offset))
    }

    /// Makes everything from `offset` on read as never written.
    func blank(_ pin: Pin, from offset: Int) {
        guard writable, offset >= SegmentHeader.bytes else { return }
        let end = fileBytes(pin)
        var cursor = offset
        while cursor + 8 <= end {
            let word = pin.base + cursor
            if word.load(as: UInt64.self) != 0 { word.storeBytes(of: 0, as: UInt64.self) }
            cursor += 8
        }
    }
}
