import CPlatform

extension ArchiveEngine {
    enum Standing {
        case valid
        /// Past its expiry time, or held only in the memory of an ended process.
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
        guard slot.tells(of: location) else { return nil }
        return isHidden ? .hidden : standing(of: number, until: deadline, isMemoryOnly: isMemoryOnly)
    }

    /// The state of an entry by its frame, while the slot isn't filled yet.
    func standing(of number: UInt32, _ frame: Frame) -> Standing {
        standing(of: number, until: frame.traits.deadline, isMemoryOnly: frame.kind == .resident)
    }

    func standing(of number: UInt32, until deadline: Int64, isMemoryOnly: Bool) -> Standing {
        if deadline != Deadline.never, Clock.boot() >= deadline { return .expired }
        guard isMemoryOnly else { return .valid }
        return isHeld(number) ? .memoryOnly : .expired
    }

    @inline(__always)
    func isExpired(_ entry: FoundEntry) -> Bool { entry.standing == .expired }
}
