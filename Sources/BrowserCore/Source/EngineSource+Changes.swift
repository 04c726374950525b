import Foundation
import StorageEngine
import StoreInspection

extension EngineSource {
    package func change(
        _ archive: ArchiveAddress, _ change: ArchiveChange, seen: ArchiveSample, progress: (Double) -> Bool
    ) throws(SourceError) -> Carried<String> {
        let store = try openForWriting(archive.store)
        defer { store.close() }
        var clock = StepClock()
        let outcome: String
        let name = archive.name
        let (opened, identity) = try SourceError.translating { () throws(StorageError) in
            let opened = try store.archive(named: name)
            return (opened, try opened.identity())
        }
        guard identity == seen.identity else {
            throw SourceError("\(name) was replaced since it was shown; nothing was changed.")
        }
        switch change {
        case .resize(let disk, let memory, let policy):
            let now = try SourceError.translating(opened.configuration())
            // Otherwise the change would evict entries that its plan didn't include.
            guard
                (now.diskLimit, now.memoryLimit, now.evictionPolicy)
                    == (seen.diskLimit, seen.memoryLimit, seen.evictionPolicy)
            else {
                throw SourceError("Another process changed the limits of \(name). Check them and try again.")
            }
            let evicted = try SourceError.translating { () throws(StorageError) in
                let before = try opened.status().evictions
                try opened.changeConfiguration {
                    ($0.diskLimit, $0.memoryLimit, $0.evictionPolicy) = (disk, memory, policy)
                }
                return try opened.status().evictions &- before
            }
            let isOther = seen.kind == .cache && policy != seen.evictionPolicy
            outcome =
                "\(name) was resized\(isOther ? ", policy \(policy)" : ""); "
                + Figures.count(evicted, "eviction", "evictions") + "."
        case .compact:
            let (before, after) = try SourceError.translating { () throws(StorageError) in
                let before = try opened.status().footprint
                try opened.compact { share in clock.step { progress(share) } }
                return (before, try opened.status().footprint)
            }
            let freed = before > after ? "\(Figures.bytes(before - after)) released" : "nothing to release"
            outcome = "Compacted \(name): \(freed) (\(Figures.bytes(after)))."
        case .clear:
            let removal = try SourceError.translating(opened.deleteAll())
            let messages = Figures.count(removal.entries, "message", "messages")
            outcome = "Deleted \(messages), \(Figures.bytes(removal.bytes))."
        case .rename, .drop: outcome = try remove(archive, from: store, change, seen: seen, progress)
        }
        return Carried(outcome, longestCall: clock.longestStep())
    }

    /// Removes an unchanged archive that no other process has open; a rename copies it first.
    private func remove(
        _ archive: ArchiveAddress, from store: Store, _ change: ArchiveChange, seen: ArchiveSample,
        _ progress: (Double) -> Bool
    ) throws(SourceError) -> String {
        let name = archive.name
        let (now, found) = try SourceError.translating { () throws(StorageError) in
            let opened = try store.archive(named: name)
            return (try ArchiveSample(opened), try opened.version())
        }
        if let other = now.runningProcesses.first(where: { $0.pid != getpid() }) {
            throw SourceError("\(other.name) (\(other.pid)) has \(name) open.")
        }
        var version = found
        if case .rename(let new) = change {
            let copied = try SourceError.translating { () throws(StorageError) in
                try store.copyVersion(ofArchive: name, to: store, as: new) { step in
                    progress(Double(step.done) / Double(max(1, step.total)))
                }
            }
            guard let copied else { throw SourceError("Stopped; \(name) is unchanged.") }
            guard copied.report.damaged.isEmpty else {
                throw SourceError("\(new) has the readable part; \(name) is damaged and was kept.")
            }
            version = copied.version
        } else if !now.isSame(as: seen) {
            throw SourceError("\(name) has changed since it was shown; nothing was dropped.")
        }
        let isRemoved = try SourceError.translating(store.removeArchive(named: name, ifStill: version))
        if case .rename(let new) = change {
            return isRemoved
                ? "Renamed \(name) to \(new)." : "\(new) is a copy; \(name) has changed and was kept."
        }
        guard isRemoved else { throw SourceError("\(name) has changed since; nothing was dropped.") }
        return "\(name) was dropped: \(seen.amount)."
    }
}

/// The calls that change a store. Each opens it for writing and closes it again.
extension EngineSource {
    package func store(_ edit: StoredEdit, in archive: ArchiveAddress) throws(SourceError) -> Carried<Bool> {
        try writing(to: archive) { (archive) throws(StorageError) in
            var clock = StepClock()
            let isStored: Bool
            if let old = edit.replacing {
                let change = try archive.change(edit.key) { present in
                    present?.sequence == old.sequence && present?.created == old.created
                        ? .replaceValue(edit.bytes) : .keep
                }
                isStored = if case .replaceValue = change { true } else { false }
            } else {
                let put = try archive.put(
                    edit.bytes, forKey: edit.key, ifSequence: nil, encoding: edit.encoding)
                isStored = put != .changed
            }
            return Carried(isStored, longestCall: clock.longestStep())
        }
    }

    package func carryOut(
        _ action: PlannedAction, on targets: [Target], in archive: ArchiveAddress,
        checkpoint: (Int) -> Bool
    ) throws(SourceError) -> Carried<PlanOutcome> {
        try writing(to: archive) { (archive) throws(StorageError) in
            try targets.carryOut(action, in: archive, checkpoint: checkpoint)
        }
    }

    package func undo(
        _ action: ReversibleAction, in archive: ArchiveAddress, checkpoint: (Double) -> Bool
    ) throws(SourceError) -> Carried<UndoOutcome>? {
        try writing(to: archive) { (archive) throws(StorageError) in
            let present = try archive.reversibleActions().first { $0.id == action.id }
            guard present?.time == action.time else { return nil }
            var clock = StepClock()
            let undone = try archive.undo(action.id) { share in clock.step { checkpoint(share) } }
            return undone.map { Carried($0, longestCall: clock.longestStep()) }
        }
    }

    private func writing<Result>(
        to archive: ArchiveAddress, _ body: (Archive) throws(StorageError) -> Result
    ) throws(SourceError) -> Result {
        let store = try openForWriting(archive.store)
        defer { store.close() }
        return try SourceError.translating(body(try store.archive(named: archive.name)))
    }

    func openForWriting(_ path: String) throws(SourceError) -> Store {
        try SourceError.translating(
            Store.open(
                at: path, mode: .readWrite, createIfMissing: false,
                options: .forChanging(as: "vellum browse")))
    }
}
