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
}
