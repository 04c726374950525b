import Foundation
import StorageEngine
import TestSupport

extension WorkerCommand {
    /// `rest STORE ARCHIVE`: stores an entry, and says whether the background thread runs while the archive is open,
    /// and ten seconds after its close at the latest. (In a separate process: all archives share the thread.)
    func rest(_ arguments: WorkerArguments) throws {
        let store = try Store.open(at: arguments.storePath)
        try store.archive(named: arguments.archiveName, orCreate: ArchiveConfiguration()).put(
            [1], forKey: "a")
        say("open \(BackgroundThread.shared.isActive)")
        store.close()
        for _ in 0..<1000 where BackgroundThread.shared.isActive { usleep(10_000) }
        say("closed \(BackgroundThread.shared.isActive)")
    }

    /// `cut STORE ARCHIVE 0 ROUNDS`: truncates the index right after the archive is closed, whose entries expire in the
    /// background. Reading a truncated file through a mapping causes SIGBUS.
    func cut(_ arguments: WorkerArguments) throws {
        let store = try Store.open(at: arguments.storePath)
        for round in 0..<arguments.number(4) {
            // A new archive before the log gets long, since each opening rebuilds the index.
            let name = "\(arguments.archiveName)\(round / 20)"
            let archive = try store.archive(named: name, orCreate: ArchiveConfiguration())
            for key in 0..<50 {
                let lifetime = Duration.microseconds(key * 100)
                try archive.put([1], forKey: "\(key)", attributes: EntryAttributes(lifetime: lifetime))
            }
            usleep(UInt32(round % 40) * 100)
            archive.close()
            guard truncate(arguments.storePath + "/\(name).archive/index", 0) == 0 else { exit(4) }
        }
        say("rounds \(arguments.number(4))")
    }
}
