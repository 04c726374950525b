extension Archive {
    /// Does what a person planned, in a way that ``undo(_:)`` takes back. Entries that were stored anew, expired
    /// or went since they were seen are left alone and listed. Other processes get at the archive every few
    /// hundred entries; `progress` is told then how many are done, and ends it by `false`.
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
    /// they are until then.
    public func deleteAllReversibly() throws(StorageError) -> PlanOutcome {
        try settled { (engine) throws(StorageError) in
            let outcome = try engine.deleteAllReversibly()
            if outcome.entries > 0 { try engine.beginHousekeeping() }
            return outcome
        }
    }

    /// What can be taken back now, latest first, by whichever process it was done.
    public func reversibleActions() throws(StorageError) -> [ReversibleAction] {
        try engine().reversibleActions()
    }

    /// Takes back an action, or the latest: values, deadlines, owners and places in the order of recency return.
    /// Entries that were recorded anew stay as they are. Where the limit leaves no room for all, the least recent
    /// are evicted, as always. `nil` when there is nothing (or not that) to take back.
    public func undo(_ action: ReversibleAction.ID? = nil) throws(StorageError) -> UndoOutcome? {
        try settled { (engine) throws(StorageError) in try engine.undo(action) }
    }
}
