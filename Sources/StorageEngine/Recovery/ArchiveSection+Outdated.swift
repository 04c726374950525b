extension ArchiveSection {
    /// Whether a copy is of an overwritten state of its key. `present`: sequence of the key's entry; `nil`: no entry.
    func isOutdated(_ copy: Frame, tag: UInt32, present: UInt64?) throws(StorageError) -> Bool {
        if let present { return present > copy.sequence }
        let removal = engine.replayedRemovals.withLock { $0?.place(of: tag, after: copy.sequence) }
        if removal?.all == true { return true }
        guard let place = removal?.place else { return false }
        return try engine.withFrameIfPresent(at: place) { $0.key.elementsEqual(copy.key) } ?? false
    }

    /// Records that a frame removed an entry, for later copies. `place`: of a frame with its key.
    func noteRemoval(_ tag: UInt32, at place: Location, by frame: Frame) {
        let sequence = frame.sequence
        engine.replayedRemovals.withLock { $0?.add(tag, at: place, sequence) }
    }

    /// Includes an action's missing entries in its total, so that an undo reports them as skipped. Reclaiming drops them
    /// if they are overwritten, or if the action's record is discarded.
    func countMissingEntries() {
        for line in index.undo.lines where line.state == .reversible && !line.isOfDeadlines {
            line.entries &+= UInt64(engine.replayedRemovals.withLock { $0?.missing(of: line.group) } ?? 0)
        }
    }

    /// Permanently voids the copies that had no effect in a rebuild: the frames that make them outdated may be reclaimed first.
    /// Requires a complete log, as a missing part may restore their entries, and no other mapping.
    func voidOutdatedCopies() throws(StorageError) {
        let places = engine.replayedRemovals.withLock { $0?.outdated } ?? []
        for (segment, places) in Dictionary(grouping: places, by: \.segment) {
            guard let pin = try log.pinIfPresent(segment) else { continue }
            defer { log.unpin(pin) }
            try segments.reserveBlocks(pin)
            for place in places { segments.view(pin).void(at: place.offset) }
            // Before the frames that make them outdated are removed.
            try log.fileToSynchronize(pin)?.synchronize(mapped: log.view(pin).mapped)
        }
    }
}
