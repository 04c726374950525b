import Foundation
import Testing

/// The built program while it runs. Used by one test at a time; killed when nobody holds it any more.
///
/// Spawned and waited for by hand: Foundation's `Process` sometimes never reports the end of a process that is killed
/// while others are being started.
final class Spawned {
    /// Held while a child starts, and while a pipe isn't yet marked as not for children.
    private static let spawning = NSLock()

    let pid: pid_t
    private let folder: TemporaryFolder
    private let outputPath: String
    private let errorPath: String
    private var status: Int32?
    /// Ends standard input when it is closed; -1 if that is a file or nothing.
    private var inputEnd: Int32 = -1

    /// `holdsInput`: standard input stays open, and empty but for what ``type(_:)`` sends. `output`: the descriptor that
    /// standard output becomes; by default a file that ``lines`` reads.
    init(
        _ arguments: [String], input: String = "", holdsInput: Bool = false, output: Int32? = nil,
        environment: [String: String] = [:]
    ) throws {
        folder = try TemporaryFolder()
        outputPath = folder / "out"
        errorPath = folder / "err"
        let inputPath = try folder.file("in", input)
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var pipeEnds: [Int32] = [-1, -1]
        if holdsInput {
            pipeEnds = try Self.pipeEnds()
            posix_spawn_file_actions_adddup2(&actions, pipeEnds[0], 0)
            inputEnd = pipeEnds[1]
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
        }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        posix_spawn_file_actions_addopen(&actions, 2, errorPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let executable = Vellum.executable.path
        var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            Vellum.environment(environment).map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var child: pid_t = 0
        Self.spawning.lock()
        let failure = posix_spawn(&child, executable, &actions, nil, &words, &variables)
        Self.spawning.unlock()
        if holdsInput { close(pipeEnds[0]) }
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        pid = child
    }

    deinit {
        if inputEnd >= 0 { close(inputEnd) }
        guard status == nil else { return }
        kill(pid, SIGKILL)
        var ignored: Int32 = 0
        waitpid(pid, &ignored, 0)
    }

    /// A pipe that no other child inherits: its reading and its writing end.
    static func pipeEnds() throws -> [Int32] {
        var ends: [Int32] = [-1, -1]
        spawning.lock()
        defer { spawning.unlock() }
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    func signal(_ number: Int32) { kill(pid, number) }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(inputEnd, bytes, bytes.count) == bytes.count)
    }

    func endInput() {
        close(inputEnd)
        inputEnd = -1
    }

    /// The complete lines of standard output so far.
    var lines: [String] {
        let text =
            (try? String(decoding: Data(contentsOf: URL(fileURLWithPath: outputPath)), as: UTF8.self)) ?? ""
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeLast()
        return lines
    }

    var errors: String {
        (try? String(decoding: Data(contentsOf: URL(fileURLWithPath: errorPath)), as: UTF8.self)) ?? ""
    }

    /// Waits until so many lines are there, at most 20 seconds, and gives them.
    func lines(atLeast count: Int, location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await until("\(count) lines", location: location) { self.lines.count >= count }
        return lines
    }

    /// Waits for the end, at most 20 seconds; gives the exit code, or the negative number of the signal.
    func finish(location: SourceLocation = #_sourceLocation) async throws -> Int32 {
        try await until("end", location: location) {
            var reported: Int32 = 0
            if self.status == nil, waitpid(self.pid, &reported, WNOHANG) == self.pid {
                self.status = reported
            }
            return self.status != nil
        }
        return Self.code(try #require(status))
    }

    /// Blocks until the end; for what ends soon.
    func result() throws -> Vellum.Result {
        var reported: Int32 = 0
        while waitpid(pid, &reported, 0) < 0 { try #require(errno == EINTR) }
        status = reported
        return Vellum.Result(
            status: Self.code(reported), output: try Data(contentsOf: URL(fileURLWithPath: outputPath)),
            errors: errors)
    }

    private static func code(_ status: Int32) -> Int32 {
        status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }

    /// As ``Poll/until(_:location:_:)``, and says what the program said when it fails.
    func until(
        _ what: String, location: SourceLocation = #_sourceLocation, _ isTrue: () throws -> Bool
    ) async throws {
        do {
            try await Poll.until(what, location: location, isTrue)
        } catch {
            Issue.record("it said \(lines.suffix(20)) \(errors)", sourceLocation: location)
            throw error
        }
    }
}

/// Waits for a state without sleeping for a fixed time.
enum Poll {
    /// Fails after 20 seconds and 1,000 looks: a machine that has no time for the test doesn't count.
    static func until(
        _ what: String, location: SourceLocation = #_sourceLocation, _ isTrue: () throws -> Bool
    ) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(20))
        var looks = 0
        while try !isTrue() {
            looks += 1
            try #require(
                looks < 1000 || ContinuousClock.now < end, "waited in vain for: \(what)",
                sourceLocation: location)
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

extension TestStore {
    /// Starts the program on the store and doesn't wait for it.
    func start(_ arguments: String..., holdsInput: Bool = false, output: Int32? = nil) throws -> Spawned {
        try Spawned(["--store", path] + arguments, holdsInput: holdsInput, output: output)
    }
}

/// Replaces what differs from run to run.
enum Masked {
    /// Times with fractions of seconds become T, process numbers P.
    static func text(_ text: String) -> String {
        text.replacing(/\b\d{9,}\.\d{6}\b/, with: "T").replacing(/"pid":\d+/, with: "\"pid\":P")
    }
}
