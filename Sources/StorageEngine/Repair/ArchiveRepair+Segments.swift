import CPlatform

/// Repairs the log: afterwards all its files belong to this archive, and its frames follow each other without gaps.
extension ArchiveRepair {
    /// Largest range that one frame covers. Larger ranges take several frames, so that no large buffer is needed.
    private static let mostVoidBytes = 16 << 20

    mutating func mendSegments(_ progress: (Double) -> Void) throws(StorageError) {
        let log = try SegmentLog(folder: folder, identity: identity, writable: true)
        try quarantineForeignSegments(log)
        let numbers = try log.segmentNames().numbers
        var oldest = numbers.first ?? 0
        let (dropped, removals, endsDamaged) = try readLog(log, numbers) { progress(0.5 * $0) }
        for (place, number) in numbers.enumerated() {
            progress(0.5 + 0.5 * Double(place) / Double(numbers.count))
            do throws(StorageError) {
                oldest = max(oldest, try log.checkHeader(of: number).oldest)
            } catch {
                guard case .corrupted(_, _, let reason) = error else { throw error }
                // A segment whose header was never written held nothing that was acknowledged.
                if number == numbers.last, try log.isUnwritten(number) { continue }
                guard try log.holdsFrames(number) else {
                    try quarantine(SegmentHeader.fileName(number), reason)
                    continue
                }
                try writeHeader(number, oldest: min(oldest, number), reason)
            }
            try giveOwnLength(log, number)
            try mendFrames(
                log, number, isNewest: number == numbers.last,
                shouldContinue: number != numbers.last || endsDamaged,
                without: dropped.filter { $0.first.segment == number }, removals: removals[number] ?? [:])
            // A segment is long only for a large first frame, which may have been cut off and cleared.
            try giveOwnLength(log, number)
        }
        try fillGaps(log, from: oldest)
    }

    /// Creates empty segments in place of missing ones, which a check reports.
    private mutating func fillGaps(_ log: SegmentLog, from oldest: UInt32) throws(StorageError) {
        let numbers = try log.segmentNames().numbers.filter { $0 >= oldest }
        let gaps = try log.missing(among: numbers)
        // After the gaps are filled, only the record of the loss shows that messages are missing.
        if !gaps.isEmpty, let evidence {
            try evidence.markReplaced(in: folder, evidence.lossBeforeRepair(gaps: gaps))
        }
        for missing in gaps {
            for number in missing {
                let header = SegmentHeader(
                    archive: identity, segment: number, oldest: oldest, created: Clock.wall())
                try newFile(SegmentHeader.fileName(number)) { (file) throws(StorageError) in
                    try file.extend(from: 0, to: SegmentLayout.reserveBytes)
                    try file.write(header.encoded)
                }
            }
            let text =
                missing.count == 1
                ? "the segment was missing; replaced by an empty one"
                : "this and the next \(missing.count - 1) segments were missing; replaced by empty ones"
            report("\(log.path(of: missing.lowerBound)): \(text). Older entries may be outdated")
        }
    }

    /// Creates and syncs a file; removes it if that fails.
    func newFile(
        _ name: String, _ write: (FileDescriptor) throws(StorageError) -> Void
    ) throws(StorageError) {
        let file = try folder.newFile(named: name)
        try StorageError.rethrowing(after: { try? folder.unlink(name) }) { () throws(StorageError) in
            try write(file)
            try file.synchronize()
        }
    }

    /// If segments are too far apart for one log, keeps those near its known end, or those with the most frame bytes.
    private mutating func quarantineForeignSegments(_ log: SegmentLog) throws(StorageError) {
        let names = try log.segmentNames()
        for stray in names.strays { try quarantine(SegmentHeader.fileName(stray), SegmentLog.strayReason) }
        let named = names.numbers
        guard !SegmentLayout.isSpan(named) else { return }
        var segments: [(number: UInt32, frameBytes: Int)] = []
        var oldest: UInt32 = 0
        for number in named {
            let name = SegmentHeader.fileName(number)
            guard let file = try folder.fileIfPresent(named: name, writable: false) else { continue }
            var frameBytes = 0
            _ = try FrameSearch(file, archive: identity, segment: number).scan {
                (item) throws(StorageError) in
                if case .frame(let frame, _) = item { frameBytes += frame.bytes }
            }
            let header = try StorageError.nilIf(\.isUnreadableHeader, log.checkHeader(of: number))
            oldest = max(oldest, header?.oldest ?? 0)
            // A file without header and frames belongs to no archive, and is moved away later.
            if header != nil || frameBytes > 0 { segments.append((number, frameBytes)) }
        }
        // Leftovers of removals may have any number.
        segments.removeAll { $0.number < oldest }
        let numbers = segments.map(\.number)
        guard !SegmentLayout.isSpan(numbers) else { return }
        let end = knownHead.map(\.segment).flatMap { numbers.contains($0) ? $0 : nil }
        var staying = (frameBytes: -1, numbers: numbers[..<1])
        var (first, sum) = (0, 0)
        for last in numbers.indices {
            sum += segments[last].frameBytes
            while !SegmentLayout.isSpan([numbers[first], numbers[last]]) {
                sum -= segments[first].frameBytes
                first += 1
            }
            guard sum > staying.frameBytes, end.map((numbers[first]...numbers[last]).contains) ?? true
            else { continue }
            staying = (sum, numbers[first...last])
        }
        for number in numbers where !staying.numbers.contains(number) {
            try quarantine(
                SegmentHeader.fileName(number),
                "its number is too far from the other segments, which have more of the archive"
            )
        }
    }

    /// Returns three results: the incomplete batches with removable frames; for each segment, the offsets of damaged frames that
    /// have an effect, with their kinds; and whether the log ends with a damaged batch that has an effect.
    private mutating func readLog(
        _ log: SegmentLog, _ numbers: [UInt32], _ progress: (Double) -> Void
    ) throws(StorageError) -> ([DroppedBatch], removals: [UInt32: [Int: FrameKind]], endsDamaged: Bool) {
        var reader = LogReader(log, kind: kind)
        var removals: [UInt32: [Int: FrameKind]] = [:]
        // In a collection, a damaged entry is deleted if an intact frame removes it.
        var removed: [Location: UInt32] = [:]
        func setKind(_ kind: FrameKind?, _ location: Location) {
            removals[location.segment, default: [:]][location.offset] = kind
        }
        var (damaged, batches): ([Location], [Location: Location]) = ([], [:])
        func note(_ frame: Frame, _ location: Location) {
            if frame.isDamaged {
                damaged.append(location)
                return setKind(kind == .cache ? frame.kind : .void, location)
            }
            if !damaged.isEmpty {
                let first = BatchPart(of: frame)?.first ?? .last
                for place in damaged where first <= place { batches[place] = first }
                damaged = []
            }
            guard kind == .collection, !removals.isEmpty else { return }
            let group = RemovalNote(of: frame)?.group ?? 0
            for place in frame.evictions where removals[place.segment]?[place.offset] == .void {
                setKind(.delete, place)
                removed[place] = group
            }
            guard frame.kind == .restore else { return }
            for (place, _) in removed.filter({ $0.value == group }) { setKind(.void, place) }
        }
        for (place, number) in numbers.enumerated() {
            progress(Double(place) / Double(numbers.count))
            guard let pin = try log.pinIfPresent(number) else { continue }
            defer { log.unpin(pin) }
            _ = try reader.read(pin, note)
        }
        let endsDamaged = reader.filter.damagedEnd != nil
        let cut = try reader.filter.endLog(note)
        self.batches = batches
        // A batch whose frames the index names had reached the medium, even if its bytes suggest otherwise now.
        let dropped = evidence?.unknown(of: reader.filter.dropped) ?? reader.filter.dropped
        return (dropped, removals, endsDamaged || cut != nil && dropped.last?.first != cut)
    }

    private mutating func quarantine(_ file: String, _ reason: String) throws(StorageError) {
        let bytes = try folder.status(ofEntry: file)?.bytes ?? 0
        let kept = try DamagedFile.quarantine(file, in: folder)
        report(
            "\(folder.path)/\(file): \(ArchiveRepair.whole(bytes))not part of the log (\(reason)); renamed to \(kept)"
        )
    }

    private mutating func writeHeader(
        _ number: UInt32, oldest: UInt32, _ reason: String
    ) throws(StorageError) {
        let file = try folder.file(named: SegmentHeader.fileName(number), writable: true)
        let keeper = try keep([(0, try file.read(atMost: SegmentHeader.bytes))], of: number)
        let header = SegmentHeader(archive: identity, segment: number, oldest: oldest, created: Clock.wall())
        try file.write(header.encoded)
        try file.synchronize()
        salvagedFrom[number] = 0
        report(
            "\(file.path): bytes 0 to \(SegmentHeader.bytes): header rewritten (\(reason)); "
                + "the old bytes are kept in \(keeper)")
    }

    /// Copies bytes to a new file at their original offsets; the gaps are holes.
    private func keep(_ parts: [(offset: Int, bytes: [UInt8])], of number: UInt32) throws(StorageError)
        -> String
    {
        let name = try DamagedFile.freeName(for: SegmentHeader.fileName(number), in: folder)
        try newFile(name) { (file) throws(StorageError) in
            for part in parts { try file.write(part.bytes, at: part.offset) }
        }
        return name
    }

    private mutating func mendFrames(
        _ log: SegmentLog, _ number: UInt32, isNewest: Bool, shouldContinue: Bool,
        without dropped: [DroppedBatch], removals: [Int: FrameKind]
    ) throws(StorageError) {
        guard let pin = try log.pinIfPresent(number) else {
            throw log.damage(of: number, "it can no longer be read")
        }
        defer { log.unpin(pin) }
        let segments = ChangingLog(unshared: log)
        var stretches: [Range<Int>] = []
        var removed: [(range: Range<Int>, keys: String)] = []
        var endsInBatch = false
        let result = try log.scan(pin) { (item) throws(StorageError) in
            switch item {
            case .damage(let range) where removals[range.lowerBound] != nil:
                removed.append((range, try MappedSegmentReader(log, pin).keys(inDamaged: range)))
            case .damage(let range): stretches.append(range)
            case .frame(let frame, _): endsInBatch = frame.isInBatch || frame.kind == .batch
            }
        }
        stretches = ArchiveRepair.united(stretches + dropped.map { $0.first.offset..<$0.end.offset })
        var tail = result.isBlankBehind ? nil : result.end..<log.view(pin).writtenEnd
        if shouldContinue, endsInBatch, tail != nil || isNewest {
            // Zeros would mean that the rest of the batch was never written, and end the batch.
            let rest = tail ?? result.end..<result.end
            let end = max(rest.upperBound, rest.lowerBound + Frame.headerBytes)
            // The file may have been cut off within a frame's header.
            if end > log.view(pin).bytes & ~7 { try segments.extend(pin, to: (end + 4095) & ~4095) }
            // A dropped batch may extend into this range.
            stretches = ArchiveRepair.united(
                stretches + [rest.lowerBound..<min(end, log.view(pin).bytes & ~7)])
            tail = nil
        }
        if isNewest, let knownHead, knownHead <= Location(segment: number, offset: result.end), tail != nil {
            // Clears the leftovers of an operation that was never acknowledged.
            try segments.clearRemains(pin, from: result.end)
            tail = nil
        }
        guard !stretches.isEmpty || !removed.isEmpty || tail != nil else { return }
        // Allocates all blocks, because a full disk must not interrupt writing through the mapping (F4).
        try segments.reserveBlocks(pin)
        let all = stretches + removed.map(\.range) + (tail.map { [$0] } ?? [])
        let file = try keep(all.map { ($0.lowerBound, log.view(pin).copy($0)) }, of: number)
        let kept = "the old bytes are kept in \(file)"
        for batch in dropped {
            report(
                "\(log.path(of: number)): the batch from byte \(batch.first.offset) on is incomplete and was never committed"
            )
        }
        if let first = (stretches + removed.map(\.range)).map(\.lowerBound).min() {
            salvagedFrom[number] = min(first, salvagedFrom[number] ?? .max)
        }
        for (range, keys) in removed {
            let isVoid = setKinds(removals, in: range, of: segments.view(pin), number)
            let done = isVoid ? "filled with an empty frame" : "replaced by a deletion\(keys)"
            report(range, of: log.path(of: number), "\(done); \(kept)")
        }
        for stretch in stretches {
            let isCovered = cover(stretch, segments, pin)
            let done = isCovered ? "filled with an empty frame; \(kept)" : "too short for a frame; unchanged"
            report(stretch, of: log.path(of: number), done)
        }
        if let tail {
            segments.view(pin).blank(from: tail.lowerBound)
            report(tail, of: log.path(of: number), "no entry follows; cleared; \(kept)")
        }
        try log.fileToSynchronize(pin)?.synchronize(mapped: log.view(pin).mapped)
    }

    private mutating func report(_ range: Range<Int>, of path: String, _ done: String) {
        report("\(path): bytes \(range.lowerBound) to \(range.upperBound): \(done)")
    }

    /// Gives the damaged frames of a range the kinds for which they count, and the batch to which they belong. Returns whether none
    /// of them has an effect.
    private func setKinds(
        _ kinds: [Int: FrameKind], in range: Range<Int>, of segment: ChangingSegment, _ number: UInt32
    ) -> Bool {
        var (offset, isVoid) = (range.lowerBound, true)
        while offset < range.upperBound, var kind = kinds[offset] {
            let place = Location(segment: number, offset: offset)
            // Intact frames of a batch count only behind frames of the batch.
            if batches[place] == place || !segment.setBatch(batches[place], at: offset) { kind = .void }
            offset += segment.setKind(kind, at: offset)
            isVoid = isVoid && kind == .void
        }
        return isVoid
    }

    private static func united(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var united: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = united.last, range.lowerBound <= last.upperBound {
                united[united.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                united.append(range)
            }
        }
        return united
    }

    /// Fills a range between two frames with frames without content. Returns `false` if the range is shorter than a frame.
    private func cover(_ stretch: Range<Int>, _ segments: ChangingLog, _ pin: SegmentLog.Pin) -> Bool {
        guard stretch.count >= Frame.headerBytes else { return false }
        let now = Clock.wall()
        var offset = stretch.lowerBound
        while offset < stretch.upperBound {
            let rest = stretch.upperBound - offset
            // The remaining bytes must be enough for another frame.
            let size =
                rest <= ArchiveRepair.mostVoidBytes ? rest : ArchiveRepair.mostVoidBytes - Frame.headerBytes
            let zeros = [UInt8](repeating: 0, count: size - Frame.headerBytes)
            zeros.withUnsafeBytes { value in
                segments.view(pin).write(
                    FrameContent(kind: .void, sequence: 0, recency: 0, time: now, created: now, value: value),
                    at: offset)
            }
            offset += size
        }
        return true
    }
}
