import SystemC

extension Archive {
    /// Reads every frame of the log and compares the index with it, without the lock. Writes nothing. Uses up to 64 MiB of
    /// memory or a sixteenth of the log's size, if that is more. Costs about as much as reading the archive's files; above some
    /// 380,000 entries they are read several times, for a part of the entries each time.
    public func check() throws(StorageError) -> CheckReport { try check(most: nil) }

    /// Like ``check()``, examining at most `most` entries in one reading of the log. `progress` gets the share done, 0 to 1.
    package func check(
        most: Int?, progress: (Double) -> Void = { _ in }
    ) throws(StorageError) -> CheckReport {
        var report = try engine().check(most: most, progress: progress)
        guard mode == .readOnly else { return report }
        // A writer may have rebuilt the index or reclaimed segments, so damage counts if two checks in a row report the same.
        for attempt in 0..<20 where !report.clean {
            if attempt > 2 { usleep(UInt32(attempt) * 2_000) }
            let again = try reopenedEngine().check(most: most)
            defer { report = again }
            if again.problems == report.problems { break }
        }
        return report
    }

    /// Predicts from a report of damage how many values older than damaged ones a repair removes, how many it makes current, and how
    /// many entries it stores again that only the index has; `nil` without an index from before the damage. Reads the evidence that
    /// a repair would use.
    package func olderValues(
        _ report: CheckReport
    ) throws(StorageError) -> (removed: Int, current: Int, restored: Int)? {
        let engine = try engine()
        var (deleted, unnamed) = (report.deleted, report.unlisted - report.deleted)
        if engine.isCopy {
            let descriptor = try ArchiveOpening(folder: engine.folder, options: StoreOptions()).descriptor
            guard let evidence = try PriorIndexEvidence(engine.folder, descriptor, forRepair: true),
                !evidence.isOfDamagedLog, evidence.outranks(engine.index),
                let found = try evidence.contradictions(in: engine)
            else { return nil }
            // The copy already lacks what a repair removes, and counts no other deletions.
            (deleted, unnamed) = (
                found.deleted.count + Int(engine.index.count(.deletes)), found.unnamed.count
            )
        } else if StatusReader(engine).damagedPlaces > 0, engine.index.evidence != .reconciled {
            return nil
        }
        return engine.kind == .cache
            ? (deleted + unnamed, 0, report.unrecorded) : (deleted, unnamed, report.unrecorded)
    }
}
