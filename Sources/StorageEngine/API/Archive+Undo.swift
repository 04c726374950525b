extension Archive {
    /// Does what a person planned, in a way that ``undo(_:)`` takes back. Entries that were stored anew, expired
    /// or went since they were seen, or are not idle any more, are left alone and listed with the reason. Other processes get at the archive every few
    /// hundred entries; `progress` is told then how many are done, and ends it by `false`. An entry that is named
    /// twice counts once.
    ///
    /// Throws only while nothing has been done; later an error is in the outcome (``PlanOutcome/failure``).
    public func carryOut(
        _ action: PlannedAction, on entries: [PlannedEntry], progress: (Int) -> Bool = { _ in true }
    ) throws(StorageError) -> PlanOutcome {
        try settled { (engine) throws(StorageError) in
            try engine.carryOut(action, on: entries, progress: progress)
        }
    }

    /// Deletes every entry that is there when it begins in a way that ``undo(_:)`` takes back, some hundred at a time:
    /// others get at the archive in between, and see a part of it gone. What they record meanwhile stays. Unlike
    /// ``deleteAll()`` it leaves the bytes where they are until the grace is over. On a full disk, where there is no room to say which they are, it is final like that one, frees
    /// their room, and there is no action in the outcome.
    public func deleteAllReversibly() throws(StorageError) -> PlanOutcome {
        try settled { (engine) throws(StorageError) in
            let before = Removal(entries: engine.index.entryCount, bytes: engine.index.valueBytes)
            do throws(StorageError) {
                return try engine.deleteAllReversibly()
            } catch {
                guard case .noSpace = error else { throw error }
                _ = try engine.deleteAll()
                var outcome = PlanOutcome()
                (outcome.entries, outcome.bytes) = (before.entries, before.bytes)
                return outcome
            }
        }
    }

    /// What can be taken back now, latest first, by whichever process it was done.
    public func reversibleActions() throws(StorageError) -> [ReversibleAction] {
        try engine().reversibleActions()
    }

    /// What can be removed now so that it can be taken back for ten minutes whatever is written meanwhile.
    public func undoBudget() throws(StorageError) -> UndoBudget {
        try engine().undoBudget
    }

    /// Takes back an action, or the latest: values, deadlines, owners and places in the order of recency return.
    /// Entries that were recorded anew stay as they are. Where the limit leaves no room for all, the least recent
    /// are evicted, as always. `nil` when there is nothing (or not that) to take back.
    ///
    /// What is larger than the limit by now has no room at all: then nothing comes back or is evicted, and the action can be
    /// undone once the limit is raised.
    ///
    /// An entry whose key was recorded anew stays out for good, also when that newer entry has gone by now.
    ///
    /// What was deleted or expired at once comes back in one step for every process, whatever dies meanwhile, and that
    /// can't be stopped; where there must be room for it, entries are evicted before. Nobody waits for the lock longer
    /// than for some hundred entries. Deadlines come back some hundred at a time: `progress` is told how much is done,
    /// 0 to 1, and ends it by `false`.
    ///
    /// - Throws: also `valueTooLarge`.
    public func undo(
        _ action: ReversibleAction.ID? = nil, progress: (Double) -> Bool = { _ in true }
    ) throws(StorageError) -> UndoOutcome? {
        try settled { (engine) throws(StorageError) in try engine.undo(action, progress: progress) }
    }
}
