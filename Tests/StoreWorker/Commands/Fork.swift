import Foundation
import StorageEngine

// Swift hides fork because its runtime has threads in many programs; this one has none here.
private typealias ForkFunction = @convention(c) () -> Int32
private func forkProcess() -> Int32 {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { return -1 }
    return unsafeBitCast(symbol, to: ForkFunction.self)()
}

/// Case of an error without its details; `done` without an error.
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
    /// `fork STORE ARCHIVE LOCKING STOP-FILE`: parent and child store at the same time, the child first through the
    /// inherited store and then through a separate one. Says the outcome of each call of the child.
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

    /// `forkWithUpkeep STORE ARCHIVE COUNT`: forks children while the background thread is busy. Each opens an archive,
    /// stores an entry with a short TTL, and waits until it is removed in the background.
    func forkWithUpkeep(_ arguments: WorkerArguments) throws {
        let count = arguments.number(3)
        let store = try Store.open(at: arguments.storePath)
        let busy = try (0..<8).map { number in
            try store.archive(
                named: "Busy\(number)",
                orCreate: ArchiveConfiguration(diskLimit: 100_000, durability: .interval(seconds: 0.1)))
        }
        let archive = try store.archive(
            named: arguments.archiveName, orCreate: ArchiveConfiguration(diskLimit: 100_000))
        // Children must not wait for these threads, which hold the store's locks for as long as an opening takes.
        for number in 0..<2 {
            Thread.detachNewThread {
                while let archive = try? store.archive(
                    named: "Reopened\(number)", orCreate: ArchiveConfiguration(diskLimit: 100_000))
                {
                    try? archive.put([1], forKey: "a")
                    archive.close()
                }
            }
        }
        var children: [Int32] = []
        for number in 0..<count {
            for archive in busy { try archive.put([1], forKey: "\(number)") }
            let child = forkProcess()
            guard child >= 0 else { exit(4) }
            if child == 0 { _exit(expiresInBackground(store, "own\(number)") ? 0 : 5) }
            children.append(child)
            usleep(3000)
        }
        var ended = 0
        var expired = 0
        for _ in 0..<1500 where ended < count {
            var status: Int32 = 0
            while true {
                let child = waitpid(-1, &status, WNOHANG)
                guard child > 0 else { break }
                ended += 1
                if status == 0 {
                    expired += 1
                } else {
                    say("child \(child) ended with wait status \(status)")
                }
            }
            usleep(20_000)
        }
        for child in children where ended < count { kill(child, SIGKILL) }
        say("children \(count), ended \(ended), expired \(expired)")
        _ = archive
    }

    private func expiresInBackground(_ store: Store, _ name: String) -> Bool {
        do {
            let archive = try store.archive(
                named: name, orCreate: ArchiveConfiguration(diskLimit: 100_000))
            try archive.put([1], forKey: "short", attributes: EntryAttributes(lifetime: .milliseconds(50)))
            for _ in 0..<1000 {
                if try archive.status().expirations > 0 { return true }
                usleep(10_000)
            }
            say("child \(getpid()): \(try archive.status()), \(threadsOfThisProcess())")
        } catch {
            say("child: \(error)")
        }
        return false
    }

    /// State of each thread, and its system call with arguments (proc(5), "syscall").
    private func threadsOfThisProcess() -> String {
        let tasks = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.map { thread in
            let parts = ["stat", "syscall", "wchan"].map {
                (try? String(contentsOfFile: "\(tasks)/\(thread)/\($0)", encoding: .utf8))?.prefix(200) ?? "?"
            }
            return parts.joined(separator: " ").replacingOccurrences(of: "\n", with: "")
        }.joined(separator: "; ")
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
