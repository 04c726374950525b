import Foundation
import StorageEngine
import TestSupport

extension WorkerCommand {
    /// `backUp STORE ARCHIVE SEED PATH`, until it is killed: backs up the store, and looks whether what is at PATH is a
    /// whole store, also where an earlier life left it. Says `backed up ENTRIES`, and `! …` for what is wrong.
    func backUp(_ arguments: WorkerArguments) throws {
        let path = arguments.word(4)
        let store = try Store.open(
            at: arguments.storePath, options: StoreOptions(processName: "back up \(arguments.seed)"))
        let archive = try store.archive(named: arguments.archiveName)
        let gone = path + ".gone"
        while true {
            // Taken away under another name, so that nobody finds a part of it here.
            if exists(gone) { try FileManager.default.removeItem(atPath: gone) }
            var before: UInt64 = 0
            if !exists(path) {
                before = try NumberedBatches.number(in: archive)
                guard let report = try backUp(store, to: path) else { continue }
                if report.damaged != [] { say("! \(report)") }
            }
            let entries = try lookAt(
                path, arguments.archiveName, from: before, to: NumberedBatches.number(in: archive))
            say("backed up \(entries)")
            try FileManager.default.moveItem(atPath: path, toPath: gone)
        }
    }

    /// `nil`, and `busy` is said, where others bring entries back so often that no moment can be caught.
    private func backUp(_ store: Store, to path: String) throws -> BackupReport? {
        do throws(StorageError) {
            return try store.backUp(to: path)
        } catch {
            guard case .busy = error else { throw error }
            say("busy")
            return nil
        }
    }

    /// Every archive of it is clean, and of the numbered batches it has one as a whole.
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
