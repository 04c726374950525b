import CPlatform

extension ArchiveEngine {
    private enum Resolution {
        case found(FoundEntry)
        case absent
        /// The batch was published, or another began, while the frame was examined.
        case changed
    }

    /// The entry with the batch's frame if that is published, else with the previous one. `again` searches again. Unpins other
    /// frames.
    @inline(never) func resolve(
        _ entry: FoundEntry, again: () throws(StorageError) -> FoundEntry?
    ) throws(StorageError) -> FoundEntry? {
        var entry = entry
        for _ in 0..<ArchiveEngine.mostRetries {
            let resolution = try StorageError.rethrowing(after: { unpin(entry) }) { () throws(StorageError) in
                try self.resolution(of: entry)
            }
            if case .found(let found) = resolution { return found }
            unpin(entry)
            if case .absent = resolution { return nil }
            guard let next = try again() else { return nil }
            guard next.frame.isInBatch else { return next }
            entry = next
        }
        throw changesTooFast
    }

    static let mostRetries = 1000

    var changesTooFast: StorageError {
        .busy(
            archive: name, process: 0,
            reason: "other processes change it faster than it can be read; try again")
    }

    private func resolution(of entry: FoundEntry) throws(StorageError) -> Resolution {
        let open = index.batchOpen
        guard open != .none, entry.location >= open else { return published(entry) }
        guard let part = BatchPart(of: entry.frame), part.previous != .none else { return .absent }
        // Until the batch is published, the slot's content belongs to the previous frame.
        let deadline = entry.slot.deadline
        let isMemoryOnly = entry.slot.isMemoryOnly
        guard let (pin, frame) = try log.pinnedFrame(at: part.previous) else { return .changed }
        guard frame.key.elementsEqual(entry.frame.key), index.batchOpen == open else {
            log.unpin(pin)
            return .changed
        }
        let before = FoundEntry(
            number: entry.number, slot: entry.slot, location: part.previous, frame: frame, pin: pin,
            standing: standing(of: entry.number, until: deadline, isMemoryOnly: isMemoryOnly))
        unpin(entry)
        return .found(before)
    }

    private func published(_ entry: FoundEntry) -> Resolution {
        if entry.frame.kind == .delete { return .absent }
        if entry.standing == nil, entry.frame.options.deadline == Deadline.never { return .found(entry) }
        var found = entry
        if let standing = standing(of: entry.number, entry.slot, at: entry.location) {
            if standing == .hidden { return .absent }
            found.standing = standing
        } else {
            // The slot has the content of the previous frame or of a later one.
            found.standing = standing(of: entry.number, entry.frame)
        }
        return .found(found)
    }

    /// Resolves the frame that a slot names, for walks over the slots. `nil` if the slot has no entry.
    func resolve(_ location: Location) throws(StorageError) -> Location? {
        guard let (pin, frame) = try log.pinnedFrame(at: location) else { return location }
        defer { log.unpin(pin) }
        return frame.isInBatch ? resolve(frame, at: location) : location
    }

    func resolve(_ frame: Frame, at location: Location) -> Location? {
        let open = index.batchOpen
        if open != .none, location >= open {
            guard let previous = BatchPart(of: frame)?.previous, previous != .none else { return nil }
            return previous
        }
        return frame.kind == .delete ? nil : location
    }

    /// Whether an unpublished batch changes the entry: its slot names another frame, but the one at `location` is current.
    func isUnpublished(_ slot: SlotView, insteadOf location: Location) throws(StorageError) -> Bool {
        let open = index.batchOpen
        let present = slot.location
        guard open != .none, present >= open, !slot.isTombstoned else { return false }
        return try withFrameIfPresent(at: present) { BatchPart(of: $0)?.previous == location } == true
            && index.batchOpen == open
    }
}

extension ArchiveEngine {
    enum Standing {
        case valid
        /// The entry is past its expiry time, or held only in the memory of an ended process.
        case expired
        case memoryOnly
        case hidden
    }

    /// The state of the entry at `location` by its slot; `nil` if the slot names another frame or isn't filled yet.
    func standing(of number: UInt32, _ slot: SlotView, at location: Location) -> Standing? {
        let deadline = slot.deadline
        let isMemoryOnly = slot.isMemoryOnly
        let isHidden = index.marks.isHidden(number, slot)
        // Checked last: the fields of a free or reused slot don't belong to this entry.
        cp_load_fence()
        guard slot.points(to: location) else { return nil }
        return isHidden ? .hidden : standing(of: number, until: deadline, isMemoryOnly: isMemoryOnly)
    }

    /// The state of an entry by its frame, while the slot isn't filled yet.
    func standing(of number: UInt32, _ frame: Frame) -> Standing {
        standing(of: number, until: frame.options.deadline, isMemoryOnly: frame.kind == .resident)
    }

    func standing(of number: UInt32, until deadline: Int64, isMemoryOnly: Bool) -> Standing {
        if deadline != Deadline.never, Clock.boot() >= deadline { return .expired }
        guard isMemoryOnly else { return .valid }
        return isHeld(number) ? .memoryOnly : .expired
    }

    @inline(__always) func isExpired(_ entry: FoundEntry) -> Bool { entry.standing == .expired }
}
