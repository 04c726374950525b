import SystemC

/// Copies the oldest segment's live frames to the log tail, then removes its file. The oldest segment's deletions and evictions
/// can't concern entries of an older one. Costs are proportional to the bytes appended: OnDiskFormat, "Reclaiming".
extension ArchiveSection {
    @inline(__always) func reclaim(forAppended bytes: Int) {
        let used = index.segmentBytes
        if used > SpaceBudget(engine).grantedSegmentBytes, used > SpaceBudget(engine).leastSegmentBytes {
            reclaimSlowly(share: 8 * bytes + 1024)
        }
    }

    @inline(never) private func reclaimSlowly(share: Int) {
        // A damaged index may count live frames as dead.
        guard index.isReady else { return }
        if index.tombstoneCount > 0 { dropTombstones(most: 64) }
        let allowed = SpaceBudget(engine).allowedSegmentBytes
        let most = max(share, ArchiveSection.workAtOnce)
        // One pass over the whole log frees all space that can be freed.
        let last = index.head.segment
        var work = 0
        while true {
            let used = index.segmentBytes
            guard used > allowed, index.oldestSegment < last else { return }
            let exceedsBound = LogCleaner(engine).exceedsBound(used)
            guard work < share || exceedsBound && work < most else { break }
            guard let done = reclaimStep(share: exceedsBound ? ArchiveSection.workAtOnce : share) else {
                return
            }
            work += done
        }
        // Other threads may be waiting for the lock: the rest becomes pending compaction, unless a thread is already doing it.
        if LogCleaner(engine).exceedsBound(index.segmentBytes), !LogCleaner(engine).isCompactionClaimed {
            LogCleaner(engine).deferCompaction()
        }
    }

    func reclaimSome(while isWanted: () -> Bool) -> Bool {
        guard index.isReady else { return false }
        var work = 0
        while work < ArchiveSection.workAtOnce, index.oldestSegment < index.head.segment, isWanted() {
            guard let done = reclaimStep(share: ArchiveSection.workAtOnce) else { break }
            work += max(done, 1)
        }
        return work > 0
    }

    /// Bytes of frames processed under one hold of the lock, unless the space is needed at once.
    private static let workAtOnce = 65_536

    /// Continues with the oldest segment. Returns the bytes of work; `nil` if it can't continue now.
    private func reclaimStep(share: Int) -> Int? {
        let segment = index.oldestSegment
        guard index.liveFrames(ofSegment: segment) == 0 else {
            return reclaimNextFrames(of: segment, share: share)
        }
        // Checked when a segment is empty: once for most segments, and at each change for a segment that an undo still needs.
        guard !UndoWindow(engine).isNeededToUndo(segment),
            let next = try? nextSegmentOrLoss(after: segment)
        else { return nil }
        dropSegments(before: next)
        return index.oldestSegment > segment ? 4096 : nil
    }

    /// Does a slice of compaction that another call left pending, because it failed or was a look-up. Clears the pending state
    /// when no work remains. Returns whether it did any work.
    func compactPart() -> Bool {
        let owner = engine.compactionOwner.load(ordering: .relaxed)
        guard owner != 0 else { return false }
        let reclaims = reclaimSome { LogCleaner(engine).exceedsBound(index.segmentBytes) }
        if reclaims || dropDeadSegment() || compactSome() { return true }
        // Compaction becomes pending under the lock, so this clears no newer request.
        _ = engine.compactionOwner.compareExchange(expected: owner, desired: 0, ordering: .relaxed)
        return false
    }

    func reclaimWhileQuiet() -> Bool {
        guard engine.kind != .log else { return false }
        return reclaimSome { index.segmentBytes > SpaceBudget(engine).quietSegmentBytes }
            || releaseSomeSpareChunks()
            || index.isReady && SpaceBudget(engine).isIndexWasted && vacateLastChunk()
    }

    private struct Candidate {
        var frame: Frame
        var offset: Int
        var tag: UInt32
        /// The entry whose live frame this is; 0: the frame is dead.
        var number: UInt32 = 0
    }

    /// Processes the cleaner's next frames in groups, to prefetch cache lines. Returns the bytes; `nil` if the disk is full.
    private func reclaimNextFrames(of segment: UInt32, share: Int) -> Int? {
        let present: SegmentLog.Pin?
        do throws(StorageError) {
            present = try log.pinIfPresent(segment)
        } catch {
            return nil
        }
        guard let pin = present else {
            guard abandon(segment) else { return nil }
            let (from, to) = (Location(segment: segment, offset: SegmentHeader.bytes), index.oldestSegment)
            let lost = LogLoss(from: from, to: Location(segment: to, offset: SegmentHeader.bytes))
            index.setLoss(LogLoss.joining(index.loss, lost))
            return 4096
        }
        defer { log.unpin(pin) }
        var place = index.cleaner
        if place.segment != segment { place = Location(segment: segment, offset: SegmentHeader.bytes) }
        let start = place.offset
        return withUnsafeTemporaryAllocation(of: Candidate.self, capacity: 16) { candidates -> Int? in
            var count = 0
            var offset = start
            while count < candidates.count, offset - start < share,
                let frame = log.validFrame(pin, at: offset)
            {
                let tag = engine.hash.tag(frame.key)
                index.table.prefetch(tag)
                candidates.initializeElement(at: count, to: Candidate(frame: frame, offset: offset, tag: tag))
                count += 1
                offset += frame.bytes
            }
            guard count > 0 else {
                // An outdated file size must not look like damage.
                guard (try? log.updateSize(pin)) != nil else { return nil }
                if log.validFrame(pin, at: start) != nil { return 0 }
                return skipDamage(pin, at: start)
            }
            for place in 0..<count {
                if let number = liveEntry(candidates[place], segment), let slot = index.entry(number) {
                    slot.prefetch()
                    candidates[place].number = number
                }
            }
            for candidate in candidates[..<count] {
                // Moving one entry must not change the others.
                if let slot = index.entry(candidate.number) {
                    guard slot.location == Location(segment: segment, offset: candidate.offset) else {
                        index.declareDamaged()
                        return nil
                    }
                    let isKept =
                        slot.isTombstoned
                        ? moveTombstone(candidate.frame, candidate.number, slot)
                        : move(candidate.frame, candidate.number, slot, kept: nil)
                    guard isKept else { return nil }
                }
                let end = candidate.offset + candidate.frame.bytes
                index.setCleaner(Location(segment: segment, offset: end))
            }
            return offset - start
        }
    }

    @inline(__always) private func liveEntry(_ candidate: Candidate, _ segment: UInt32) -> UInt32? {
        guard let kind = candidate.frame.kind, kind.storesEntry || kind == .kept else { return nil }
        return index.table.entry(at: Location(segment: segment, offset: candidate.offset), tag: candidate.tag)
    }

    /// Advances the cleaner to the next valid frame, or abandons the segment if none follows.
    private func skipDamage(_ pin: SegmentLog.Pin, at offset: Int) -> Int? {
        let found: Int?
        do throws(StorageError) {
            found = try log.nextValidFrame(pin, after: offset, before: log.view(pin).bytes)
        } catch {
            return nil
        }
        guard let next = found else { return abandon(pin.segment) ? 4096 : nil }
        index.setCleaner(Location(segment: pin.segment, offset: next))
        return next - offset
    }

    /// Copies an entry's frame to the log tail. With `kept`, the entry is tombstoned.
    func move(_ frame: Frame, _ number: UInt32, _ slot: ChangingSlot, kept: RemovalNote?) -> Bool {
        var content = FrameContent(
            kind: kept != nil ? .kept : frame.kind == .resident ? .resident : .move, encoding: frame.encoding,
            sequence: frame.sequence, recency: max(slot.recency, frame.recency), time: slot.accessed,
            created: frame.created, key: frame.key, value: frame.value)
        if frame.extensionBytes == 0, slot.deadline == Deadline.never, kept == nil {
            return move(content, number, slot)
        }
        // The expiry time may have changed since the frame was written; an entry's other options never change.
        var options = frame.options
        options.deadline = slot.deadline
        let size = options.bytes + (kept == nil ? 0 : FrameExtension.partBytes(RemovalNote.bytes))
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            var writer = ExtensionWriter(buffer)
            options.write(to: &writer)
            if let kept { writer.append(kept) }
            content.extensionBytes = writer.written
            return move(content, number, slot)
        }
    }

    @inline(__always)
    private func move(_ content: FrameContent, _ number: UInt32, _ slot: ChangingSlot) -> Bool {
        guard index.isReady else { return false }
        guard let location = try? append(content) else { return false }
        engine.countHandled(entries: 1)
        crashPoint(content.kind == .kept ? .keptWritten : .moveWritten)
        let bytes = content.frameBytes
        index.adjustLive(slot.location, by: -Int(slot.frameBytes))
        if slot.isTombstoned {
            index.marks.resizeTombstone(number, slot, to: UInt32(bytes))
        } else {
            slot.setFrameBytes(UInt32(bytes))
        }
        index.table.setLocation(number, slot, location)
        index.adjustLive(location, by: bytes)
        crashPoint(content.kind == .kept ? .keptApplied : .moveApplied)
        commit(location, bytes: bytes, copy: true)
        return true
    }

    private enum MoveOutcome { case moved, lost, noSpace }

    /// Moves the frame of an entry if it is intact and no other entry has its key.
    private func moveIfIntact(_ number: UInt32, _ slot: ChangingSlot) -> MoveOutcome {
        let location = slot.location
        do throws(StorageError) {
            guard let pin = try log.pinIfPresent(location.segment) else { return .lost }
            defer { log.unpin(pin) }
            try log.updateSize(pin)
            guard let frame = log.validFrame(pin, at: location.offset), frame.keyBytes > 0 else {
                return .lost
            }
            let tag = engine.hash.tag(frame.key)
            if let other = try engine.find(frame.key, tag: tag) {
                engine.unpin(other)
                // Each process may have a separate memory-only entry of a key.
                if other.number != number, !(slot.isMemoryOnly && other.slot.isMemoryOnly) { return .lost }
            }
            return move(frame, number, slot, kept: nil) ? .moved : .noSpace
        } catch {
            // A frame that can't be read now is moved later; a damaged one is lost.
            guard error.isCorrupted else { return .noSpace }
            return .lost
        }
    }

    /// Removes a segment that the cleaner has finished but entries still name: removes entries with damaged frames, and moves
    /// those that no bucket names. `false` without space for that, or if the archive was removed.
    private func abandon(_ segment: UInt32) -> Bool {
        guard (try? engine.throwIfRemoved()) != nil else { return false }
        if index.liveFrames(ofSegment: segment) != 0 {
            for number in 0..<index.usedEntries {
                guard let slot = index.entry(number + 1), slot.location.segment == segment else { continue }
                if slot.isTombstoned, !index.marks.unmarkIfRestored(number + 1, slot) {
                    forget(number + 1, slot)
                    continue
                }
                switch moveIfIntact(number + 1, slot) {
                case .moved: continue
                case .noSpace: return false
                case .lost: evictWithoutFrame(number + 1, .damage)
                }
            }
        }
        index.setLiveFrames(ofSegment: segment, 0)
        guard let next = try? nextSegmentOrLoss(after: segment) else { return false }
        dropSegments(before: next)
        return true
    }

    /// The number of the next file, or of a missing one that entries still name; they are dropped and reported as lost.
    func nextSegmentOrLoss(after segment: UInt32) throws(StorageError) -> UInt32 {
        let next = try log.nextSegment(after: segment, upTo: index.head.segment)
        guard engine.kind != .log, next > segment + 1 else { return next }
        return (segment + 1..<next).first { index.liveFrames(ofSegment: $0) != 0 } ?? next
    }

    /// Whether files of old segments may be removed: frames copied from synced ones must be on the medium first.
    func mayRemoveSegments() -> Bool {
        guard index.durability != .process else { return true }
        // Waits briefly and only once, because others wait for the archive's lock; a later operation removes the files.
        let second: Int64 = 1_000_000_000
        let timeout = engine.syncing.isBusy(since: second) ? 0 : second
        return (try? engine.synchronize(upTo: index.head, timeout: timeout)) != nil
    }

    /// Removes the files of all segments before `segment`, oldest first, because a newer one may hide frames of an older one.
    func dropSegments(before segment: UInt32) {
        var oldest = index.oldestSegment
        guard oldest < segment, mayRemoveSegments() else { return }
        while oldest < segment {
            guard let next = try? log.nextSegment(after: oldest, upTo: segment),
                (try? removeOldestSegment(next: next)) != nil
            else { break }
            index.setLiveFrames(ofSegment: oldest, 0)
            oldest = next
        }
        log.releaseSegments(before: oldest)
    }

    /// Removes the oldest segment's file and makes `next` the oldest, or changes nothing.
    func removeOldestSegment(next: UInt32) throws(StorageError) {
        let segment = index.oldestSegment
        // Stored before the file is removed: readers that miss the file then see that it is no longer part of the log.
        index.setOldestSegment(next)
        crashPoint(.segmentForgotten)
        let bytes = try StorageError.rethrowing(after: { index.setOldestSegment(segment) }) {
            () throws(StorageError) in
            try segments.removeFile(of: segment)
        }
        index.adjust(.segmentBytes, by: -bytes)
        engine.countHandled(files: 1)
        crashPoint(.segmentUnlinked)
    }

    /// Copies or drops a tombstoned entry of a segment that is being reclaimed. `false`: no space for the copy.
    func moveTombstone(_ frame: Frame, _ number: UInt32, _ slot: ChangingSlot) -> Bool {
        if index.marks.unmarkIfRestored(number, slot) { return move(frame, number, slot, kept: nil) }
        let mark = index.marks[number]
        let line = index.undo[mark.place]
        // The put that overwrote the entry may no longer be in the log, so the entry must not stay in it either.
        guard mark.isSet, !mark.isOverwritten, UndoWindow(engine).isReversible(line) else {
            forget(number, slot)
            return true
        }
        let note = RemovalNote(
            group: line.group, cause: .person, kind: ReversibleAction.Kind(rawValue: line.kind),
            time: line.time)
        return move(frame, number, slot, kept: note)
    }

    /// Recomputes the sum of the files' sizes, which only determines how much is reclaimed.
    func recountSegments() throws(StorageError) {
        var bytes = 0
        for number in try log.segmentNumbers() { bytes += try log.fileBytes(of: number) }
        index.setSegmentBytes(bytes)
    }
}
