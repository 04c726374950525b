import CPlatform
import Synchronization

/// The segments' files: which there are, and what they are. Making, growing and removing them: ``ChangingLog``.
extension SegmentLog {
    /// Numbers of the segment files in the folder, ascending, without strays.
    /// - Throws: `corrupted` where a link, a folder or a pipe has a segment's name: what was in the segment is elsewhere, and
    ///   a log without it would be taken for all there is (F9).
    func segmentNumbers() throws(StorageError) -> [UInt32] { try segmentNames().files(of: self) }

    /// The numbers that the folder has names of segments for.
    struct SegmentNames {
        /// Ascending, without strays.
        var numbers: [UInt32] = []
        /// Of segments that lie further apart than those of one log, the ones that no writer made: by their own headers
        /// their log begins further back than any log reaches. The log is without them; a check names them, a repair
        /// moves them away.
        var strays: [UInt32] = []
        /// What has these names are links, folders or pipes.
        fileprivate var noFiles: [UInt32] = []

        /// The numbers, as ``SegmentLog/segmentNumbers()`` has them.
        func files(of log: SegmentLog) throws(StorageError) -> [UInt32] {
            guard let number = noFiles.first(where: numbers.contains) else { return numbers }
            throw .corrupted(
                path: log.path(of: number), offset: 0,
                reason: "not a regular file; put the segment back, or have a repair move this out of the way")
        }
    }

    /// The names in the folder, whatever has them.
    func segmentNames() throws(StorageError) -> SegmentNames {
        var names = SegmentNames()
        // Without a look at each file, of which a log may have thousands, as long as the file system says what they are.
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
        do throws(StorageError) {
            return try header(of: file, number).isWithinReach == false
        } catch {
            // What is damaged or another's is none for that.
            switch error {
            case .corrupted, .unsupportedVersion: return false
            default: throw error
            }
        }
    }

    /// Why a stray is no part of the log.
    static let strayReason =
        "by its header its log is longer than any can be, and it lies far from the other segments"

    /// What a check and a rebuild say of a stray.
    func strayProblem(_ number: UInt32) -> String {
        "\(path(of: number)): no part of the log (\(SegmentLog.strayReason)); a repair moves it away"
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

    /// Whether ``highestSegment(above:)`` has looked, and found none.
    var knowsNumbers: Bool { hasSeenNumbers.load(ordering: .relaxed) }

    /// The highest number above `head` that a segment of this archive has: none, as long as the index knows the whole
    /// log. Looks once, since later ones are made under the archive's lock, and their maker moves the head.
    func highestSegment(above head: UInt32) throws(StorageError) -> UInt32? {
        guard !knowsNumbers else { return nil }
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
    /// checksum, which is seeded with identity and number: one bad byte must not cost a whole segment.
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
        guard try beginsBlank(segment) else { return false }
        return try holdsFrames(segment) == false
    }

    /// Whether there are zeros where a segment's header would be. `false` also when it has gone.
    func beginsBlank(_ segment: UInt32) throws(StorageError) -> Bool {
        let name = SegmentHeader.fileName(segment)
        guard let file = try folder.fileIfPresent(named: name, writable: false) else { return false }
        return try file.read(atMost: SegmentHeader.bytes).allSatisfy { $0 == 0 }
    }

    /// Bytes of a segment's file; 0 when it has gone.
    func fileBytes(of segment: UInt32) throws(StorageError) -> Int {
        try folder.status(ofEntry: SegmentHeader.fileName(segment))?.bytes ?? 0
    }

    /// The file of a pinned segment.
    func openedFile(of pin: Pin) throws(StorageError) -> OpenFile {
        let present = mapped.withLock { $0[pin.segment] }
        if let kept = present?.file { return kept.file }
        let file = try folder.file(named: SegmentHeader.fileName(pin.segment), writable: writable)
        guard let present, try file.status().number == present.status.number else {
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
}
