import StorageEngine
import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension WorkerCommand {
    /// `rest STORE ARCHIVE`: stores an entry, and says whether the thread for the background is there while the archive is
    /// open, and ten seconds after it was closed at the latest. (In a process of its own: the thread is one for all.)
    func rest(_ arguments: WorkerArguments) throws {
        let store = try Store.open(at: arguments.storePath)
        try store.archive(named: arguments.archiveName, orCreate: ArchiveConfiguration()).put(
            [1], forKey: "a")
        say("open \(Upkeep.shared.isActive)")
        store.close()
        for _ in 0..<1000 where Upkeep.shared.isActive { usleep(10_000) }
        say("closed \(Upkeep.shared.isActive)")
    }

    /// `cut STORE ARCHIVE 0 ROUNDS`: cuts the index in place as soon as the archive is closed, while the background was
    /// clearing entries away. A page of a cut file can't be looked at through a mapping: SIGBUS.
    func cut(_ arguments: WorkerArguments) throws {
        let store = try Store.open(at: arguments.storePath)
        for round in 0..<arguments.number(4) {
            // A new one before the log gets long, because each opening builds the index anew.
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
