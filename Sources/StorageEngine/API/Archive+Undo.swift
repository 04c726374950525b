extension Archive {
    /// Carries out a plan as one action that ``undo(_:progress:)`` takes back. Skips entries that changed, expired or
    /// disappeared since the plan was made, or are no longer idle, and reports why. Releases the lock every few hundred
    /// entries and then calls `progress` with the number done; return `false` to stop. An entry that is named twice
    /// counts once.
    ///
    /// On a full disk, on which each removal needs some bytes of the log, a removal gives up first what earlier actions could undo,
    /// then what this one could, and goes on to its end; then ``PlanOutcome/isFinal`` is set.
    ///
    /// Throws only while nothing has been done; later an error is in the outcome (``PlanOutcome/failure``).
    public func carryOut(
        _ action: PlannedAction, on entries: [PlannedEntry], progress: (Int) -> Bool = { _ in true }
    ) throws(StorageError) -> PlanOutcome {
        try finishingChange { (engine) throws(StorageError) in
            try engine.carryOut(action, on: entries, progress: progress)
        }
    }

    /// Deletes all entries present at the start as one action that ``undo(_:progress:)`` takes back. Works in steps of
    /// a few hundred; between them other processes see some entries gone. What they record in the meantime stays.
    /// Unlike ``deleteAll()`` it leaves the bytes in place until the action can no longer be undone.
    ///
    /// On a full disk the deletion can't be logged entry by entry. Then it is final like ``deleteAll()``, frees the
    /// space, and ``PlanOutcome/action`` is `nil`.
    ///
    /// - Parameter progress: gets the number of entries that are deleted so far; return `false` to stop there.
    public func deleteAllReversibly(
        progress: (Int) -> Bool = { _ in true }
    ) throws(StorageError) -> PlanOutcome {
        try finishingChange { (engine) throws(StorageError) in
            let before = Removal(entries: engine.index.entryCount, bytes: engine.index.valueBytes)
            do throws(StorageError) {
                return try engine.deleteAllReversibly(progress: progress)
            } catch {
                guard case .noSpace = error else { throw error }
                _ = try engine.deleteAll()
                var outcome = PlanOutcome()
                (outcome.entries, outcome.bytes, outcome.isFinal) = (before.entries, before.bytes, true)
                return outcome
            }
        }
    }

    /// Actions of all processes that can be undone now, latest first.
    public func reversibleActions() throws(StorageError) -> [ReversibleAction] {
        try engine().reversibleActions()
    }

    /// How much can be removed now and still be undone for a full ten minutes, however much is written.
    public func undoBudget() throws(StorageError) -> UndoBudget {
        try engine().undoBudget
    }

    /// Undoes an action, or the latest: values, deadlines, owners and places in the order of recency return. Entries
    /// that were recorded again stay as they are. If the limit has no room for all, the least recent are evicted, as
    /// always. Returns `nil` if there is no action, or not this one, to undo.
    ///
    /// If what would come back is larger than the limit by now, nothing comes back and nothing is evicted. The action
    /// can be undone once the limit is raised.
    ///
    /// If a key was recorded again, its former entry never comes back, even after the newer one is gone.
    ///
    /// Entries that were deleted or expired come back in one step for every process, whatever crashes, and that step
    /// can't be stopped. Entries that must make room are evicted before it. The lock is never held for longer than some
    /// hundred entries take. Deadlines come back some hundred at a time: `progress` gets the fraction done, 0 to 1;
    /// return `false` to stop.
    ///
    /// - Throws: also `valueTooLarge`.
    public func undo(
        _ action: ReversibleAction.ID? = nil, progress: (Double) -> Bool = { _ in true }
    ) throws(StorageError) -> UndoOutcome? {
        try finishingChange { (engine) throws(StorageError) in try engine.undo(action, progress: progress) }
    }
}
