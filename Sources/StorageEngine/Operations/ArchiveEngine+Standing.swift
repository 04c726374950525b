import CPlatform

/// What an entry is now: there, expired, in a memory only, set aside.
extension ArchiveEngine {
    /// What an entry's line says of it beyond its frame.
    enum Standing {
        case valid
        /// Or held in memory only, by a process that is gone.
        case expired
        case memoryOnly
        /// Set aside: look-ups don't find it.
        case hidden
    }

    /// What the line says of the entry whose frame is at `location`; `nil`: it names another frame by now, or isn't filled
    /// yet. Needs no lock.
    func standing(of number: UInt32, _ slot: SlotView, at location: Location) -> Standing? {
        let deadline = slot.deadline
        let isMemoryOnly = slot.isMemoryOnly
        let isHidden = index.marks.isHidden(number, slot)
        // Last: a line that is free, or another entry's, is neither hidden nor expired.
        cp_load_fence()
        guard slot.tells(of: location) else { return nil }
        return isHidden ? .hidden : standing(of: number, until: deadline, isMemoryOnly: isMemoryOnly)
    }

    /// What a frame says of its entry, whose line isn't filled yet.
    func standing(of number: UInt32, _ frame: Frame) -> Standing {
        standing(of: number, until: frame.traits.deadline, isMemoryOnly: frame.kind == .resident)
    }

    /// What a deadline and the kind of an entry that isn't set aside make of it now.
    func standing(of number: UInt32, until deadline: Int64, isMemoryOnly: Bool) -> Standing {
        if deadline != Deadline.never, Clock.boot() >= deadline { return .expired }
        guard isMemoryOnly else { return .valid }
        return isHeld(number) ? .memoryOnly : .expired
    }

    @inline(__always)
    func isExpired(_ entry: FoundEntry) -> Bool { entry.standing == .expired }
}
