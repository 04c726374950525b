import Foundation
import StorageEngine

extension WorkerCommand {
    /// `stop STORE ARCHIVE SEED POINT`: opens or creates a collection, stores an entry, and is stopped at that point.
    func stop(_ arguments: WorkerArguments) throws {
        guard let point = CrashPoint(rawValue: arguments.word(4)) else { exit(2) }
        let store = try Store.open(at: arguments.storePath)
        CrashPoint.arm(point, passing: 1, signal: SIGSTOP)
        let archive = try store.archive(
            named: arguments.archiveName, orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        try archive.put([1], forKey: "stopped")
        store.close()
        say("done")
    }

    /// `peek STORE ARCHIVE SEED POINT KEY [PASSING]`: says how many bytes it found. Opens for reading only: a writer's
    /// background task could hold the lock when the process is stopped.
    func peek(_ arguments: WorkerArguments) throws {
        guard let point = CrashPoint(rawValue: arguments.word(4)) else { exit(2) }
        let archive = try arguments.open(.readOnly)
        CrashPoint.arm(point, passing: max(1, arguments.number(6)), signal: SIGSTOP)
        let found = try archive.peek(arguments.word(5))
        say(found.map { "found \($0.count)" } ?? "nothing")
    }

    /// `undo STORE ARCHIVE SEED POINT`: says the number of restored entries.
    func undo(_ arguments: WorkerArguments) throws {
        guard let point = CrashPoint(rawValue: arguments.word(4)) else { exit(2) }
        let archive = try arguments.open()
        CrashPoint.arm(point, passing: 1, signal: SIGSTOP)
        say("\(try archive.undo(nil)?.entries ?? 0)")
    }

    /// `repair STORE ARCHIVE SEED POINT`: repairs the archive, and dies at that point. There is no space for an index beside the old
    /// one if the point is the removal of the old one.
    func repair(_ arguments: WorkerArguments) throws {
        guard let point = CrashPoint(rawValue: arguments.word(4)) else { exit(2) }
        let plan = FaultPlan(
            .fails(ENOSPC), call: .allocate,
            under: "\(arguments.storePath)/\(arguments.archiveName).archive/index.new", number: 1,
            isLasting: true)
        if point == .oldIndexRemoved { SystemFaults.install(plan) }
        CrashPoint.arm(point, passing: 1)
        _ = try Store.open(at: arguments.storePath).repair(archiveNamed: arguments.archiveName)
        say("done")
    }

    /// `evict STORE ARCHIVE SEED POINT BYTES`: stores a value of this size.
    func evict(_ arguments: WorkerArguments) throws {
        guard let point = CrashPoint(rawValue: arguments.word(4)) else { exit(2) }
        let archive = try arguments.open()
        CrashPoint.arm(point, passing: 1, signal: SIGSTOP)
        try archive.put([UInt8](repeating: 1, count: arguments.number(5)), forKey: "large")
        say("done")
    }

    /// `apply STORE ARCHIVE SEED POINT PASSING ENTRIES`: stores entries, reads each, and is stopped at that point of
    /// another put, which applies the accesses.
    func apply(_ arguments: WorkerArguments) throws {
        guard let point = CrashPoint(rawValue: arguments.word(4)) else { exit(2) }
        let archive = try Store.open(at: arguments.storePath).archive(
            named: arguments.archiveName, orCreate: ArchiveConfiguration(kind: .collection, diskLimit: nil))
        for key in 0..<arguments.number(6) { try archive.put([1], forKey: "\(key)") }
        for key in 0..<arguments.number(6) { _ = try archive.access("\(key)") }
        CrashPoint.arm(point, passing: arguments.number(5), signal: SIGSTOP)
        try archive.put([1], forKey: "more")
        say("done")
    }

    /// `discard STORE ARCHIVE SEED POINT PASSING`: stores entries until the disk is full once, so that undo records are
    /// discarded; dies at that point.
    func discard(_ arguments: WorkerArguments) throws {
        guard let point = CrashPoint(rawValue: arguments.word(4)) else { exit(2) }
        let archive = try arguments.open()
        let plan = FaultPlan(
            .fails(ENOSPC), call: .allocate, under: arguments.storePath, number: 1, isLasting: false)
        SystemFaults.install(plan)
        CrashPoint.arm(point, passing: arguments.number(5))
        for number in 0..<5_000 where plan.injected == 0 {
            try archive.put([UInt8](repeating: 1, count: 500), forKey: "new \(number)")
        }
        say("done")
    }

    /// `resize STORE ARCHIVE SEED LIMIT POINT PASSING`: dies at that point, if it is reached.
    func resize(_ arguments: WorkerArguments) throws {
        guard let point = CrashPoint(rawValue: arguments.word(5)) else { exit(2) }
        let archive = try arguments.open()
        CrashPoint.arm(point, passing: arguments.number(6))
        try archive.setLimits(disk: UInt64(arguments.number(4)), memory: nil)
        archive.close()
        say("done")
    }
}
