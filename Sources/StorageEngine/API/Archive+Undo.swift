extension Archive {
    /// Does what a person planned, in a way that ``undo(_:)`` takes back. Entries that were stored anew, expired
    /// or went since they were seen are left alone and listed. Other processes get at the archive every few
    /// hundred entries.
    public func carryOut(
        _ action: PlannedAction, on entries: [PlannedEntry]
    ) throws(StorageError) -> PlanOutcome {
        try engine().carryOut(action, on: entries)
    }

    /// The same for a tool that shows how far it is: `checkpoint` hears how many entries have been looked at, each time
    /// that the lock is free, and says whether to go on.
    package func carryOut(
        _ action: PlannedAction, on entries: [PlannedEntry], checkpoint: (Int) -> Bool
    ) throws(StorageError) -> PlanOutcome {
        try engine().carryOut(action, on: entries, checkpoint: checkpoint)
    }

    /// Deletes every entry in a way that ``undo(_:)`` takes back. Unlike ``deleteAll()`` it leaves the bytes where
    /// they are until then.
    public func deleteAllReversibly() throws(StorageError) -> PlanOutcome {
        try engine().deleteAllReversibly()
    }

    /// What can be taken back now, latest first, by whichever process it was done.
    public func reversibleActions() throws(StorageError) -> [ReversibleAction] {
        try engine().reversibleActions()
    }

    /// Takes back an action, or the latest: values, deadlines, owners and places in the order of recency return.
    /// Entries that were recorded anew stay as they are. Where the limit leaves no room for all, the least recent
    /// are evicted, as always. `nil` when there is nothing (or not that) to take back.
    public func undo(_ action: ReversibleAction.ID? = nil) throws(StorageError) -> UndoOutcome? {
        try engine().undo(action)
    }
}
