import StorageEngine

/// What a person confirmed: the only calls that change a store. Each opens it for writing and closes it again.
extension EngineSource {
    public func carryOut(
        _ change: Change, on targets: [Target], archive name: String, store path: String,
        checkpoint: (Int) -> Bool
    ) throws(SourceError) -> ChangeOutcome {
        try writing(to: name, of: path) { (archive) throws(StorageError) in
            var result = ChangeOutcome()
            var entries = targets.map { PlannedEntry(key: $0.key, sequence: $0.sequence) }
            if case .expireIdle(let before) = change {
                // Reading a value doesn't change its sequence, so the engine can't tell.
                var idle: [PlannedEntry] = []
                for entry in entries {
                    if let metadata = try archive.metadata(entry.key), metadata.sequence == entry.sequence,
                        Moment(metadata.accessed) >= before
                    {
                        result.used.append(entry.key)
                    } else {
                        idle.append(entry)
                    }
                }
                entries = idle
            }
            let clock = ContinuousClock()
            var last = clock.now
            var reached = 0
            var isStopped = false
            let outcome = try archive.carryOut(EngineSource.action(change), on: entries) { done in
                let now = clock.now
                result.longestCall = max(result.longestCall, (now - last) / .seconds(1))
                reached = done
                isStopped = !checkpoint(done)
                last = clock.now
                return !isStopped
            }
            result.longestCall = max(result.longestCall, (clock.now - last) / .seconds(1))
            result.entries = outcome.entries
            result.bytes = outcome.bytes
            result.unchanged = outcome.unchanged
            result.isReversible = outcome.action != nil
            for key in outcome.skipped {
                if try archive.metadata(key) == nil {
                    result.absent.append(key)
                } else {
                    result.changed.append(key)
                }
            }
            if let failure = outcome.failure {
                // What was done before stays done, so it is told together with the error.
                result.stopped =
                    "Stopped after \(outcome.entries) of \(entries.count): \(failure.description)"
            } else if isStopped {
                result.stopped = "Stopped after \(reached) of \(entries.count)."
            }
            return result
        }
    }

    public func undo(
        _ id: UInt32, archive: String, store: String, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> UndoReport? {
        try writing(to: archive, of: store) { (archive) throws(StorageError) in
            let clock = ContinuousClock()
            var last = clock.now
            var longest = 0.0
            let undone = try archive.undo(id) { share in
                longest = max(longest, (clock.now - last) / .seconds(1))
                let goesOn = checkpoint(share)
                last = clock.now
                return goesOn
            }
            guard let outcome = undone else { return nil }
            return UndoReport(
                entries: outcome.entries, bytes: outcome.bytes, skipped: outcome.skipped,
                skippedCount: outcome.skippedCount, expired: outcome.expired, displaced: outcome.displaced,
                evicted: outcome.evicted,
                longestCall: max(longest, (clock.now - last) / .seconds(1)), isComplete: outcome.isComplete)
        }
    }

    public func clearLog(archive: String, store: String) throws(SourceError) -> ChangeOutcome {
        try writing(to: archive, of: store) { (archive) throws(StorageError) in
            var result = ChangeOutcome()
            let clock = ContinuousClock()
            let start = clock.now
            let removal = try archive.deleteAll()
            result.longestCall = (clock.now - start) / .seconds(1)
            result.entries = removal.entries
            result.bytes = removal.bytes
            return result
        }
    }

    private func writing<Result>(
        to name: String, of path: String, _ body: (Archive) throws(StorageError) -> Result
    ) throws(SourceError) -> Result {
        try EngineSource.translating { () throws(StorageError) in
            let store = try Store.open(
                at: path, mode: .readWrite, createIfMissing: false,
                options: StoreOptions(processName: "vellum browse"))
            defer { store.close() }
            return try body(try store.archive(named: name))
        }
    }

    private static func action(_ change: Change) -> PlannedAction {
        switch change {
        case .delete: .delete
        case .expireNow, .expireIdle: .expireNow
        case .lifetime(let seconds): .setLifetime(seconds.map { .seconds($0) })
        }
    }
}
