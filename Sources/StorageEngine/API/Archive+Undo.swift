extension Archive {
    /// Does what a person planned, in a way that ``undo(_:)`` takes back. Entries that were stored anew, expired
    /// or went since they were seen are left alone and listed. Other processes get at the archive every few
    /// hundred entries; `progress` is told then how many are done, and ends it by `false`. An entry that is named
    /// twice counts once.
    ///
    /// Throws only while nothing has been done; later an error is in the outcome (``PlanOutcome/failure``).
    public func carryOut(
        _ action: PlannedAction, on entries: [PlannedEntry], progress: (Int) -> Bool = { _ in true }
    ) throws(StorageError) -> PlanOutcome {
        try settled { (engine) throws(StorageError) in
            let outcome = try engine.carryOut(action, on: entries, progress: progress)
            if outcome.entries > 0 { try engine.beginHousekeeping() }
            return outcome
        }
    }

    /// Deletes every entry in a way that ``undo(_:)`` takes back. Unlike ``deleteAll()`` it leaves the bytes where
    /// they are until then. On a full disk, where there is no room to say which they are, it is final like that one, frees
    /// their room, and there is no action in the outcome.
    public func deleteAllReversibly() throws(StorageError) -> PlanOutcome {
        try settled { (engine) throws(StorageError) in
            let before = Removal(entries: engine.entryCount, bytes: engine.valueBytes)
            do throws(StorageError) {
                let outcome = try engine.deleteAllReversibly()
                if outcome.entries > 0 { try engine.beginHousekeeping() }
                return outcome
            } catch {
                guard case .noSpace = error else { throw error }
                _ = try engine.deleteAll()
                return PlanOutcome(entries: before.entries, bytes: before.bytes, skipped: [], action: nil)
            }
        }
    }

    /// What can be taken back now, latest first, by whichever process it was done.
    public func reversibleActions() throws(StorageError) -> [ReversibleAction] {
        try engine().reversibleActions()
    }

    /// Takes back an action, or the latest: values, deadlines, owners and places in the order of recency return.
    /// Entries that were recorded anew stay as they are. Where the limit leaves no room for all, the least recent
    /// are evicted, as always. `nil` when there is nothing (or not that) to take back.
    ///
    /// What was deleted or expired at once comes back in one step. Deadlines come back some hundred at a time:
    /// in between other processes get at the archive, and `progress` is told how much is done, 0 to 1, and
    /// ends it by `false`.
    public func undo(
        _ action: ReversibleAction.ID? = nil, progress: (Double) -> Bool = { _ in true }
    ) throws(StorageError) -> UndoOutcome? {
        try settled { (engine) throws(StorageError) in try engine.undo(action, progress: progress) }
    }
}
