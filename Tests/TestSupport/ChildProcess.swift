import Foundation
import Synchronization

/// A process that a test starts. It is killed when the object is released. Used by one test at a time.
///
/// Uses `posix_spawn` and `waitpid`, because Foundation's `Process` sometimes never reports the end of a process
/// that is killed while others are started. The process inherits only the descriptors 0 to 2, so that another test's
/// pipe ends when that test closes it.
package final class ChildProcess {
    /// What one of the descriptors 0 to 2 is connected to.
    package enum Stream {
        /// An existing file.
        case reading(String)
        /// A new or emptied file.
        case writing(String)
        case descriptor(Int32)
    }

    private enum Report { case ended, stopped }

    package let pid: pid_t
    /// The status as `waitpid` reports it, 0 for success; `nil` until its end is noticed.
    package private(set) var status: Int32?

    #if !canImport(Darwin)
    private typealias CloseFrom =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt

    /// glibc declares it only for programs that request all of its extensions, which Swift's module doesn't.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: CloseFrom.self)
    }
    #endif

    /// - Parameters:
    ///   - environment: `nil` for the tests' environment.
    ///   - streams: the descriptors that are not the tests' own.
    package init(
        _ executable: String, _ arguments: [String], environment: [String: String]? = nil,
        streams: [Int32: Stream] = [:]
    ) throws {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for descriptor in 0...2 as ClosedRange<Int32> {
            switch streams[descriptor] {
            case .reading(let path):
                posix_spawn_file_actions_addopen(&actions, descriptor, path, O_RDONLY, 0)
            case .writing(let path):
                posix_spawn_file_actions_addopen(
                    &actions, descriptor, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            case .descriptor(let own): posix_spawn_file_actions_adddup2(&actions, own, descriptor)
            case nil:
                #if canImport(Darwin)
                posix_spawn_file_actions_addinherit_np(&actions, descriptor)
                #endif
            }
        }
        #if canImport(Darwin)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #else
        _ = Self.closeFrom?(&actions, 3)
        #endif
        let variables = environment ?? ProcessInfo.processInfo.environment
        var words = ([executable] + arguments).map { strdup($0) } + [nil]
        var settings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, executable, &actions, &attributes, &words, &settings)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        pid = child
        Self.living.withLock { _ = $0.insert(child) }
        _ = Self.endsThem
    }

    deinit {
        guard status == nil else { return }
        kill(pid, SIGKILL)
        var ignored: Int32 = 0
        waitpid(pid, &ignored, 0)
        Self.forget(pid)
    }

    /// Processes without a reported end. The run may end before their objects are released.
    private static let living = Mutex<Set<pid_t>>([])
    private static let parent = getpid()
    private static let endsThem: Void = {
        _ = parent
        atexit {
            // A forked child has its parent's list.
            guard getpid() == ChildProcess.parent else { return }
            for pid in ChildProcess.living.withLock({ $0 }) { kill(pid, SIGKILL) }
        }
    }()

    private static func forget(_ pid: pid_t) { living.withLock { _ = $0.remove(pid) } }

    /// A program of this package, built beside the tests.
    package static func program(named name: String) throws -> String {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent(name).path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
            folder.deleteLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }

    /// The output and the end of a finished program.
    package struct Outcome {
        /// The exit status, or the negative number of the signal that ended it.
        package let status: Int32
        package let output: Data
        package let errors: String

        package init(status: Int32, output: Data, errors: String) {
            self.status = status
            self.output = output
            self.errors = errors
        }

        package var text: String { String(decoding: output, as: UTF8.self) }
        package var lines: [String] { text.split(separator: "\n").map(String.init) }
    }

    /// Runs a program to its end. Its output goes through files: a pipe could be inherited by a process that another
    /// test starts in the meantime, and would not end.
    package static func run(
        _ executable: String, _ arguments: [String], environment: [String: String]? = nil,
        input: Data = Data()
    ) throws -> Outcome {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["input", "output", "errors"].map { folder.appendingPathComponent($0) }
        try input.write(to: files[0])
        let process = try ChildProcess(
            executable, arguments, environment: environment,
            streams: [0: .reading(files[0].path), 1: .writing(files[1].path), 2: .writing(files[2].path)])
        process.waitForEnd()
        return Outcome(
            status: process.code ?? -SIGKILL, output: try Data(contentsOf: files[1]),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }

    /// Does nothing once it has ended: its number may be another process's by then.
    package func signal(_ number: Int32) {
        if status == nil { kill(pid, number) }
    }

    /// The exit status, or the negative number of the signal that ended it.
    package var code: Int32? {
        status.map { $0 & 0x7f == 0 ? $0 >> 8 & 0xff : -($0 & 0x7f) }
    }

    /// Whether it has ended.
    package func hasEnded() -> Bool { status != nil || look(WNOHANG) == .ended }

    /// Blocks until it ends; for short runs. It is killed after five minutes, so that one hanging program doesn't
    /// block all tests.
    package func waitForEnd() {
        let end = Date().addingTimeInterval(300)
        var pause: UInt32 = 100
        while !hasEnded() {
            if Date() >= end { signal(SIGKILL) }
            usleep(pause)
            pause = min(pause * 2, 5_000)
        }
    }

    /// Waits until it ends, and returns the status; `nil` if it didn't end within this time.
    package func end(within seconds: Double) async throws -> Int32? {
        let end = Date().addingTimeInterval(seconds)
        while true {
            // Checks after reading the time, so that there is one check even if this thread didn't run for long.
            let isOver = Date() >= end
            if hasEnded() || isOver { return status }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Stops it, and waits until the system reports that; `false` if it has ended.
    package func stop() async throws -> Bool {
        signal(SIGSTOP)
        for _ in 0..<5000 {
            if let report = look(WNOHANG | WUNTRACED) { return report == .stopped }
            try await Task.sleep(for: .microseconds(200))
        }
        return false
    }

    /// Waits until it stops itself; `false` if it ends, or doesn't stop within this time.
    package func isStopped(within seconds: Double) async throws -> Bool {
        let end = Date().addingTimeInterval(seconds)
        while true {
            // Checks after reading the time, as above.
            let isOver = Date() >= end
            if let report = look(WNOHANG | WUNTRACED) { return report == .stopped }
            if isOver { return false }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// The status that `waitpid` reports now, or `nil`.
    private func look(_ options: Int32) -> Report? {
        var reported: Int32 = 0
        guard waitpid(pid, &reported, options) == pid else { return nil }
        if reported & 0xff == 0x7f { return .stopped }
        status = reported
        Self.forget(pid)
        return .ended
    }
}
