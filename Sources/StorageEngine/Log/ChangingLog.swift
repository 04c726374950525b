import Synchronization

/// The archive's log with the right to change it, which only a write lock guard or the only user has. Invariants: bytes are
/// written only after the committed log tail, or where a repair has saved them; mappings for writing have blocks (F4); a
/// segment's file is removed after the index has dropped it, and its number is never reused (F7).
struct ChangingLog {
    let log: SegmentLog

    /// Used by the write lock guard only.
    @inline(__always) init(locked log: SegmentLog) { self.log = log }

    /// Requires that the caller has exclusive use of the archive's files.
    init(unshared log: SegmentLog) { self.log = log }

    @inline(__always) func view(_ pin: SegmentLog.Pin) -> ChangingSegment { ChangingSegment(self, pin) }

    /// Zeroes and syncs all bytes from `offset` on: after a power loss, old bytes could be read as a part of the next batch.
    func clearRemains(_ pin: SegmentLog.Pin, from offset: Int) throws(StorageError) {
        guard let first = log.view(pin).firstWritten(from: offset) else { return }
        // Clears the first word last: after a crash in between it shows that some bytes are still to be cleared.
        for start in [first + 8, first] {
            view(pin).blank(from: start)
            try log.fileToSynchronize(pin)?.synchronize(mapped: log.view(pin).mapped)
        }
    }

    /// The newest segment if this process appends to it (``mapNewest(_:capacity:)``). The lock serves as its pin.
    @inline(__always) func newest(_ segment: UInt32) -> SegmentLog.Pin? {
        log.appending.load(ordering: .relaxed) == segment ? log.pinIfNumbered(segment) : nil
    }

    private func isLeftover(_ segment: UInt32) throws(StorageError) -> Bool {
        if try log.isUnwritten(segment) { return true }
        guard let pin = try log.pinIfPresent(segment) else { return false }
        defer { log.unpin(pin) }
        return try log.lengthProblem(of: segment) == nil && log.view(pin).isBlank(from: SegmentHeader.bytes)
    }

    /// Creates segment `number` of `bytes`, with addresses for `capacity` bytes. Replaces an empty leftover, renames a used one.
    func create(_ number: UInt32, oldest: UInt32, bytes: Int, capacity: Int) throws(StorageError) {
        let name = SegmentHeader.fileName(number)
        if try log.folder.hasEntry(named: name) {
            if try isLeftover(number) {
                try log.folder.unlink(name)
            } else {
                _ = try DamagedFile.quarantine(name, in: log.folder)
            }
        }
        let file = try log.folder.newFile(named: name)
        try StorageError.rethrowing(after: { try? log.folder.unlink(name) }) { () throws(StorageError) in
            try file.extend(from: 0, to: bytes)
            crashPoint(.segmentBegun)
            try writeHeader(file, number, oldest: oldest)
            try AddressPressure.relieved(
                log.mapped.withLock { (mapped) throws(StorageError) in
                    try log.publish(number, file, bytes: bytes, capacity: capacity, &mapped)
                    beginAppending(to: number, file, &mapped)
                })
        }
    }

    private func writeHeader(_ file: FileDescriptor, _ number: UInt32, oldest: UInt32) throws(StorageError) {
        let header = SegmentHeader(
            archive: log.identity, segment: number, oldest: oldest, created: Clock.wall())
        try file.write(header.encoded)
    }

    /// Writes a header for a segment that only its frames identify, before those frames are cleared.
    func completeHeader(_ pin: SegmentLog.Pin, oldest: UInt32) throws(StorageError) {
        let header = try StorageError.nilIf(\.isCorrupted, log.checkHeader(of: pin.segment))
        if header == nil { try writeHeader(log.openedFile(of: pin), pin.segment, oldest: oldest) }
    }

    func mapNewest(_ segment: UInt32, capacity: Int) throws(StorageError) -> SegmentLog.Pin {
        guard let pin = try log.pinIfPresent(segment) else {
            throw log.damage(of: segment, "the newest segment is missing")
        }
        defer { log.unpin(pin) }
        let file = try log.openedFile(of: pin)
        // A copied file may have holes. Files without holes reserve nothing here: on a full disk that could fail.
        let bytes = log.view(pin).bytes
        if try file.status().allocatedBytes < bytes { try file.reserveBlocks(bytes) }
        log.mapped.withLock { beginAppending(to: segment, file, &$0) }
        return pin
    }

    private func beginAppending(to segment: UInt32, _ file: FileDescriptor, _ mapped: inout MappedSegments) {
        let before = log.appending.exchange(segment, ordering: .relaxed)
        if before != segment { mapped[before]?.file = nil }
        mapped[segment]?.file = KeptFile(file)
    }

    /// Makes the file of a pinned segment at least `bytes` long, and maps it to that length.
    func extend(_ pin: SegmentLog.Pin, to bytes: Int) throws(StorageError) {
        guard log.view(pin).bytes < bytes else { return }
        let file = try log.openedFile(of: pin)
        // Another process may have extended the file and written there.
        let present = try file.status().bytes
        if present < bytes { try file.extend(from: present, to: bytes) }
        _ = try AddressPressure.relieved(
            log.mapped.withLock { (mapped) throws(StorageError) in
                try log.updateSize(pin.segment, file, &mapped)
            })
        guard log.view(pin).bytes >= bytes else {
            throw .corrupted(path: file.path, offset: 0, reason: "another file replaced the segment")
        }
    }

    /// Allocates blocks for a pinned segment. A copied store may have holes, where a write could raise SIGBUS (F4).
    func reserveBlocks(_ pin: SegmentLog.Pin) throws(StorageError) {
        try log.openedFile(of: pin).reserveBlocks(log.view(pin).bytes)
    }

    /// Removes a segment's file, and returns its size in bytes; 0 if it was missing. Pinned bytes stay readable.
    @discardableResult func removeFile(of segment: UInt32) throws(StorageError) -> Int {
        let bytes = try log.fileBytes(of: segment)
        try log.folder.unlink(SegmentHeader.fileName(segment))
        return bytes
    }
}
