import StorageEngine
import StoreInspection

/// The calls that change a store. Each opens it for writing and closes it again.
extension EngineSource {
    package func store(
        _ edit: StoredEdit, in archive: ArchiveAddress
    ) throws(SourceError) -> Carried<Bool> {
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
        return try SourceError.translating { () throws(StorageError) in
            try body(try store.archive(named: archive.name))
        }
    }

    func openForWriting(_ path: String) throws(SourceError) -> Store {
        try SourceError.translating { () throws(StorageError) in
            try Store.open(
                at: path, mode: .readWrite, createIfMissing: false,
                options: .forChanging(as: "vellum browse"))
        }
    }
}
