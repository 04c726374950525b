import Foundation
import StorageEngine
import TestSupport

extension WorkerCommand {
    /// `backUp STORE ARCHIVE SEED PATH`, until it is killed: backs up the store, and checks that PATH is a whole store,
    /// also if an earlier process left it. Says `backed up ENTRIES`, and `! …` for errors.
    func backUp(_ arguments: WorkerArguments) throws {
        let path = arguments.word(4)
        let store = try Store.open(
            at: arguments.storePath, options: StoreOptions(processName: "back up \(arguments.seed)"))
        let archive = try store.archive(named: arguments.archiveName)
        let gone = path + ".gone"
        while true {
            // Renamed before its removal, so that no reader finds a part of it.
            if exists(gone) { try FileManager.default.removeItem(atPath: gone) }
            var before: UInt64 = 0
            if !exists(path) {
                before = try NumberedBatches.number(in: archive)
                let made = try unlessBusy({ () throws(StorageError) in try store.backUp(to: path) })
                guard let report = made ?? nil else { continue }
                if report.damaged != [] { say("! \(report)") }
            }
            let entries = try lookAt(
                path, arguments.archiveName, from: before, to: NumberedBatches.number(in: archive))
            say("backed up \(entries)")
            try FileManager.default.moveItem(atPath: path, toPath: gone)
        }
    }

    /// Every archive of the backup is clean, and it has one whole numbered batch.
    private func lookAt(_ path: String, _ name: String, from: UInt64, to: UInt64) throws -> Int {
        let copy = try Store.open(at: path, mode: .readOnly)
        defer { copy.close() }
        for name in try copy.archiveNames() {
            let report = try copy.archive(named: name).check()
            if !report.clean { say("! backup of \(name): \(report.problems)") }
        }
        let archive = try copy.archive(named: name)
        let number = try NumberedBatches.number(in: archive)
        if number < from || number > to { say("! backup of batch \(number), made from \(from) to \(to)") }
        if let complaint = try NumberedBatches.complaint(of: archive.snapshot(), is: number) {
            say("! backup: \(complaint)")
        }
        return try archive.status().entries
    }
}
