import Foundation
import StorageEngine
import TestSupport

extension WorkerCommand {
    /// `smallDisk FOLDER tmpfs|ext4 0 SCENARIO`: mounts a private file system of 6 MiB at the folder, and says the
    /// results in lines of `NAME VALUE`; `unsupported` if it can't be mounted.
    func runOnSmallDisk(_ arguments: WorkerArguments) throws {
        guard let disk = SmallDisk(at: arguments.storePath, kind: arguments.archiveName) else {
            return say("unsupported")
        }
        switch arguments.word(4) {
        case "cache": try disk.storeEndlessly(.cache)
        case "log": try disk.storeEndlessly(.log)
        case "collection": try disk.fillCollection()
        case "remove": try disk.removeEverySecond()
        case "stale": try disk.reopen { try disk.makeIndexStale() }
        case "removed": try disk.reopen { try FileManager.default.removeItem(atPath: disk.index) }
        case "unneeded": try disk.deleteNothing()
        default: say("! no such scenario")
        }
        say("done")
    }
}

/// A real file system with little space.
private struct SmallDisk {
    private static let megabytes = 6
    private let folder: String
    private var store: String { folder + "/store" }
    var index: String { store + "/A.archive/index" }

    init?(at folder: String, kind: String) {
        self.folder = folder
        guard Mounts.makePrivate() else { return nil }
        if kind == "tmpfs" {
            guard Mounts.mount("tmpfs", at: folder, kind: "tmpfs", 0, options: "size=\(SmallDisk.megabytes)m")
            else {
                return nil
            }
            return
        }
        let image = folder + ".image"
        let commands = [
            "truncate -s \(SmallDisk.megabytes)M '\(image)'", "mkfs.ext4 -q -O ^has_journal -m 0 '\(image)'",
            "mount -o loop '\(image)' '\(folder)'",
        ]
        guard
            let shell = try? ChildProcess(
                "/bin/sh", ["-c", commands.joined(separator: " && ") + " 2>/dev/null"])
        else { return nil }
        shell.waitForEnd()
        guard shell.status == 0 else { return nil }
    }

    private func archive(
        _ kind: ArchiveKind? = nil, options: StoreOptions = StoreOptions()
    ) throws -> Archive {
        let opened = try Store.open(at: store, options: options)
        guard let kind else { return try opened.archive(named: "A") }
        return try opened.archive(
            named: "A",
            orCreate: ArchiveConfiguration(kind: kind, diskLimit: kind == .collection ? nil : 100_000_000))
    }

    /// Fills the free space to the last block.
    private func fill() throws {
        let path = folder + "/filler"
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        for size in [65_536, 4_096, 512] {
            while (try? file.write(contentsOf: Data(repeating: 1, count: size))) != nil {}
        }
    }

    private func empty() throws { try FileManager.default.removeItem(atPath: folder + "/filler") }

    func makeIndexStale() throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: index))
        defer { try? file.close() }
        try file.seek(toOffset: 12)
        try file.write(contentsOf: [3, 0, 0, 0])
    }

    /// Stores six times the available space.
    func storeEndlessly(_ kind: ArchiveKind) throws {
        // Ends the mappings of the first handle, which keep the blocks of removed files.
        do {
            let archive = try archive(kind)
            var random = SeededGenerator(seed: 7)
            var bytes = 0
            var number = 0
            var refused = 0
            var slowest = Duration.zero
            let start = ContinuousClock.now
            while bytes < 6 * SmallDisk.megabytes << 20 {
                let value = [UInt8](repeating: UInt8(number & 255), count: 200 + random.below(4_000))
                let before = ContinuousClock.now
                do {
                    if kind == .log {
                        try archive.append(value)
                    } else {
                        try archive.put(value, forKey: "\(number)")
                        guard try archive.peek("\(number)") == value else {
                            return say("! \(number) is not there")
                        }
                        // One that is accessed constantly.
                        if number % 7 == 0 { _ = try archive.access("\(number / 2)") }
                    }
                } catch {
                    if refused == 0 { say("! \(error)") }
                    refused += 1
                }
                slowest = max(slowest, ContinuousClock.now - before)
                bytes += value.count
                number += 1
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            try report(archive)
            say("stored \(number)")
            say("refused \(refused)")
            say("took \(Int(seconds * 1_000)) ms, longest \(Int(slowest / .microseconds(1))) us")
            let causes = Set(try archive.events().events.filter { $0.kind == .eviction }.map(\.cause))
            say("causes \(causes.map { "\($0)" }.sorted().joined(separator: ","))")
            archive.close()
        }
        try FileManager.default.removeItem(atPath: index)
        try report(self.archive())
    }

    func fillCollection() throws {
        let archive = try archive(.collection)
        var number = 0
        let value = [UInt8](repeating: 5, count: 3_000)
        var refusal = "none"
        do {
            while true {
                try archive.put(value, forKey: "\(number)")
                number += 1
            }
        } catch {
            if case .noSpace = error { refusal = "noSpace" }
        }
        say("refusal \(refusal)")
        say("stored \(number)")
        try report(archive)
        for other in 0..<20 { guard try archive.delete("\(other)") else { return say("! \(other)") } }
        try report(archive)
        try archive.deleteAll()
        try archive.put(value, forKey: "again")
        try report(archive)
    }

    /// Fills a collection with small entries, and deletes every second one reversibly.
    func removeEverySecond() throws {
        let archive = try archive(.collection)
        let value = [UInt8](repeating: 5, count: 300)
        var number = 0
        do {
            while true {
                try archive.put(value, forKey: "\(number)")
                number += 1
            }
        } catch {
            guard case .noSpace = error else { throw error }
        }
        try fill()
        var planned: [PlannedEntry] = []
        for other in stride(from: 0, to: number, by: 2) {
            guard let metadata = try archive.metadata("\(other)") else { return say("! \(other) is lost") }
            planned.append(PlannedEntry(key: metadata.key, sequence: metadata.sequence))
        }
        let some = try archive.carryOut(.delete, on: Array(planned.prefix(300)))
        say("undone \(try archive.undo(some.action?.id)?.entries ?? 0)")
        say("planned \(planned.count)")
        let outcome = try archive.carryOut(.delete, on: planned)
        say("deleted \(outcome.entries)")
        say("final \(outcome.isFinal)")
        let kept = try stride(from: 1, to: number, by: 2).filter { try archive.peek("\($0)") == value }.count
        say("kept \(kept == number / 2)")
        try report(archive)
        archive.close()
        try FileManager.default.removeItem(atPath: index)
        try report(self.archive())
    }

    /// For every kind: opens for writing without a usable index on a full disk, then frees space in all ways.
    func reopen(_ spoil: () throws -> Void) throws {
        for kind in [ArchiveKind.cache, .collection, .log] {
            let archive = try archive(kind)
            for number in 0..<1_200 {
                let value = [UInt8](repeating: 4, count: 1_000)
                if kind == .log {
                    try archive.append(value)
                } else {
                    try archive.put(value, forKey: "\(number)")
                }
            }
            archive.close()
            try spoil()
            try fill()
            let again = try self.archive()
            say("entries \(try again.status().entries)")
            if kind != .log {
                say("deletes \(try (1_180..<1_200).filter { try again.delete("\($0)") }.count)")
                say("taken \(try again.deleteAllReversibly().entries)")
                try again.deleteAll()
                try again.put([1], forKey: "again")
            }
            if kind != .collection { try again.setLimits(disk: 300_000, memory: nil) }
            try report(again)
            again.close()
            say("repaired \(try Store.open(at: store).repair(archiveNamed: "A").damaged)")
            try report(self.archive())
            try Store.open(at: store).removeArchive(named: "A")
            try empty()
        }
    }

    /// Deletes a key that doesn't exist from a cache without an index, whose disk is full.
    func deleteNothing() throws {
        let archive = try archive(.cache)
        for number in 0..<5_000 { try archive.put([UInt8](repeating: 4, count: 100), forKey: "\(number)") }
        archive.close()
        try FileManager.default.removeItem(atPath: index)
        try fill()
        var options = StoreOptions()
        options.keepsEntriesWithoutIndex = true
        let again = try self.archive(options: options)
        say("deletes \(try again.delete("none"))")
        try report(again)
        try again.put([1], forKey: "more")
        guard try again.delete("4999") else { return say("! 4999 is lost") }
        again.close()
        try empty()
        try report(self.archive())
    }

    private func report(_ archive: Archive) throws {
        let status = try archive.status()
        let check = try archive.check()
        let violations = try archive.invariantViolations()
        if !check.clean || !violations.isEmpty { say("! \(check.problems) \(violations)") }
        say("holds \(status.entries)")
    }
}
