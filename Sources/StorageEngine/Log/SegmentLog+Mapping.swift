import Synchronization

struct MappedSegment {
    /// The latest range is last. Earlier ones became too short, but readers may still use them.
    var ranges: [MappedRange]
    /// Identifies the file: another one under the same name is not this segment.
    let status: FileDescriptor.Status
    var file: KeptFile?
}

typealias MappedSegments = OrderedTable<UInt32, MappedSegment>

/// A mapping is as long as its file, or as the file may soon grow. Even a too long file never extends into another segment.
extension SegmentLog {
    func map(_ segment: UInt32) throws(StorageError) {
        try AddressPressure.relievedEarly(
            mapped.withLock { (mapped) throws(StorageError) in
                guard table[segment].pointee.number.load(ordering: .relaxed) != segment else { return }
                let file = try folder.file(named: SegmentHeader.fileName(segment), writable: writable)
                try checkBelonging(file, segment)
                let bytes = try SegmentLayout.usableBytes(file, file.status().bytes)
                try publish(segment, file, bytes: bytes, capacity: 0, &mapped)
            })
    }

    /// `bytes`: size of the segment's part of the file. `capacity`: size to which the file may soon grow.
    func publish(
        _ segment: UInt32, _ file: FileDescriptor, bytes: Int, capacity: Int, _ mapped: inout MappedSegments
    ) throws(StorageError) {
        let slot = table[segment]
        let present = slot.pointee.number.load(ordering: .relaxed)
        guard present == 0 || release(present, &mapped) else {
            throw .busy(archive: folder.path, process: 0, reason: "a reader still uses segment \(present)")
        }
        let status = try file.status()
        let range = try MappedRange.spanning(capacity, file, bytes: bytes, writable: writable)
        mapped[segment] = MappedSegment(ranges: [range], status: status, file: nil)
        slot.pointee.base.store(UInt(bitPattern: range.base), ordering: .relaxed)
        slot.pointee.bytes.store(bytes, ordering: .relaxed)
        slot.pointee.seed.store(SegmentHeader.seed(archive: identity, segment: segment), ordering: .relaxed)
        slot.pointee.number.store(segment, ordering: .releasing)
    }

    /// Maps bytes that another process has appended to a pinned segment; `false` if its file was unlinked, so growth can't be seen.
    @discardableResult func updateSize(_ pin: Pin) throws(StorageError) -> Bool {
        try AddressPressure.relieved(
            mapped.withLock { (mapped) throws(StorageError) in try updateSize(pin.segment, nil, &mapped) })
    }

    @discardableResult func updateSize(
        _ segment: UInt32, _ known: FileDescriptor?, _ mapped: inout MappedSegments
    ) throws(StorageError) -> Bool {
        guard let present = mapped[segment], let range = present.ranges.last else { return false }
        let name = SegmentHeader.fileName(segment)
        let slot = table[segment]
        let before = slot.pointee.bytes.load(ordering: .relaxed)
        let found: FileDescriptor.Status?
        if let known { found = try known.status() } else { found = try folder.status(ofEntry: name) }
        guard let status = found, status.number == present.status.number else { return false }
        guard status.bytes != before else { return true }
        if status.bytes <= range.bytes, status.bytes <= SegmentLayout.strideBytes {
            slot.pointee.bytes.store(status.bytes, ordering: .releasing)
            return true
        }
        var opened = known
        if opened == nil { opened = try folder.fileIfPresent(named: name, writable: writable) }
        guard let file = opened, try file.status().number == status.number else { return false }
        let bytes = try SegmentLayout.usableBytes(file, status.bytes)
        if bytes > range.bytes {
            let next = try MappedRange.spanning(2 * range.bytes, file, bytes: bytes, writable: writable)
            mapped[segment]?.ranges.append(next)
            slot.pointee.base.store(UInt(bitPattern: next.base), ordering: .relaxed)
        }
        slot.pointee.bytes.store(bytes, ordering: .releasing)
        return true
    }

    func lengthProblem(of segment: UInt32) throws(StorageError) -> String? {
        let name = SegmentHeader.fileName(segment)
        guard let bytes = try folder.status(ofEntry: name)?.bytes,
            bytes > SegmentLayout.strideBytes || bytes % SegmentLayout.blockBytes != 0,
            let file = try folder.fileIfPresent(named: name, writable: false)
        else { return nil }
        let usable = try SegmentLayout.usableBytes(file, bytes)
        let beginning = "\(path(of: segment)): \(bytes) bytes long, "
        if bytes > usable { return beginning + "of which a segment can have at most the first \(usable)" }
        let block = SegmentLayout.blockBytes
        guard bytes % block != 0 else { return nil }
        return beginning + "not a multiple of \(block) like every segment's file: its end is missing"
    }

    /// Removes a segment from the table unless a reader has it pinned; ``unmapReleased(most:)`` unmaps it.
    private func release(_ segment: UInt32, _ mapped: inout MappedSegments) -> Bool {
        let slot = table[segment]
        let (isMine, _) = slot.pointee.number.compareExchange(
            expected: segment, desired: 0, ordering: .sequentiallyConsistent)
        guard isMine else { return true }
        // A reader adds its pin before it reads the number, so either it reads 0 or its pin is seen here.
        guard slot.pointee.pins.load(ordering: .sequentiallyConsistent) == 0 else {
            slot.pointee.number.store(segment, ordering: .releasing)
            return false
        }
        if let removed = mapped.removeValue(forKey: segment) {
            released.withLock { $0.append(removed) }
            hasReleased.store(true, ordering: .releasing)
        }
        return true
    }

    /// Unmaps at most `most` released segments. The last unmapping of a removed file waits until its pages have been written,
    /// maybe seconds. Must not be called with the archive's lock held, unless memory, addresses or disk space have run out.
    @inline(__always) func unmapReleased(most: Int = .max) {
        if hasReleased.load(ordering: .relaxed) { unmapSlowly(most) }
    }

    @inline(never) private func unmapSlowly(_ most: Int) {
        let ranges = released.withLock { released in
            let ranges = Array(released.prefix(most))
            released.removeFirst(ranges.count)
            if released.isEmpty { hasReleased.store(false, ordering: .releasing) }
            return ranges
        }
        // Unmaps after the mutex has been released.
        _ = consume ranges
    }

    /// Releases segments before `oldest`, so that their disk space can be reused once they are unmapped.
    @inline(__always) func releaseSegments(before oldest: UInt32) {
        if knownOldest.load(ordering: .relaxed) != oldest { releaseSlowly(before: oldest) }
    }

    @inline(never) private func releaseSlowly(before oldest: UInt32) {
        mapped.withLock { mapped in
            var complete = true
            for segment in mapped.keys.filter({ $0 < oldest }) where !release(segment, &mapped) {
                complete = false
            }
            if complete { knownOldest.store(oldest, ordering: .relaxed) }
        }
    }

    /// Releases all segments that no thread is reading, except the one that is appended to, which has no pin.
    func releaseUnused() {
        mapped.withLock { mapped in
            let used = appending.load(ordering: .relaxed)
            for segment in mapped.keys where segment != used { _ = release(segment, &mapped) }
        }
        unmapReleased()
    }
}
