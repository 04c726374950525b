import Foundation
import StorageEngine
import TestSupport
import Testing

/// A worker of a storm that is restarted after each kill, and its output.
final class StormRole {
    let arguments: [String]
    let folder: TemporaryFolder
    var worker: Worker
    var acknowledged = Acknowledged()
    var problems: [String] = []
    /// Numbers of messages, with their sequences if acknowledged.
    var appended: [(number: UInt64, sequence: UInt64?)] = []
    /// The last numbered batch that was acknowledged.
    private(set) var applied: UInt64 = 0
    private(set) var backups = 0
    private(set) var looks = 0
    /// Number of snapshots refused as busy.
    private(set) var busy = 0

    var command: String { arguments[0] }
    var archiveName: String { arguments[2] }
    /// Whether its output lists each key.
    var hasKeys: Bool { ["write", "overwrite", "mix"].contains(command) }
    var operations: Int { acknowledged.operations + appended.count + Int(applied) }

    /// - Parameter words: command, archive and seed, and what the command takes beyond that.
    init(_ words: [String], in folder: TemporaryFolder) throws {
        arguments = [words[0], folder.store] + words[1...]
        self.folder = folder
        worker = try Self.start(arguments, in: folder)
    }

    /// Runs at low priority, so that the killing process stays responsive.
    private static func start(_ arguments: [String], in folder: TemporaryFolder) throws -> Worker {
        let program = try ChildProcess.program(named: "StoreWorker")
        return try Worker(["-n", "5", program] + arguments, in: folder, executable: "/usr/bin/nice")
    }

    /// Kills the worker and reads its output.
    func kill() async throws {
        worker.signal(SIGKILL)
        let (_, lines) = try await worker.finish()
        worker.discardOutput()
        problems += lines.filter { $0.hasPrefix("!") }
        if hasKeys { acknowledged.replay(lines) }
        for line in lines {
            if line.hasPrefix("+< "), let sequence = UInt64(line.dropFirst(3)) {
                appended[appended.count - 1].sequence = sequence
            } else if line.hasPrefix("+ "), let number = UInt64(line.dropFirst(2)) {
                appended.append((number, nil))
            } else if line.hasPrefix("applied "), let number = UInt64(line.dropFirst(8)) {
                applied = number
            } else if line.hasPrefix("backed up ") {
                backups += 1
            } else if line.hasPrefix("looked ") {
                looks += 1
            } else if line == "busy" {
                busy += 1
            }
        }
    }

    func restart() throws { worker = try Self.start(arguments, in: folder) }

    /// Whether it makes progress within a minute. A wait for a lock takes up to ten seconds.
    func makesProgress() async throws -> Bool {
        let before = worker.outputBytes
        let end = Date().addingTimeInterval(60)
        while Date() < end {
            if worker.outputBytes > before { return true }
            try await Task.sleep(for: .milliseconds(2))
        }
        return false
    }

    // MARK: Verification

    /// Compares the archive with the output of the killed worker, by key and in a snapshot.
    func verify(_ archive: Archive) throws -> Acknowledged.Findings {
        if command == "batches" { return try verifyBatches(archive) }
        guard hasKeys else { return Acknowledged.Findings() }
        var findings = acknowledged.verify(archive)
        let start = monotonicNow()
        let snapshot = try archive.patientSnapshot()
        findings += acknowledged.verify(at: start...monotonicNow()) { try snapshot.value($0) }
        return findings
    }

    /// Expects a complete batch: the last acknowledged one, or the next.
    private func verifyBatches(_ archive: Archive) throws -> Acknowledged.Findings {
        var findings = Acknowledged.Findings()
        let number = try archive.withPeek(NumberedBatches.keys[0]) { NumberedBatches.number($0) } ?? 0
        if number < applied {
            findings.lost += 1
            findings.first = "batch \(number) is found, and \(applied) was acknowledged"
        } else if number > applied + 1 {
            findings.corrupt += 1
            findings.first = "batch \(number) is found after \(applied)"
        }
        applied = number
        let snapshot = try archive.patientSnapshot()
        for (key, value) in NumberedBatches.changes(number) {
            let isWhole = try archive.peek(key) == value && snapshot.value(key) == value
            guard number > 0, !isWhole else { continue }
            findings.torn += 1
            findings.first = findings.first ?? "batch \(number) has another value under \(key)"
        }
        return findings
    }
}

extension Archive {
    /// A snapshot, despite constant undos by others.
    fileprivate func patientSnapshot() throws -> ArchiveSnapshot {
        for _ in 0..<20 {
            do throws(StorageError) {
                return try snapshot()
            } catch {
                guard case .busy = error else { throw error }
            }
        }
        return try snapshot()
    }
}
