import Synchronization

extension SegmentLog {
    /// Numbers of the segment files in the folder, ascending, without strays. Throws `corrupted` if a link, folder or pipe has a
    /// segment's name: the other segments alone must not count as the log (F9).
    func segmentNumbers() throws(StorageError) -> [UInt32] { try segmentNames().files(of: self) }

    struct SegmentNames {
        var numbers: [UInt32] = []
        /// Segments too far apart for one log, which its writers didn't create. A check reports them, a repair renames them.
        var strays: [UInt32] = []
        /// Numbers whose names belong to links, folders or pipes.
        fileprivate var noFiles: [UInt32] = []

        func files(of log: SegmentLog) throws(StorageError) -> [UInt32] {
            guard let number = noFiles.first(where: numbers.contains) else { return numbers }
            throw log.damage(
                of: number, "not a regular file; restore the segment, or run a repair to rename this")
        }
    }

    func segmentNames() throws(StorageError) -> SegmentNames {
        var names = SegmentNames()
        // Examines single files only if the file system doesn't report their kinds: a log may have thousands.
        var unknown: [UInt32] = []
        try folder.forEachName { name, isRegular in
            guard let number = SegmentHeader.number(ofFileName: name) else { return }
            names.numbers.append(number)
            if isRegular == nil { unknown.append(number) }
            if isRegular == false { names.noFiles.append(number) }
        }
        for number in unknown {
            let status = try folder.status(ofEntry: SegmentHeader.fileName(number))
            if let status, !status.isRegular { names.noFiles.append(number) }
        }
        names.numbers.sort()
        guard !SegmentLayout.isSpan(names.numbers) else { return names }
        let named = names.numbers
        names.numbers = []
        for number in named {
            if try isStray(number) { names.strays.append(number) } else { names.numbers.append(number) }
        }
        return names
    }

    private func isStray(_ number: UInt32) throws(StorageError) -> Bool {
        let name = SegmentHeader.fileName(number)
        guard let file = try folder.fileIfPresent(named: name, writable: false) else { return false }
        return try StorageError.nilIf(\.isUnreadableHeader, !header(of: file, number).isWithinReach) ?? false
    }

    static let strayReason =
        "its header claims an impossibly long log, and its number is far from the other segments"

    func strayProblem(_ number: UInt32) -> String {
        "\(path(of: number)): not part of the log (\(SegmentLog.strayReason)); a repair renames it"
    }

    /// The number of the next existing segment after `segment`; `last` if none exists before it.
    func nextSegment(after segment: UInt32, upTo last: UInt32) throws(StorageError) -> UInt32 {
        guard segment < last else { return last }
        // Segments of one log are never further apart, even if a damaged index claims so.
        var next = max(segment + 1, last - min(last, UInt32(SegmentLayout.slots)))
        while next < last {
            if try folder.hasEntry(named: SegmentHeader.fileName(next)) { break }
            next += 1
        }
        return next
    }

    func segment(before segment: UInt32, from first: UInt32) throws(StorageError) -> UInt32? {
        var number = segment
        while number > first, segment - number < UInt32(SegmentLayout.slots) {
            number -= 1
            if try folder.hasEntry(named: SegmentHeader.fileName(number)) { return number }
        }
        return nil
    }

    /// Whether ``highestSegment(above:in:)`` has searched and found none.
    var knowsNumbers: Bool { hasSeenNumbers.load(ordering: .relaxed) }

    /// The highest segment above `head`; `nil`: none. Searches once, because creators of later segments advance the log tail.
    func highestSegment(above head: UInt32, in numbers: [UInt32]? = nil) throws(StorageError) -> UInt32? {
        guard !knowsNumbers else { return nil }
        let numbers = if let numbers { numbers } else { try segmentNumbers() }
        for number in numbers.reversed() where number > head {
            if try holdsFrames(number) { return number }
        }
        hasSeenNumbers.store(true, ordering: .relaxed)
        return nil
    }

    private func header(of file: FileDescriptor, _ segment: UInt32) throws(StorageError) -> SegmentHeader {
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

    private func holdsFrames(_ file: FileDescriptor, _ segment: UInt32) throws(StorageError) -> Bool {
        try FrameSearch(file, archive: identity, segment: segment).findsFrame()
    }

    /// Throws unless the header is this archive's or, if it is damaged, an intact frame is, whose checksum includes the identity.
    func checkBelonging(_ file: FileDescriptor, _ segment: UInt32) throws(StorageError) {
        do throws(StorageError) {
            _ = try header(of: file, segment)
        } catch {
            guard error.isCorrupted, try holdsFrames(file, segment) else { throw error }
        }
    }

    /// Whether a segment's file, even without a valid header, contains frames of this archive; `false` if missing.
    func holdsFrames(_ segment: UInt32) throws(StorageError) -> Bool {
        let name = SegmentHeader.fileName(segment)
        guard let file = try folder.fileIfPresent(named: name, writable: false) else { return false }
        return try holdsFrames(file, segment)
    }

    /// The header of a segment's file. Throws `corrupted` if it isn't one of this archive.
    @discardableResult func checkHeader(of segment: UInt32) throws(StorageError) -> SegmentHeader {
        let file = try folder.file(named: SegmentHeader.fileName(segment), writable: false)
        return try header(of: file, segment)
    }

    /// Whether a segment was never written. `false` if it is missing, or if only pages of frames survived a power loss.
    func isUnwritten(_ segment: UInt32) throws(StorageError) -> Bool {
        guard try beginsBlank(segment) else { return false }
        return try holdsFrames(segment) == false
    }

    func beginsBlank(_ segment: UInt32) throws(StorageError) -> Bool {
        let name = SegmentHeader.fileName(segment)
        guard let file = try folder.fileIfPresent(named: name, writable: false) else { return false }
        return try file.read(atMost: SegmentHeader.bytes).allSatisfy { $0 == 0 }
    }

    func status(of segment: UInt32) throws(StorageError) -> FileDescriptor.Status? {
        try folder.status(ofEntry: SegmentHeader.fileName(segment))
    }

    /// The ranges of missing segments' numbers between these segments, given in order.
    func missing(among numbers: [UInt32]) throws(StorageError) -> [ClosedRange<UInt32>] {
        var missing: [ClosedRange<UInt32>] = []
        for (segment, next) in zip(numbers, numbers.dropFirst()) where next > segment + 1 {
            let end = UInt64(segment) + UInt64(try numbersTaken(by: segment, next: next))
            guard !SegmentLayout.isNext(next, afterNumbersTo: end, bytes: try fileBytes(of: next)) else {
                continue
            }
            missing.append(UInt32(end)...next - 1)
        }
        return missing
    }

    /// The count of numbers that a segment, not the newest, uses: by its file's size or, if that is ambiguous, by its frames.
    private func numbersTaken(by segment: UInt32, next: UInt32) throws(StorageError) -> Int {
        let bytes = try fileBytes(of: segment)
        let (least, most) = (SegmentLayout.slots(forBytes: bytes), SegmentLayout.slots(forFramesTo: bytes))
        guard least < most, Int(next - segment) >= most else { return least }
        // An unreadable segment isn't complete.
        let end = try StorageError.ignoring(\.isCorrupted) { () throws(StorageError) -> Int in
            guard let pin = try pinIfPresent(segment) else { return 0 }
            defer { unpin(pin) }
            return try scan(pin) { (_) in }.end
        }
        return max(least, SegmentLayout.slots(forFramesTo: end ?? 0))
    }

    /// Describes a segment that is missing, or whose header shows that it isn't part of the log.
    func unreadable(_ segment: UInt32) -> StorageError {
        do throws(StorageError) {
            try checkHeader(of: segment)
        } catch {
            if case .corrupted = error { return error }
        }
        return damage(of: segment, "the file is missing or can't be read")
    }

    func fileBytes(of segment: UInt32) throws(StorageError) -> Int { try status(of: segment)?.bytes ?? 0 }

    func openedFile(of pin: Pin) throws(StorageError) -> FileDescriptor {
        let present = mapped.withLock { $0[pin.segment] }
        if let kept = present?.file { return kept.file }
        let file = try folder.file(named: SegmentHeader.fileName(pin.segment), writable: writable)
        guard let present, try file.status().number == present.status.number else {
            throw .corrupted(path: file.path, offset: 0, reason: "another file replaced the segment")
        }
        return file
    }

    /// The file of a pinned segment for a sync; `nil` if the segment was reclaimed, which synced its live frames.
    func fileToSynchronize(_ pin: Pin) throws(StorageError) -> FileDescriptor? {
        try StorageError.nilIf(\.isMissing, openedFile(of: pin))
    }
}
