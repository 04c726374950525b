import CPlatform
import Synchronization

/// The segments' files: which there are, making, growing, syncing and removing them.
extension SegmentLog {
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
    func segment(before segment: UInt32, from first: UInt32) throws(StorageError) -> UInt32? {
        var number = segment
        while number > first, segment - number < UInt32(SegmentLayout.slots) {
            number -= 1
            if try folder.hasEntry(named: SegmentHeader.fileName(number)) { return number }
        }
        return nil
    }

    /// The highest number above `head` that a segment of this archive has: none, as long as the index knows the whole
    /// log. Looks once, since later ones are made under the archive's lock, and their maker moves the head.
    func highestSegment(above head: UInt32) throws(StorageError) -> UInt32? {
        guard !hasSeenNumbers.load(ordering: .relaxed) else { return nil }
        for number in try segmentNumbers().reversed() where number > head {
            if try belongs(number) { return number }
        }
        hasSeenNumbers.store(true, ordering: .relaxed)
        return nil
    }

    // MARK: What a file is

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
    func checkBelonging(_ file: OpenFile, _ segment: UInt32) throws(StorageError) {
        do throws(StorageError) {
            _ = try header(of: file, segment)
        } catch {
            guard case .corrupted = error, try SegmentSearch.holdsFrame(file, identity, segment) else {
                throw error
            }
        }
    }

    /// Whether a file holds frames of this archive, by its header or by themselves. `false` also when it has gone.
    private func belongs(_ segment: UInt32) throws(StorageError) -> Bool {
        let name = SegmentHeader.fileName(segment)
        guard let file = try folder.fileIfPresent(named: name, writable: false) else { return false }
        return try SegmentSearch.holdsFrame(file, identity, segment)
    }

    /// Whether a segment without a right header holds frames of this archive. `false` also when it has gone.
    func holdsFrames(_ segment: UInt32) throws(StorageError) -> Bool { try belongs(segment) }

    /// The header of a segment's file, if it is this archive's.
    @discardableResult
    func checkHeader(of segment: UInt32) throws(StorageError) -> SegmentHeader {
        let file = try folder.file(named: SegmentHeader.fileName(segment), writable: false)
        return try header(of: file, segment)
    }

    /// Whether a segment was never written, its header neither: its maker is at work, or was killed. `false` also when it
    /// has gone, and when frames are behind a header that is zero: a power loss may have kept these pages and not that.
    func isUnwritten(_ segment: UInt32) throws(StorageError) -> Bool {
        let name = SegmentHeader.fileName(segment)
        guard let file = try folder.fileIfPresent(named: name, writable: false) else { return false }
        guard try file.read(atMost: SegmentHeader.bytes).allSatisfy({ $0 == 0 }) else { return false }
        return try SegmentSearch.holdsFrame(file, identity, segment) == false
    }

    /// Whether a segment was begun and nothing was ever written behind its header.
    private func isLeftover(_ segment: UInt32) throws(StorageError) -> Bool {
        if try isUnwritten(segment) { return true }
        guard let pin = try pinIfPresent(segment) else { return false }
        defer { unpin(pin) }
        return try excess(of: segment) == nil && view(pin).isBlank(from: SegmentHeader.bytes)
    }

    /// Bytes of a segment's file; 0 when it has gone.
    func fileBytes(of segment: UInt32) throws(StorageError) -> Int {
        try folder.status(ofEntry: SegmentHeader.fileName(segment))?.bytes ?? 0
    }

    // MARK: Under the archive's lock

    /// Makes segment `number` with room for `bytes`, replacing a leftover of the same name, to be appended to. A file
    /// that holds anything is no leftover, and is kept aside. `room`: bytes that it may grow to.
    func create(_ number: UInt32, oldest: UInt32, bytes: Int, room: Int) throws(StorageError) {
        let name = SegmentHeader.fileName(number)
        if try folder.hasEntry(named: name) {
            if try isLeftover(number) {
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
            try AddressPressure.relieved { () throws(StorageError) in
                try locked { (mapped) throws(StorageError) in
                    try publish(number, file, bytes: bytes, room: room, &mapped)
                    beginAppending(to: number, file, &mapped)
                }
            }
        } catch {
            try? folder.unlink(name)
            throw error
        }
    }

    /// Maps the newest segment to append to it.
    func mapNewest(_ segment: UInt32, room: Int) throws(StorageError) -> Pin {
        guard let pin = try pinIfPresent(segment) else {
            throw .corrupted(path: path(of: segment), offset: 0, reason: "the newest segment is gone")
        }
        defer { unpin(pin) }
        let file = try openedFile(of: pin)
        // A copied file may have holes; on a full disk the others must not be asked for what they have.
        let bytes = view(pin).bytes
        if try file.status().allocatedBytes < bytes { try file.reserveBlocks(bytes) }
        try locked { (mapped) throws(StorageError) in beginAppending(to: segment, file, &mapped) }
        return pin
    }

    private func beginAppending(
        to segment: UInt32, _ file: OpenFile, _ mapped: inout [UInt32: MappedSegment]
    ) {
        let before = appending.exchange(segment, ordering: .relaxed)
        if before != segment { mapped[before]?.file = nil }
        mapped[segment]?.file = KeptFile(file)
    }

    /// Makes the file of a pinned segment at least `bytes` long, and maps that much of it.
    func extend(_ pin: Pin, to bytes: Int) throws(StorageError) {
        guard view(pin).bytes < bytes else { return }
        let file = try openedFile(of: pin)
        // Another process may have made it longer, and written there.
        let present = try file.status().bytes
        if present < bytes { try file.extend(from: present, to: bytes) }
        _ = try AddressPressure.relieved { () throws(StorageError) in
            try locked { (mapped) throws(StorageError) in try learnSize(pin.segment, file, &mapped) }
        }
        guard view(pin).bytes >= bytes else {
            throw .corrupted(path: file.path, offset: 0, reason: "another file has taken the segment's place")
        }
    }

    /// Blocks behind every byte of a pinned segment: a copy of a store may have holes where there were zeros, and
    /// writing to one through the mapping on a full disk would be SIGBUS (F4).
    func reserveBlocks(_ pin: Pin) throws(StorageError) {
        try openedFile(of: pin).reserveBlocks(view(pin).bytes)
    }

    /// The file of a pinned segment.
    func openedFile(of pin: Pin) throws(StorageError) -> OpenFile {
        let present = mapped.withLock { $0[pin.segment] }
        if let kept = present?.file { return kept.file }
        let file = try folder.file(named: SegmentHeader.fileName(pin.segment), writable: writable)
        guard let present, try file.status().isOfSameFile(as: present.status) else {
            throw .corrupted(path: file.path, offset: 0, reason: "another file has taken the segment's place")
        }
        return file
    }

    /// The file of a pinned segment whose bytes are to be brought to the medium; `nil` when it was reclaimed meanwhile:
    /// what was live in it was synced before.
    func fileToSynchronize(_ pin: Pin) throws(StorageError) -> OpenFile? {
        do throws(StorageError) {
            return try openedFile(of: pin)
        } catch {
            guard case .system(_, _, SystemCode.missing) = error else { throw error }
            return nil
        }
    }

    /// Removes the file of a segment; readers that have it pinned keep their bytes. Returns its size.
    func removeFile(of segment: UInt32) throws(StorageError) -> Int {
        let bytes = try fileBytes(of: segment)
        try folder.unlink(SegmentHeader.fileName(segment))
        return bytes
    }
}
