extension ArchiveEngine {
    /// Every frame of the log against its checksum, and the index against what the log says.
    ///
    /// It takes no lock, so a live archive changes meanwhile: an entry is held against the index only if the
    /// log's last word on its key is older than the check. A segment that is reclaimed meanwhile is no loss:
    /// what was live in it has been copied to a younger one, which is read later.
    private struct LastWord {
        var location: Location
        var valueBytes: Int
        /// Where the log says so: a put, or what removed it.
        var said: Location
        var isRemoved: Bool
    }

    func check() throws(StorageError) -> CheckReport {
        let begin = head
        let references = liveReferences()
        let totals = (entryCount, valueBytes)
        let end = head
        let oldest = oldestSegment
        var words: [[UInt8]: LastWord] = [:]
        var keyOfLocation: [Location: [UInt8]] = [:]
        var findings = ReplayFindings()
        for number in try log.segmentNumbers() {
            if let problem = foreignSegment(number, newest: end.segment) { findings.note(problem) }
            guard number >= oldest, let pin = try log.pinIfPresent(number) else { continue }
            defer { log.unpin(pin) }
            try log.learnSize(pin)
            let result = try log.scan(pin, from: SegmentHeader.bytes) { (item) throws(StorageError) in
                switch item {
                case .frame(let frame, let location):
                    // Frames behind `end` too: what they say may be in the index already.
                    note(frame, location, &words, &keyOfLocation)
                case .damage(let from, let to):
                    guard Location(segment: number, offset: from) < end else { return }
                    findings.note("\(log.path(of: number)): bytes \(from) to \(to) hold no valid entry")
                }
            }
            if !result.isBlankBehind, Location(segment: number, offset: result.end) < end {
                findings.note("\(log.path(of: number)): no valid entry from byte \(result.end) on")
            }
        }
        // Segments that were reclaimed meanwhile said things that are no longer known: what was live in them
        // has been copied, perhaps to a segment that is younger than this check.
        let reclaimed = oldestSegment
        words = words.filter { $0.value.location.segment >= reclaimed }
        compare(references.filter { $0.location.segment >= reclaimed }, words, begin: begin, &findings)
        let live = words.values.filter { !$0.isRemoved }
        let bytes = live.reduce(UInt64(0)) { $0 + UInt64($1.valueBytes) }
        // Nobody is in the middle of a change, and whoever was has moved the head: the totals hold still.
        let isQuiet = index.word64(IndexLayout.sectionOwnerOffset) == 0 && head == begin
        if isQuiet, totals != (live.count, bytes), findings.damaged == 0 {
            findings.note(
                "the index counts \(totals.0) entries of \(totals.1) bytes, the log \(live.count) of \(bytes)"
            )
        }
        return CheckReport(
            entries: isQuiet ? live.count : totals.0, valueBytes: isQuiet ? bytes : totals.1,
            damaged: findings.damaged, salvaged: 0, problems: findings.problems)
    }

    /// What is wrong with a segment file whose header isn't one of this archive's.
    private func foreignSegment(_ number: UInt32, newest: UInt32) -> String? {
        do throws(StorageError) {
            try log.checkHeader(of: number)
            return nil
        } catch {
            // Gone meanwhile, or just being made.
            guard case .corrupted = error, number <= newest || !log.isUnwritten(number) else { return nil }
            return error.description
        }
    }

    private func note(
        _ frame: Frame, _ location: Location, _ words: inout [[UInt8]: LastWord],
        _ keyOfLocation: inout [Location: [UInt8]]
    ) {
        for evicted in FrameExtension.evictions(of: frame) {
            guard let key = keyOfLocation[evicted], words[key]?.location == evicted else { continue }
            words[key]?.isRemoved = true
            words[key]?.said = location
        }
        let key = Array(frame.key)
        switch frame.kind {
        case .put, .move:
            words[key] = LastWord(
                location: location, valueBytes: frame.valueBytes, said: location, isRemoved: false)
            keyOfLocation[location] = key
        case .delete:
            words[key]?.isRemoved = true
            words[key]?.said = location
        case .deleteAll:
            for key in words.keys {
                words[key]?.isRemoved = true
                words[key]?.said = location
            }
        case .evict, nil:
            break
        }
    }

    private func compare(
        _ references: [EntryReference], _ words: [[UInt8]: LastWord], begin: Location,
        _ findings: inout ReplayFindings
    ) {
        var expected: [Location: Int] = [:]
        for word in words.values where !word.isRemoved && word.said < begin {
            expected[word.location] = word.valueBytes
        }
        let changedSince = Set(words.values.filter { $0.said >= begin }.map(\.location))
        for reference in references {
            if let bytes = expected.removeValue(forKey: reference.location) {
                if bytes != Int(reference.valueBytes) {
                    findings.note(
                        "the index says \(reference.valueBytes) bytes for the entry at \(describe(reference.location)), the log \(bytes)"
                    )
                }
            } else if reference.location < begin, !changedSince.contains(reference.location) {
                // Its key's last word may be a later one that names another place.
                let key = withFrame(at: reference.location) { Array($0.key) }
                if key == nil, reference.location.segment < oldestSegment { continue }
                if let key, let word = words[key], word.said >= begin { continue }
                findings.note(
                    "the index names an entry at \(describe(reference.location)) that the log does not have")
            }
        }
        for location in expected.keys {
            findings.note("the index does not have the entry at \(describe(location))")
        }
    }

    private func describe(_ location: Location) -> String {
        "byte \(location.offset) of \(SegmentHeader.fileName(location.segment))"
    }
}
