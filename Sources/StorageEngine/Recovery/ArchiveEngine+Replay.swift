import CPlatform

extension ArchiveEngine {
    /// What a replay met besides valid frames.
    struct ReplayFindings {
        var damaged = 0
        var problems: [String] = []

        mutating func note(_ problem: String) {
            damaged += 1
            if problems.count < CheckReport.maximumProblems { problems.append(problem) }
        }
    }

    /// Does to the index what a frame of the log says. Doing it twice is doing it once, so a crash during
    /// recovery is an ordinary crash (F3). Needs the lock or an index that nobody else has yet.
    func replay(_ frame: Frame, at location: Location, tag: UInt32) throws(StorageError) {
        switch isMeant(frame) ? frame.kind : nil {
        case .put, .move, .resident:
            for evicted in FrameExtension.evictions(of: frame) { try removeEntry(at: evicted, nil, location) }
            guard frame.kind != .resident else {
                // Whoever recorded it died before it was done, or is long gone: no process holds it.
                if let present = try find(frame.key, tag: tag) {
                    letGo(present)
                    remove(present.number)
                }
                break
            }
            var content = content(of: frame)
            if frame.extensionBytes > 0 {
                let traits = frame.traits
                content.take(traits, ownerTag: ownerTag(traits.owner))
            }
            let present = try find(frame.key, tag: tag)
            if let present { letGo(present) } else { try index.reserveEntry() }
            applyPut(content, tag: tag, number: present?.number ?? 0, at: location)
        case .delete:
            if let present = try find(frame.key, tag: tag) {
                letGo(present)
                remove(present.number)
            }
        case .deleteAll:
            clearEntries()
        case .evict:
            let note = RemovalNote(of: frame)
            for evicted in FrameExtension.evictions(of: frame) {
                try removeEntry(at: evicted, note, location)
            }
        case .deadline:
            try replayDeadline(frame, at: location, tag: tag)
        case .restore:
            if let note = RemovalNote(of: frame) {
                var outcome = UndoOutcome.nothing
                try bringBack(note, time: frame.time, &outcome)
            }
        case .kept:
            try replayKept(frame, at: location, tag: tag)
        case .message:
            try replayMessage(frame, at: location)
        case .void, nil:
            break
        }
        if frame.kind == .deadline || frame.kind == .evict, let note = RemovalNote(of: frame),
            let line = index.undoLine(of: note.group)
        {
            // What an action itself wrote doesn't shorten its grace.
            line.endBytes &+= UInt64(frame.bytes)
        }
        adjust(IndexLayout.appendedBytesOffset, by: frame.bytes)
        if frame.sequence > index.word64(IndexLayout.sequenceOffset) {
            index.set64(IndexLayout.sequenceOffset, frame.sequence)
        }
        raiseStamps(above: frame.recency)
    }

    /// Stamps that are taken from now on are above `recency`.
    func raiseStamps(above recency: UInt64) {
        guard recency < .max - 1, index.stampsTaken <= recency else { return }
        index.set64(IndexLayout.touchTailOffset, recency + 1)
        index.set64(IndexLayout.touchDrainedOffset, recency + 1)
    }

    /// Whether a frame says something in an archive of this kind; another's is passed over, however it got there.
    func isMeant(_ frame: Frame) -> Bool {
        switch frame.kind {
        case .put, .move, .resident, .kept, .delete, .deadline: kind != .log && frame.keyBytes > 0
        case .evict, .restore: kind != .log
        case .message: kind == .log
        case .deleteAll, .void, nil: true
        }
    }

    /// Whether the index is being made from the log, and nobody else has the archive.
    var isRebuilding: Bool {
        index.word32(IndexLayout.stateOffset) == IndexLayout.State.building.rawValue
    }

    private func content(of frame: Frame) -> FrameContent {
        FrameContent(
            kind: .put, encoding: frame.encoding, sequence: frame.sequence, recency: frame.recency,
            time: frame.time, created: frame.created, key: frame.key, value: frame.value,
            extensionBytes: frame.extension)
    }

    /// Removes the entry whose frame is at `location`, or sets it aside if the note says that this can be undone.
    private func removeEntry(at location: Location, _ note: RemovalNote?, _ place: Location)
        throws(StorageError)
    {
        guard let pin = try log.pinIfPresent(location.segment) else { return }
        defer { log.unpin(pin) }
        guard let frame = try log.frameIfPresent(pin, at: location.offset), frame.keyBytes > 0,
            let number = entry(at: location, tag: UInt32(truncatingIfNeeded: hash(frame.key))),
            let slot = index.entry(number)
        else { return }
        // However long ago that was: a restore may follow in the log.
        if let note, note.group != 0, !slot.isMemoryOnly {
            setAside(number, slot, note: note, at: place)
        } else {
            remove(number)
        }
    }

    private func replayDeadline(_ frame: Frame, at location: Location, tag: UInt32) throws(StorageError) {
        guard let present = try find(frame.key, tag: tag) else { return }
        defer { letGo(present) }
        let deadline = FrameExtension.deadline(.deadline, of: frame)?.resolved(now: Clock.read())
        setDeadline(of: present.number, present.slot, to: deadline ?? Deadline.never)
        if let note = RemovalNote(of: frame), note.group != 0 {
            self.note(note, first: location, bytes: UInt64(present.slot.valueBytes))
        }
    }

    /// An entry that was set aside and had to be copied: it is set aside again.
    private func replayKept(_ frame: Frame, at location: Location, tag: UInt32) throws(StorageError) {
        guard let note = RemovalNote(of: frame), note.group != 0 else { return }
        if !isRebuilding {
            // Whoever died while copying it may have got this far.
            let isThere = index.setAsideNumbers().contains { index.entry($0)?.location == location }
            guard !isThere else { return }
        }
        try index.reserveEntry()
        var content = content(of: frame)
        let traits = frame.traits
        content.take(traits, ownerTag: ownerTag(traits.owner))
        index.beginStructureChange()
        let number = index.allocateEntry()
        if let slot = index.entry(number) {
            fill(slot, content, frameBytes: frame.bytes)
            slot.recency = content.recency
            slot.tag = tag
            slot.group = note.group
            slot.markSetAside(frameBytes: UInt32(frame.bytes))
            slot.location = location
            index.linkAsNewestSetAside(number, slot)
            adjustLive(location, by: frame.bytes)
            self.note(note, first: location, bytes: UInt64(frame.valueBytes))
        }
        index.endStructureChange()
    }

    /// Fills an empty index from all segments of the log, oldest first.
    func rebuild() throws(StorageError) -> ReplayFindings {
        var findings = ReplayFindings()
        let numbers = try belongingSegments(&findings)
        var segmentBytes = 0
        try index.prepare(forEntries: estimatedEntries(numbers))
        // Frames wait for a moment, so that the buckets they need arrive together.
        var waiting: [(frame: Frame, location: Location, tag: UInt32)] = []
        waiting.reserveCapacity(32)
        func replayWaiting() throws(StorageError) {
            for item in waiting { try replay(item.frame, at: item.location, tag: item.tag) }
            waiting.removeAll(keepingCapacity: true)
        }
        for number in numbers {
            guard let pin = try log.pinIfPresent(number) else {
                // For an observer it may be reclaimed meanwhile; for whoever has the archive alone, it belongs.
                guard attachment == nil else {
                    throw .corrupted(
                        path: log.path(of: number), offset: 0, reason: "it can't be read any more")
                }
                continue
            }
            defer { log.unpin(pin) }
            if let excess = try log.excess(of: number) { findings.note(excess.description) }
            segmentBytes += log.view(pin).bytes
            if oldestSegment == 0 { index.set32(IndexLayout.oldestSegmentOffset, number) }
            let result = try log.scan(pin, from: SegmentHeader.bytes) { (item) throws(StorageError) in
                switch item {
                case .frame(let frame, let location):
                    let tag = UInt32(truncatingIfNeeded: hash(frame.key))
                    if let bucket = index.bucket(of: tag) { cp_prefetch(bucket.base) }
                    waiting.append((frame, location, tag))
                    if waiting.count == 32 { try replayWaiting() }
                case .damage(let from, let to):
                    findings.note("\(log.path(of: number)): bytes \(from) to \(to) hold no valid entry")
                }
            }
            try replayWaiting()
            if !result.isBlankBehind {
                if number != numbers.last {
                    findings.note("\(log.path(of: number)): no valid entry from byte \(result.end) on")
                } else if attachment != nil {
                    // The remains of an operation that was not acknowledged.
                    log.view(pin).blank(from: result.end)
                }
            }
            head = Location(segment: number, offset: result.end)
            crashPoint(.rebuildSegmentDone)
        }
        index.set64(IndexLayout.segmentBytesOffset, UInt64(segmentBytes))
        sortRecencyList()
        forgetSetAside(most: .max)
        return findings
    }

    /// About how many entries the log has, judged by its oldest and its newest segment, so that the table need
    /// not be split while it fills; a fifth of the frames is taken to be stored anew later.
    private func estimatedEntries(_ numbers: [UInt32]) throws(StorageError) -> Int {
        let sample = Set([numbers.first, numbers.last].compactMap { $0 })
        var puts = 0
        for number in sample { puts += try log.countPuts(in: number) }
        return min(puts * numbers.count / max(sample.count, 1) * 4 / 5, try log.mostEntries(in: numbers))
    }

    /// Numbers of the segments that are part of the log; leftovers of an interrupted removal are not.
    private func belongingSegments(_ findings: inout ReplayFindings) throws(StorageError) -> [UInt32] {
        let numbers = try log.segmentNumbers()
        var oldest: UInt32 = 0
        var readable: [UInt32] = []
        var foreign = 0
        for number in numbers {
            do throws(StorageError) {
                let header = try log.checkHeader(of: number)
                oldest = max(oldest, header.oldest)
                readable.append(number)
            } catch {
                // A segment whose header was never written held nothing acknowledged.
                let isLast = number == numbers.last
                if case .corrupted = error, isLast, try log.isUnwritten(number) { continue }
                guard case .corrupted(_, let offset, _) = error else { throw error }
                findings.note(error.description)
                if try log.holdsFrames(number) {
                    readable.append(number)
                } else if offset == SegmentHeader.archiveOffset {
                    foreign += 1
                }
            }
        }
        // Rather than the whole log the descriptor is another's, and what is stored now would begin a second log.
        guard !readable.isEmpty || foreign == 0 || attachment == nil else {
            throw .corrupted(
                path: folder.path + "/" + Descriptor.fileName, offset: 16,
                reason: "all segments belong to another archive; repair it to go by them")
        }
        return readable.filter { $0 >= oldest }
    }

    /// Relinks all entries in the order of their stamps, if they are not in it already.
    func sortRecencyList() {
        var isSorted = true
        var previous = UInt64.max
        var number = index.mostRecent
        var steps = 0
        while let slot = index.entry(number), steps <= entryCount {
            if slot.recency > previous {
                isSorted = false
                break
            }
            previous = slot.recency
            number = slot.older
            steps += 1
        }
        guard !isSorted else { return }
        var order: [(recency: UInt64, number: UInt32)] = []
        order.reserveCapacity(min(entryCount, Int(index.usedEntries)))
        for number in 0..<index.usedEntries {
            guard let slot = index.entry(number + 1), slot.isLive else { continue }
            order.append((slot.recency, number + 1))
        }
        order.sort { $0.recency < $1.recency }
        index.set32(IndexLayout.recencyFirstOffset, 0)
        index.set32(IndexLayout.recencyLastOffset, 0)
        for item in order {
            if let slot = index.entry(item.number) { index.linkAsMostRecent(item.number, slot) }
        }
    }
}
