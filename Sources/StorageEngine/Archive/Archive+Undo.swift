extension Archive {
    /// Carries out a plan as one action that ``undo(_:progress:)`` reverts. Skips entries that changed, expired or
    /// disappeared since the plan was made, or are no longer idle, and reports why. Releases the lock every few hundred
    /// entries and then calls `progress` with the number done; return `false` to stop. Duplicate entries count once.
    ///
    /// On a full disk, where each removal needs some bytes of the log, a removal drops the undo records of earlier
    /// actions, then its own, and continues; then ``PlanOutcome/isFinal`` is set.
    ///
    /// Throws only while nothing has been done; later errors are in ``PlanOutcome/failure``.
    public func carryOut(
        _ action: PlannedAction, on entries: [PlannedEntry], progress: (Int) -> Bool = { _ in true }
    ) throws(StorageError) -> PlanOutcome {
        try finishingChange { (engine) throws(StorageError) in
            try PlanRunner(engine).carryOut(action, on: entries, progress: progress)
        }
    }

    /// Deletes all entries present at the start as one action that ``undo(_:progress:)`` reverts. Works in steps of a
    /// few hundred, visible to other processes; entries that these record during the call stay. Unlike ``deleteAll()``
    /// it leaves the bytes in place until the action can no longer be undone.
    ///
    /// On a full disk, where entries can't be logged one by one, the deletion is final like ``deleteAll()``, frees the
    /// space, and ``PlanOutcome/action`` is `nil`.
    ///
    /// - Parameter progress: gets the number of entries deleted so far; return `false` to stop.
    public func deleteAllReversibly(
        progress: (Int) -> Bool = { _ in true }
    ) throws(StorageError) -> PlanOutcome {
        try deleteAllReversibly(of: nil, progress: progress)
    }

    /// Like ``deleteAllReversibly(progress:)`` for the entries of an earlier version: those stored since stay. Throws `noSpace` if
    /// a full disk prevents that.
    package func deleteAllReversibly(
        of version: ArchiveVersion?, progress: (Int) -> Bool
    ) throws(StorageError) -> PlanOutcome {
        try finishingChange { (engine) throws(StorageError) in
            let before = Removal(entries: engine.index.entryCount, bytes: engine.index.valueBytes)
            do throws(StorageError) {
                return try PlanRunner(engine).deleteAllReversibly(of: version, progress: progress)
            } catch {
                guard error.isNoSpace, version?.includesAllEntries(of: engine) ?? true else { throw error }
                _ = try EntryRemover(engine).deleteAll()
                var outcome = PlanOutcome()
                (outcome.entries, outcome.bytes, outcome.isFinal) = (before.entries, before.bytes, true)
                return outcome
            }
        }
    }

    /// Actions of all processes that can be undone now, latest first.
    public func reversibleActions() throws(StorageError) -> [ReversibleAction] {
        try UndoLog(engine()).reversibleActions()
    }

    /// The size of a removal that can be undone for a full ten minutes, regardless of later writes.
    public func undoBudget() throws(StorageError) -> UndoBudget { try UndoWindow(engine()).undoBudget }

    /// Undoes an action, or the latest: restores values, expiry times, owners and positions in the order of recency. Entries that
    /// were recorded again stay unchanged, and their former versions are never restored. If the limit has no space for all,
    /// evicts the least recent. Returns `nil` if no such action can be undone.
    ///
    /// If the restored entries would exceed the limit, restores and evicts nothing. Raise the limit then.
    ///
    /// Deleted or expired entries are restored in one step for every process, even after a crash; this step can't be stopped.
    /// Before that step, the call reads all bytes of these entries, to count damaged ones, and evicts other entries. The lock is
    /// never held for longer than some hundred entries take. Expiry times are restored some hundred at a time: `progress` gets
    /// the fraction done, 0 to 1; return `false` to stop.
    ///
    /// - Throws: also `valueTooLarge`.
    public func undo(
        _ action: ReversibleAction.ID? = nil, progress: (Double) -> Bool = { _ in true }
    ) throws(StorageError) -> UndoOutcome? {
        try finishingChange { (engine) throws(StorageError) in
            try UndoLog(engine).undo(action, progress: progress)
        }
    }
}
