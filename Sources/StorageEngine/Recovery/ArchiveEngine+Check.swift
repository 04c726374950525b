extension ArchiveEngine {
    /// Every frame of the log against its checksum, and the index against what the log says.
    ///
    /// It takes no lock, so a live archive changes meanwhile: an entry is held against the index only if the
    /// log's last word on its key is older than the check. A segment that is reclaimed meanwhile is no loss:
    /// what was live in it has been copied to a younger one, which is read later.
    ///
    /// Keys are remembered by their 64-bit hash: some 100 bytes an entry, however long the keys are.
    private struct LastWord {
        var location: Location
        var valueBytes: UInt32
        /// Whether the log said so (a put, or what removed it) since the check began.
        var isNew: Bool
        var isRemoved: Bool
        /// Whether the index has been found to say the same.
        var isMet = false
    }

    private struct LogWords {
        var last: [UInt64: LastWord] = [:]
        /// What each reversible action removed: a key may be with several of them.
        var setAside: [UInt32: [UInt64: LastWord]] = [:]
    }

    func check() throws(StorageError) -> CheckReport {
        let begin = head
        let all = try liveReferences(all: true)
        let references = all.filter { $0.tier != .memory }
        let totals = (entryCount - (all.count - references.count), valueBytes)
        let end = head
        let oldest = oldestSegment
        var said = LogWords()
        said.last.reserveCapacity(references.count)
        var findings = ReplayFindings()
        for name in try Obstacle.all(in: folder) {
            findings.note(
                Obstacle.description(name, in: folder) + "; the archive can't be opened for writing")
        }
        if let loss = index.loss { findings.note(loss.description(in: folder)) }
        let numbers = try log.segmentNumbers()
        for number in missingSegments(numbers, before: begin.segment) {
            findings.note("\(log.path(of: number)): the segment is gone")
        }
        for number in numbers {
            if let problem = try foreignSegment(number, newest: end.segment) { findings.note(problem) }
            guard number >= oldest, let pin = try log.pinIfPresent(number) else { continue }
            defer { log.unpin(pin) }
            if let excess = try log.excess(of: number) { findings.note(excess.description) }
            let result = try log.scan(pin, from: SegmentHeader.bytes) { (item) throws(StorageError) in
                switch item {
                case .frame(let frame, let location):
                    // Frames behind `end` too: what they say may be in the index already.
                    try note(frame, location, isNew: location >= begin, &said)
                case .damage(let from, let to):
                    guard Location(segment: number, offset: from) < end else { return }
                    findings.note("\(log.path(of: number)): bytes \(from) to \(to) hold no valid entry")
                }
            }
            // Blank bytes before the head were written and are no more.
            if !result.isBlankBehind || number == end.segment,
                Location(segment: number, offset: result.end) < end
            {
                findings.note("\(log.path(of: number)): no valid entry from byte \(result.end) on")
            }
        }
        // Segments that were reclaimed meanwhile said things that are no longer known: what was live in them
        // has been copied, perhaps to a segment that is younger than this check.
        let reclaimed = oldestSegment
        var words = said.last
        if kind == .log {
            words = words.filter { $0.value.location >= firstMessage }
        } else {
            try compare(references, reclaimed: reclaimed, begin: begin, &words, &findings)
        }
        var live = (count: 0, bytes: UInt64(0))
        for word in words.values where !word.isRemoved && word.location.segment >= reclaimed {
            live.count += 1
            live.bytes += UInt64(word.valueBytes)
        }
        // Nobody is in the middle of a change, and whoever was has moved the head: the totals hold still.
        let isQuiet = index.word64(IndexLayout.sectionOwnerOffset) == 0 && head == begin
        if isQuiet, totals != live, findings.damaged == 0 {
            findings.note(
                "the index counts \(totals.0) entries of \(totals.1) bytes, the log \(live.count) of \(live.bytes)"
            )
        }
        return CheckReport(
            entries: isQuiet ? live.count : totals.0, valueBytes: isQuiet ? live.bytes : totals.1,
            damaged: findings.damaged, salvaged: 0, problems: findings.problems)
    }

    /// Segments that the index knows of, older than the newest, and that are not there. (Without its newest the index
    /// would not be trusted.)
    private func missingSegments(_ numbers: [UInt32], before newest: UInt32) -> [UInt32] {
        let present = Set(numbers)
        let oldest = oldestSegment
        guard oldest > 0, oldest < newest, newest - oldest < UInt32(SegmentLayout.slots) else { return [] }
        return (oldest..<newest).filter {
            guard !present.contains($0) else { return false }
            let isKnown = $0 == oldest || index.liveFrames(ofSegment: $0) >> IndexLayout.liveCountShift != 0
            // Reclaimed meanwhile, it is no loss: then a younger one is the oldest.
            return isKnown && $0 >= oldestSegment
        }
    }

    /// What is wrong with a segment file whose header isn't one of this archive's.
    private func foreignSegment(_ number: UInt32, newest: UInt32) throws(StorageError) -> String? {
        var looks = 0
        while true {
            looks += 1
            do throws(StorageError) {
                try log.checkHeader(of: number)
                return nil
            } catch {
                // Gone meanwhile.
                if case .system(_, _, SystemCode.missing) = error { return nil }
                guard case .corrupted = error else { throw error }
                guard number > newest, looks < 100 else { return error.description }
                // Just being made; and if its header has been written since the first look, the next will tell.
                if try log.isUnwritten(number) { return nil }
            }
        }
    }

    private func note(
        _ frame: Frame, _ location: Location, isNew: Bool, _ words: inout LogWords
    ) throws(StorageError) {
        guard isMeant(frame) else { return }
        let group = RemovalNote(of: frame)?.group ?? 0
        for evicted in FrameExtension.evictions(of: frame) {
            // Its segment may be gone, and the entry with it.
            guard let key = try withFrameIfPresent(at: evicted, { hash($0.key) }), let word = words.last[key],
                word.location == evicted, !word.isRemoved
            else { continue }
            if group != 0 { words.setAside[group, default: [:]][key] = word }
            remove(key, isNew: isNew, &words)
        }
        switch frame.kind {
        case .put, .move:
            words.last[hash(frame.key)] = LastWord(
                location: location, valueBytes: UInt32(frame.valueBytes), isNew: isNew, isRemoved: false)
        case .delete:
            remove(hash(frame.key), isNew: isNew, &words)
        case .deleteAll:
            words.setAside = [:]
            if isNew {
                for key in Array(words.last.keys) { remove(key, isNew: true, &words) }
            } else {
                words.last.removeAll(keepingCapacity: true)
            }
        case .resident:
            // On disk it is gone; whether the process that holds it lives, only the index knows.
            remove(hash(frame.key), isNew: isNew, &words)
        case .kept:
            guard group != 0 else { break }
            words.setAside[group, default: [:]][hash(frame.key)] = LastWord(
                location: location, valueBytes: UInt32(frame.valueBytes), isNew: isNew, isRemoved: false)
        case .restore:
            for (key, word) in words.setAside.removeValue(forKey: group) ?? [:]
            where words.last[key]?.isRemoved ?? true {
                words.last[key] = word
                words.last[key]?.isNew = isNew
            }
        case .message:
            words.last[location.raw] = LastWord(
                location: location, valueBytes: UInt32(frame.valueBytes), isNew: isNew, isRemoved: false)
        case .deadline, .evict, .void, nil:
            break
        }
    }

    /// What was removed before the check began is of no interest any more.
    private func remove(_ key: UInt64, isNew: Bool, _ words: inout LogWords) {
        if isNew {
            words.last[key]?.isRemoved = true
            words.last[key]?.isNew = true
        } else {
            words.last[key] = nil
        }
    }

    private func compare(
        _ references: [EntryReference], reclaimed: UInt32, begin: Location, _ words: inout [UInt64: LastWord],
        _ findings: inout ReplayFindings
    ) throws(StorageError) {
        for reference in references where reference.location.segment >= reclaimed {
            let key = try withFrameIfPresent(at: reference.location) { hash($0.key) }
            guard let key, let word = words[key], word.location == reference.location else {
                if reference.location >= begin { continue }
                // Its key's last word may be a later one that names another place.
                if let key, let word = words[key], word.isNew { continue }
                if key == nil, reference.location.segment < oldestSegment { continue }
                findings.note(
                    "the index names an entry at \(describe(reference.location)) that the log does not have")
                continue
            }
            words[key]?.isMet = true
            if !word.isNew, word.valueBytes != reference.valueBytes {
                findings.note(
                    "the index says \(reference.valueBytes) bytes for the entry at \(describe(reference.location)), the log \(word.valueBytes)"
                )
            }
        }
        for word in words.values
        where !word.isMet && !word.isRemoved && !word.isNew && word.location.segment >= reclaimed {
            findings.note("the index does not have the entry at \(describe(word.location))")
        }
    }

    private func describe(_ location: Location) -> String {
        "byte \(location.offset) of \(SegmentHeader.fileName(location.segment))"
    }
}
