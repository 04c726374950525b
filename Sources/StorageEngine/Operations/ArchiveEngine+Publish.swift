import CPlatform

/// A put or a delete of a batch whose frame is written.
struct BatchStep {
    var isPut: Bool
    var tag: UInt32
    /// The entry that it changes; 0: there is none yet.
    var number: UInt32
    var location: Location
    /// The frame that was the entry's before.
    var old = Location.none
}

/// A batch whose frames are all written behind the head.
struct BatchPublication {
    var first: Location
    /// Of all its frames, the first included.
    var bytes: Int
    var steps: [BatchStep]
    /// Entries that are evicted for it.
    var victims: [UInt32]
}

/// How a batch becomes the archive's at one instant, and what a reader does that meets one of its frames. The
/// argument: OnDiskFormat, "Batches".
extension ArchiveEngine {
    /// Makes the frames of a batch the archive's; one store decides for all readers. Needs the lock, and room for the
    /// entries that are new.
    func publish(_ batch: BatchPublication, _ pin: SegmentLog.Pin) {
        var steps = batch.steps
        // From here on whoever meets one of its frames goes by the frame before.
        index.set64(IndexLayout.batchOpenOffset, batch.first.raw)
        crashPoint(.batchMarked)
        for place in steps.indices {
            if let slot = index.entry(steps[place].number) {
                steps[place].old = slot.location
                index.setLocation(steps[place].number, slot, steps[place].location)
            } else if steps[place].isPut {
                steps[place].number = addUnpublished(steps[place], pin)
            }
            crashPoint(.batchEntryChanged)
        }
        // Before the next store: whoever takes the batch for decided must not go by lines that still are the old ones'.
        index.set64(IndexLayout.batchDoneOffset, batch.first.raw)
        crashPoint(.batchDecided)
        index.set64(IndexLayout.batchOpenOffset, 0)
        crashPoint(.batchCommitted)
        for step in steps {
            fillPublished(step, pin)
            crashPoint(.batchEntryFilled)
        }
        for number in batch.victims {
            remove(number)
            crashPoint(.batchVictimRemoved)
        }
        commit(batch.first, bytes: batch.bytes)
        crashPoint(.batchHeadMoved)
        index.set64(IndexLayout.batchDoneOffset, 0)
    }

    /// What a frame of the log says of its entry.
    private func content(at step: BatchStep, _ pin: SegmentLog.Pin) -> FrameContent? {
        guard let frame = log.frame(pin, at: step.location.offset) else { return nil }
        var content = content(of: frame)
        let traits = frame.traits
        content.take(traits, ownerTag: ownerTag(traits.owner))
        return content
    }

    /// Makes the line and the cell of an entry that is new; it has no place in the order yet.
    private func addUnpublished(_ step: BatchStep, _ pin: SegmentLog.Pin) -> UInt32 {
        guard let content = content(at: step, pin) else { return 0 }
        index.beginStructureChange()
        // Room was reserved before the frames were written.
        let number = index.allocateEntry()
        if let slot = index.entry(number) {
            fill(number, slot, content, frameBytes: content.frameBytes)
            slot.recency = content.recency
            slot.newer = 0
            slot.older = 0
            slot.tag = step.tag
            slot.location = step.location
            index.forgetResidency(number)
            index.insertIntoBucket(number, slot)
        }
        index.endStructureChange()
        return number
    }

    /// Brings line, order and totals in line with a frame that is published.
    private func fillPublished(_ step: BatchStep, _ pin: SegmentLog.Pin) {
        guard let slot = index.entry(step.number) else { return }
        if step.old != .none { adjustLive(step.old, by: -Int(slot.frameBytes)) }
        guard let content = content(at: step, pin) else { return index.declareDamaged() }
        // What is on disk, or deleted, ends what any process has of its own.
        if slot.isMemoryOnly { removeMemoryOnly(of: content.key, tag: step.tag, sparing: step.number) }
        guard step.isPut else {
            adjustLive(step.location, by: Int(slot.frameBytes))
            return remove(step.number)
        }
        let bytes = content.frameBytes
        if step.old != .none {
            adjust(IndexLayout.valueBytesOffset, by: content.value.count - Int(slot.valueBytes))
            fill(step.number, slot, content, frameBytes: bytes)
            // Its cell says whether the line has to be looked at.
            index.setLocation(step.number, slot, step.location)
            index.forgetResidency(step.number)
            index.order.unlinkFromRecency(step.number, slot)
            slot.recency = content.recency
        } else {
            if index.setAsideCount != 0 { supersede(content.key, tag: step.tag) }
            adjust(IndexLayout.valueBytesOffset, by: content.value.count)
            adjust(IndexLayout.entryCountOffset, by: 1)
        }
        index.order.linkAsMostRecent(step.number, slot)
        adjustLive(step.location, by: bytes)
    }

    // MARK: Reading, without the lock

    private enum Resolution {
        case found(FoundEntry)
        case absent
        /// The batch has ended, or another has begun, while it was looked at.
        case changed
    }

    /// The entry that a frame of a batch stands for now: the frame itself once the batch is published, else the one
    /// before. `again` finds the key anew. Lets go of `entry` unless it gives it back.
    @inline(never)
    func resolve(
        _ entry: FoundEntry, again: () throws(StorageError) -> FoundEntry?
    ) throws(StorageError) -> FoundEntry? {
        var entry = entry
        for _ in 0..<ArchiveEngine.batchPatience {
            let resolution: Resolution
            do throws(StorageError) {
                resolution = try self.resolution(of: entry)
            } catch {
                letGo(entry)
                throw error
            }
            if case .found(let found) = resolution { return found }
            letGo(entry)
            if case .absent = resolution { return nil }
            guard let next = try again() else { return nil }
            guard next.frame.isInBatch else { return next }
            entry = next
        }
        throw .busy(archive: name, process: 0, reason: "it changes faster than it can be read; try again")
    }

    /// How often a reader looks again; each time a whole batch has come or gone.
    private static let batchPatience = 1000

    private func resolution(of entry: FoundEntry) throws(StorageError) -> Resolution {
        let open = index.word64(IndexLayout.batchOpenOffset)
        guard open != 0, entry.location.raw >= open else { return published(entry) }
        guard let part = BatchPart(of: entry.frame), part.previous != .none else { return .absent }
        // The line is still that of the frame before.
        let deadline = entry.slot.deadline
        let isMemoryOnly = entry.slot.isMemoryOnly
        guard let pin = try log.pinIfPresent(part.previous.segment) else { return .changed }
        let previous: Frame?
        do throws(StorageError) {
            previous = try log.frameIfPresent(pin, at: part.previous.offset)
        } catch {
            log.unpin(pin)
            throw error
        }
        guard let frame = previous, frame.key.elementsEqual(entry.frame.key),
            index.word64(IndexLayout.batchOpenOffset) == open
        else {
            log.unpin(pin)
            return .changed
        }
        var before = FoundEntry(
            number: entry.number, slot: entry.slot, location: part.previous, frame: frame, pin: pin)
        let isExpired = deadline != Deadline.never && Clock.boot() >= deadline
        before.standing =
            isExpired ? .expired : !isMemoryOnly ? .valid : isHeld(entry.number) ? .memoryOnly : .expired
        letGo(entry)
        return .found(before)
    }

    private func published(_ entry: FoundEntry) -> Resolution {
        if entry.frame.kind == .delete { return .absent }
        let deadline = entry.frame.traits.deadline
        let done = index.word64(IndexLayout.batchDoneOffset)
        let isFilled = done == 0 || entry.location.raw < done
        if isFilled, entry.standing == nil, deadline == Deadline.never { return .found(entry) }
        var found = entry
        // Asked again: when it was found, its line may still have been that of the frame before.
        if isFilled, let standing = standing(of: entry.number, entry.slot, at: entry.location) {
            if standing == .hidden { return .absent }
            found.standing = standing
            return .found(found)
        }
        // Its line is still that of the frame before, or by now that of the next.
        found.standing = deadline != Deadline.never && Clock.boot() >= deadline ? .expired : .valid
        return .found(found)
    }

    /// The frame that a line stands for, for those who go through the lines: as ``resolve(_:again:)``. `nil`: none.
    func resolve(_ location: Location) throws(StorageError) -> Location? {
        guard let pin = try log.pinIfPresent(location.segment) else { return location }
        defer { log.unpin(pin) }
        guard let frame = try log.frameIfPresent(pin, at: location.offset), frame.isInBatch else {
            return location
        }
        let open = index.word64(IndexLayout.batchOpenOffset)
        if open != 0, location.raw >= open {
            guard let previous = BatchPart(of: frame)?.previous, previous != .none else { return nil }
            return previous
        }
        return frame.kind == .delete ? nil : location
    }

    /// Whether a line that names another place by now is still that of the frame at `location`, because the batch that
    /// changes it is not published.
    func isUnpublished(_ slot: EntrySlot, insteadOf location: Location) throws(StorageError) -> Bool {
        let open = index.word64(IndexLayout.batchOpenOffset)
        let present = slot.location
        guard open != 0, present.raw >= open, !slot.isSetAside else { return false }
        return try withFrameIfPresent(at: present) { BatchPart(of: $0)?.previous == location } == true
            && index.word64(IndexLayout.batchOpenOffset) == open
    }
}
