import Foundation
import TestSupport
import Testing

/// The built program, or another one, while it runs. For one test at a time; killed when released.
final class Spawned {
    private let process: ChildProcess
    private let folder: TemporaryFolder
    private let outputPath: String
    private let errorPath: String
    /// Closing it ends standard input; -1 if that is a file or absent.
    private var inputEnd: Int32 = -1

    /// `holdsInput`: standard input stays open for ``type(_:)``. `output`: the descriptor of standard output; by default a file
    /// for ``lines``.
    init(
        _ arguments: [String], executable: String = Vellum.executable.path, input: String = "",
        holdsInput: Bool = false, output: Int32? = nil, environment: [String: String] = [:]
    ) throws {
        folder = TemporaryFolder()
        outputPath = folder / "out"
        errorPath = folder / "err"
        let inputPath = try folder.file("in", input)
        var pipeEnds: [Int32] = [-1, -1]
        if holdsInput {
            pipeEnds = try Self.pipeEnds()
            inputEnd = pipeEnds[1]
        }
        defer { if holdsInput { close(pipeEnds[0]) } }
        process = try ChildProcess(
            executable, arguments, environment: Vellum.environment(environment),
            streams: [
                0: holdsInput ? .descriptor(pipeEnds[0]) : .reading(inputPath),
                1: output.map { .descriptor($0) } ?? .writing(outputPath), 2: .writing(errorPath),
            ])
    }

    deinit {
        if inputEnd >= 0 { close(inputEnd) }
    }

    /// A pipe that no child inherits: its reading and its writing end.
    static func pipeEnds() throws -> [Int32] {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    var pid: pid_t { process.pid }

    func signal(_ number: Int32) { process.signal(number) }

    var hasEnded: Bool { process.hasEnded() }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(inputEnd, bytes, bytes.count) == bytes.count)
    }

    func endInput() {
        close(inputEnd)
        inputEnd = -1
    }

    /// All of standard output so far.
    var text: String {
        (try? String(decoding: Data(contentsOf: URL(fileURLWithPath: outputPath)), as: UTF8.self)) ?? ""
    }

    /// The complete lines of it.
    var lines: [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeLast()
        return lines
    }

    var errors: String {
        (try? String(decoding: Data(contentsOf: URL(fileURLWithPath: errorPath)), as: UTF8.self)) ?? ""
    }

    /// Waits at most 20 seconds for `count` lines, and returns all.
    func lines(atLeast count: Int, location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await until("\(count) lines", location: location) { self.lines.count >= count }
        return lines
    }

    /// Waits at most 20 seconds for the end; returns the exit code, or the negative number of the signal.
    func finish(location: SourceLocation = #_sourceLocation) async throws -> Int32 {
        try await until("end", location: location) { self.process.hasEnded() }
        return try #require(process.code)
    }

    /// Blocks until the end.
    func result() throws -> Vellum.Result {
        process.waitForEnd()
        return Vellum.Result(
            status: try #require(process.code),
            output: try Data(contentsOf: URL(fileURLWithPath: outputPath)), errors: errors)
    }

    /// Like ``Poll/until(_:location:_:)``; reports the output on failure.
    func until(
        _ what: String, location: SourceLocation = #_sourceLocation, _ isTrue: () throws -> Bool
    ) async throws {
        do {
            try await Poll.until(what, location: location, isTrue)
        } catch {
            Issue.record("output: \(text.suffix(4_000).debugDescription) \(errors)", sourceLocation: location)
            throw error
        }
    }
}

enum Poll {
    /// Fails after 20 seconds and at least 1,000 polls, which allows for busy machines.
    static func until(
        _ what: String, location: SourceLocation = #_sourceLocation, _ isTrue: () throws -> Bool
    ) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(20))
        var looks = 0
        while try !isTrue() {
            looks += 1
            try #require(
                looks < 1000 || ContinuousClock.now < end, "timed out: \(what)",
                sourceLocation: location)
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

extension TestStore {
    /// Starts the program on the store without waiting.
    func start(_ arguments: String..., holdsInput: Bool = false, output: Int32? = nil) throws -> Spawned {
        try Spawned(["--store", path] + arguments, holdsInput: holdsInput, output: output)
    }
}

/// Replaces values that differ between runs.
enum Masked {
    /// Times with fractions of seconds become T, process numbers P.
    static func text(_ text: String) -> String {
        text.replacing(/\b\d{9,}\.\d{6}\b/, with: "T").replacing(/"pid":\d+/, with: "\"pid\":P")
    }
}
