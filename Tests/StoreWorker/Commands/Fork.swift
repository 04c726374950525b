import StorageEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// Swift hides fork because its runtime has threads in many programs; this one has none here.
private typealias ForkFunction = @convention(c) () -> Int32
private func forkProcess() -> Int32 {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { return -1 }
    return unsafeBitCast(symbol, to: ForkFunction.self)()
}

/// The case of an error without its details; `done` where there was none.
func outcome(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "done"
    } catch let error as StorageError {
        return Mirror(reflecting: error).children.first?.label ?? "\(error)"
    } catch {
        return "\(error)"
    }
}

extension WorkerCommand {
    /// `fork STORE ARCHIVE LOCKING STOP-FILE`: parent and child store at the same time, the child first through
    /// what it inherited and then through a store of its own. Says what each call of the child led to.
    func forkWithOpenStore(_ arguments: WorkerArguments) throws {
        let locking: LockingMode = arguments.word(3) == "fileLock" ? .fileLock : .robustMutex
        let options = StoreOptions(processName: "parent", locking: locking)
        let store = try Store.open(at: arguments.storePath, options: options)
        let archive = try store.archive(
            named: arguments.archiveName, orCreate: ArchiveConfiguration(diskLimit: 10_000_000))
        try archive.put([1], forKey: "before")
        let list = try archive.entries()
        let child = forkProcess()
        guard child >= 0 else { exit(4) }
        if child == 0 {
            say("child put \(outcome { try archive.put([2], forKey: "inherited") })")
            say("child delete \(outcome { try archive.delete("before") })")
            say("child deleteAll \(outcome { try archive.deleteAll() })")
            say("child setLimits \(outcome { try archive.setLimits(disk: 1, memory: nil) })")
            say("child access \(outcome { _ = try archive.access("before") })")
            say("child peek \(outcome { _ = try archive.peek("before") })")
            say("child status \(outcome { _ = try archive.status() })")
            say("child list \((try? list.key(at: 0)) ?? "-")")
            // The store itself opens the archive for the child.
            say("child again \(outcome { try put(through: store, arguments, count: 500, named: "again") })")
            say("child close \(outcome { store.close() })")
            say(
                "child own \(outcome { try put(through: Store.open(at: arguments.storePath), arguments, count: 500, named: "own") })"
            )
            _exit(0)
        }
        say("parent puts \(outcome { try put(through: store, arguments, count: 1000, named: "parent") })")
        var status: Int32 = 0
        waitpid(child, &status, 0)
        say("child ended \(status)")
        say("parent after \(outcome { try archive.put([3], forKey: "after") })")
        say("ready")
        while !exists(arguments.word(4)) { usleep(1000) }
        say("parent close \(outcome { store.close() })")
    }

    private func put(through store: Store, _ arguments: WorkerArguments, count: Int, named name: String)
        throws
    {
        let archive = try store.archive(named: arguments.archiveName)
        for number in 0..<count {
            try archive.put([UInt8](repeating: 5, count: number), forKey: "\(name) \(number)")
        }
    }
}
