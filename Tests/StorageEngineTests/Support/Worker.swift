import Foundation
import TestSupport

extension TemporaryFolder {
    /// Starts a worker: a command, and its arguments after the store's path.
    func worker(_ command: String, _ arguments: String...) throws -> Worker {
        try Worker([command, store] + arguments, in: self)
    }
}

/// A `StoreWorker` process and its output. Used by one test at a time.
final class Worker {
    let process: ChildProcess
    private let path: String

    /// Writes the output to a file, so that a kill loses none of it and no thread waits for it. `executable`: another
    /// program than the worker. `variables`: added to the tests' environment.
    init(
        _ arguments: [String], in folder: TemporaryFolder, executable: String? = nil,
        variables: [String: String] = [:]
    ) throws {
        path = folder.path + "/output-" + UUID().uuidString
        process = try ChildProcess(
            executable ?? ChildProcess.program(named: "StoreWorker"), arguments,
            environment: ProcessInfo.processInfo.environment.merging(variables) { $1 },
            streams: [1: .writing(path)])
    }

    var pid: pid_t { process.pid }

    func signal(_ number: Int32) { process.signal(number) }

    func kill() async throws {
        signal(SIGKILL)
        _ = try await finish()
    }

    /// Waits for the end. Returns the status that `waitpid` reports (0: success) and the lines.
    func finish() async throws -> (status: Int32, lines: [String]) {
        while !process.hasEnded() { try await Task.sleep(for: .milliseconds(2)) }
        return (process.status ?? 0, linesSoFar())
    }

    /// The output so far, whole lines only.
    func linesSoFar() -> [String] {
        guard let data = try? contents(of: path) else { return [] }
        let whole = data.lastIndex(of: UInt8(ascii: "\n")).map { data[...$0] } ?? Data()
        return String(decoding: whole, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Removes the output; a long test starts thousands of workers.
    func discardOutput() { unlink(path) }

    /// Bytes of output so far.
    var outputBytes: Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// Waits for a line with this beginning; `false` if the process ends or `seconds` pass first.
    func hasSaid(_ beginning: String, within seconds: Double = 60) async throws -> Bool {
        let end = Date().addingTimeInterval(seconds)
        while Date() < end {
            if linesSoFar().contains(where: { $0.hasPrefix(beginning) }) { return true }
            if process.hasEnded() { return linesSoFar().contains { $0.hasPrefix(beginning) } }
            try await Task.sleep(for: .milliseconds(2))
        }
        // On a busy machine the last check may be older than that.
        return linesSoFar().contains { $0.hasPrefix(beginning) }
    }
}
