import Foundation
import Vellum

// Swift hides fork because its runtime has threads in many programs; this one has none here that holds a lock.
private typealias ForkFunction = @convention(c) () -> Int32
private func forkProcess() -> Int32 {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { return -1 }
    return unsafeBitCast(symbol, to: ForkFunction.self)()
}

extension ObjectWorker {
    /// `ObjectWorker fork STORE`: parent and child continue with the archive, and print their results.
    static func fork(_ store: String) throws {
        let factory = ArchivesFactory(storePath: store)
        let sheets = try factory.archives(for: Sheet.self, trySetMaxDiskSize: 1.megaBytes)
        func say(_ who: String) {
            let found = ["a", "b", "c"].map { sheets.access(archiveWithKey: $0)?.version ?? 0 }
            print(who, found)
            fflush(nil)
        }
        sheets.record(Sheet("a", version: 1))
        let child = forkProcess()
        guard child >= 0 else { exit(4) }
        if child == 0 {
            say("child")
            sheets.record(Sheet("b", version: 2))
            say("child")
            factory.close()
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        sheets.record(Sheet("c", version: 3))
        say("parent")
        exit(status)
    }
}
