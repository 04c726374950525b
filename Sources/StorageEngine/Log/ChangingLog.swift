import CPlatform
import Synchronization

/// The archive's log for whoever may change it: only a section gives it, or who has the archive alone. So nothing is
/// appended, and no file is made or removed, without the archive's lock.
///
/// Invariants: bytes are written behind the committed head only, or over what a repair has kept elsewhere; what is mapped
/// for writing has blocks (F4); a segment's file goes after the index has said so, and its number is never used again (F7).
struct ChangingLog {
    let log: SegmentLog

    /// For as long as the section lasts.
    @inline(__always)
    init(_ section: borrowing ArchiveSection) { log = section.engine.log }

    /// For who has taken the archive's files, and keeps everybody else out.
    init(unshared log: SegmentLog) { self.log = log }

    // MARK: Bytes

    /// The bytes of a pinned segment, to be written.
    @inline(__always)
    func view(_ pin: SegmentLog.Pin) -> ChangingSegment { ChangingSegment(self, pin) }

    /// Makes everything from `offset` on read as never written, on the medium too, whatever the durability: of a batch that is
    /// written there next a power loss may leave what was there before, and only zeros tell that a part of it never came.
    func clearRemains(_ pin: SegmentLog.Pin, from offset: Int) throws(StorageError) {
        guard let first = log.view(pin).firstWritten(from: offset) else { return }
        // Its first word goes last: by it whoever comes after a death in between sees that there is something to clear.
        for start in [first + 8, first] {
            view(pin).blank(from: start)
            try log.fileToSynchronize(pin)?.synchronize(mapped: log.view(pin).mapped)
        }
    }

    // MARK: Files

    /// The newest segment while the archive's lock is held, when it is the one that this process appends to; `nil`
    /// otherwise (``mapNewest(_:room:)``). Counts nothing and must not be unpinned: while the lock is held it
    /// stays the newest, and isn't let go.
    @inline(__always)
    func newest(_ segment: UInt32) -> SegmentLog.Pin? {
        log.appending.load(ordering: .relaxed) == segment ? log.pinIfNumbered(segment) : nil
    }

    /// Whether a segment was begun and nothing was ever written behind its header.
    private func isLeftover(_ segment: UInt32) throws(StorageError) -> Bool {
        if try log.isUnwritten(segment) { return true }
        guard let pin = try log.pinIfPresent(segment) else { return false }
        defer { log.unpin(pin) }
        return try log.lengthProblem(of: segment) == nil && log.view(pin).isBlank(from: SegmentHeader.bytes)
    }

    /// Makes segment `number` with room for `bytes`, replacing a leftover of the same name, to be appended to. A file
    /// that holds anything is no leftover, and is kept aside. `room`: bytes that it may grow to.
    func create(_ number: UInt32, oldest: UInt32, bytes: Int, room: Int) throws(StorageError) {
        let name = SegmentHeader.fileName(number)
        if try log.folder.hasEntry(named: name) {
            if try isLeftover(number) {
                try log.folder.unlink(name)
            } else {
                _ = try DamagedFile.setAside(name, in: log.folder)
            }
        }
        let file = try log.folder.newFile(named: name)
        do throws(StorageError) {
            try file.extend(from: 0, to: bytes)
            crashPoint(.segmentBegun)
            try writeHeader(file, number, oldest: oldest)
            try AddressPressure.relieved { () throws(StorageError) in
                try log.locked { (mapped) throws(StorageError) in
                    try log.publish(number, file, bytes: bytes, room: room, &mapped)
                    beginAppending(to: number, file, &mapped)
                }
            }
        } catch {
            try? log.folder.unlink(name)
            throw error
        }
    }

    private func writeHeader(_ file: OpenFile, _ number: UInt32, oldest: UInt32) throws(StorageError) {
        let header = SegmentHeader(
            archive: log.identity, segment: number, oldest: oldest, created: Clock.wall())
        try file.write(header.encoded)
    }

    /// Gives a segment that is part of the log by its frames alone a header, before those are cleared: a file with neither is
    /// nobody's, and nothing could be appended to it.
    func completeHeader(_ pin: SegmentLog.Pin, oldest: UInt32) throws(StorageError) {
        do throws(StorageError) {
            try log.checkHeader(of: pin.segment)
        } catch {
            guard case .corrupted = error else { throw error }
            try writeHeader(log.openedFile(of: pin), pin.segment, oldest: oldest)
        }
    }

    /// Maps the newest segment to append to it.
    func mapNewest(_ segment: UInt32, room: Int) throws(StorageError) -> SegmentLog.Pin {
        guard let pin = try log.pinIfPresent(segment) else {
            throw .corrupted(path: log.path(of: segment), offset: 0, reason: "the newest segment is gone")
        }
        defer { log.unpin(pin) }
        let file = try log.openedFile(of: pin)
        // A copied file may have holes; on a full disk the others must not be asked for what they have.
        let bytes = log.view(pin).bytes
        if try file.status().allocatedBytes < bytes { try file.reserveBlocks(bytes) }
        try log.locked { (mapped) throws(StorageError) in beginAppending(to: segment, file, &mapped) }
        return pin
    }

    private func beginAppending(
        to segment: UInt32, _ file: OpenFile, _ mapped: inout [UInt32: MappedSegment]
    ) {
        let before = log.appending.exchange(segment, ordering: .relaxed)
        if before != segment { mapped[before]?.file = nil }
        mapped[segment]?.file = KeptFile(file)
    }

    /// Makes the file of a pinned segment at least `bytes` long, and maps that much of it.
    func extend(_ pin: SegmentLog.Pin, to bytes: Int) throws(StorageError) {
        guard log.view(pin).bytes < bytes else { return }
        let file = try log.openedFile(of: pin)
        // Another process may have made it longer, and written there.
        let present = try file.status().bytes
        if present < bytes { try file.extend(from: present, to: bytes) }
        _ = try AddressPressure.relieved { () throws(StorageError) in
            try log.locked { (mapped) throws(StorageError) in try log.learnSize(pin.segment, file, &mapped) }
        }
        guard log.view(pin).bytes >= bytes else {
            throw .corrupted(path: file.path, offset: 0, reason: "another file has taken the segment's place")
        }
    }

    /// Blocks behind every byte of a pinned segment: a copy of a store may have holes where there were zeros, and
    /// writing to one through the mapping on a full disk would be SIGBUS (F4).
    func reserveBlocks(_ pin: SegmentLog.Pin) throws(StorageError) {
        try log.openedFile(of: pin).reserveBlocks(log.view(pin).bytes)
    }

    /// Removes the file of a segment; readers that have it pinned keep their bytes. Returns its size.
    func removeFile(of segment: UInt32) throws(StorageError) -> Int {
        let bytes = try log.fileBytes(of: segment)
        try log.folder.unlink(SegmentHeader.fileName(segment))
        return bytes
    }
}
