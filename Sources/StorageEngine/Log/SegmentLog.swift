import Synchronization

/// The archive's segments, each mapped into this process when needed. Bytes are read only while a segment is pinned. A pinned
/// segment stays mapped even after its file was removed (F7). A ``ChangingLog`` changes it.
final class SegmentLog: Sendable {
    let folder: FileDescriptor
    let identity: [UInt8]
    let writable: Bool
    let table: SegmentTable
    /// The mapped segments, by number. The mutex also serializes mapping and releasing.
    let mapped = GuardedReference(MappedSegments(by: <))
    let released = Guarded<[MappedSegment]>([])
    let hasReleased = Atomic<Bool>(false)
    /// The oldest segment that this process knows; older ones have been released.
    let knownOldest = Atomic<UInt32>(0)
    /// The segment that this process appends to; 0: none yet. Written while ``mapped`` is locked, which prevents its release.
    let appending = Atomic<UInt32>(0)
    /// Whether the folder was searched for segments after the log tail (OnDiskFormat, "Segment files").
    let hasSeenNumbers = Atomic<Bool>(false)
    /// The damaged segment that was searched last, so that the next search can continue.
    private let searched = Guarded<(segment: UInt32, search: FrameSearch)?>(nil)

    init(folder: FileDescriptor, identity: [UInt8], writable: Bool) throws(StorageError) {
        self.folder = folder
        self.identity = identity
        self.writable = writable
        table = try AddressPressure.relieved(SegmentTable(for: folder.path))
        AddressPressure.register(self)
    }

    deinit { AddressPressure.forget(self) }

    func path(of segment: UInt32) -> String { folder.path + "/" + SegmentHeader.fileName(segment) }

    func damage(of segment: UInt32, at offset: Int = 0, _ reason: String) -> StorageError {
        .corrupted(path: path(of: segment), offset: offset, reason: reason)
    }

    func damage(at location: Location, _ reason: String) -> StorageError {
        damage(of: location.segment, at: location.offset, reason)
    }

    func damagedEntry(at location: Location) -> StorageError {
        damage(at: location, "the entry fails its checksum")
    }

    struct Pin {
        let segment: UInt32
        let seed: UInt32
    }

    /// Pins a segment; `nil` if it isn't part of the log or, unlike ``SegmentLog/pinIfPresent(_:)``, can't be mapped now.
    @inline(__always) func pin(_ segment: UInt32) -> Pin? { pinIfMapped(segment) ?? pinSlowly(segment) }

    @inline(__always) private func pinIfMapped(_ segment: UInt32) -> Pin? {
        let slot = table[segment]
        slot.pointee.pins.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if let pin = pinIfNumbered(segment) { return pin }
        slot.pointee.pins.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        return nil
    }

    /// Like ``pin(_:)``, without counting a pin.
    @inline(__always) func pinIfNumbered(_ segment: UInt32) -> Pin? {
        let slot = table[segment]
        // Number 0 marks an empty slot and is no segment, but a damaged index may name it.
        guard segment != 0, slot.pointee.number.load(ordering: .acquiring) == segment else { return nil }
        return Pin(segment: segment, seed: slot.pointee.seed.load(ordering: .relaxed))
    }

    @inline(never) private func pinSlowly(_ segment: UInt32) -> Pin? {
        guard segment > 0, (try? map(segment)) != nil else { return nil }
        return pinIfMapped(segment)
    }

    /// Like ``SegmentLog/pin(_:)``, but `nil` means that the segment isn't part of the log; failing to open or map it throws.
    func pinIfPresent(_ segment: UInt32) throws(StorageError) -> Pin? {
        guard segment > 0 else { return nil }
        // Each failed round mapped the segment, but it was released for lack of addresses before it could be pinned.
        for _ in 0..<100 {
            if let pin = pinIfMapped(segment) { return pin }
            let mapped: Void? = try StorageError.nilIf(
                { $0.isMissing || $0.isUnreadableHeader }, map(segment))
            if mapped == nil { return nil }
        }
        throw AddressPressure.lack("keep a mapping of", path(of: segment))
    }

    @inline(__always) func unpin(_ pin: Pin) {
        table[pin.segment].pointee.pins.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }

    @inline(__always) func view(_ pin: Pin) -> SegmentView { SegmentView(pin, table[pin.segment]) }

    /// The frame at `offset`, with lengths checked but not its checksum. `nil` if absent, or unreadable now.
    @inline(__always) func frame(_ pin: Pin, at offset: Int) -> Frame? {
        view(pin).frame(at: offset) ?? frameAfterGrowth(pin, at: offset)
    }

    @inline(never) private func frameAfterGrowth(_ pin: Pin, at offset: Int) -> Frame? {
        guard (try? updateSize(pin)) != nil else { return nil }
        return view(pin).frame(at: offset)
    }

    /// The frame at `offset`; `nil` only if the file certainly has none there.
    func frameIfPresent(_ pin: Pin, at offset: Int) throws(StorageError) -> Frame? {
        if let frame = view(pin).frame(at: offset) { return frame }
        try updateSize(pin)
        return view(pin).frame(at: offset)
    }

    /// Like ``frameIfPresent(_:at:)`` with its segment pinned; the caller unpins it.
    func pinnedFrame(at location: Location) throws(StorageError) -> (Pin, Frame)? {
        guard let pin = try pinIfPresent(location.segment) else { return nil }
        let frame = try StorageError.rethrowing(after: { unpin(pin) }) { () throws(StorageError) in
            try frameIfPresent(pin, at: location.offset)
        }
        if let frame { return (pin, frame) }
        unpin(pin)
        return nil
    }

    func search(_ pin: Pin) throws(StorageError) -> FrameSearch {
        let file = try openedFile(of: pin)
        try updateSize(pin)
        return FrameSearch(file, segment: pin.segment, bytes: view(pin).bytes, segmentSeed: pin.seed)
    }

    /// Like ``search(_:)``, kept for the next call. Requires that the bytes up to `end` no longer change.
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

    func isSearched(_ pin: Pin) -> Bool { searched.withLock { $0?.segment == pin.segment } }

    /// Hints that the frame at this location will be read soon, or with `lines` its beginning. Requires no pin.
    @inline(__always) func prefetch(_ location: Location, lines: UInt = 4) {
        SegmentView.prefetch(table[location.segment], at: location.offset, lines: lines)
    }
}
