import Foundation

/// A `StoreWorker` process and what it said. Used by one test at a time.
///
/// Spawned and waited for by hand: Foundation's `Process` sometimes never reports the end of a process that
/// is killed while others are being started.
final class Worker {
    let pid: pid_t
    private let path: String
    private var status: Int32?

    /// The output goes to a file, so that nothing a killed process said is lost in a pipe, and no thread
    /// waits for it.
    /// `executable`: another program than the worker.
    init(_ arguments: [String], in folder: TemporaryFolder, executable program: String? = nil) throws {
        path = folder.path + "/output-" + UUID().uuidString
        let executable = try program ?? Worker.executable().path
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, executable, &actions, nil, &words, environ)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        pid = child
    }

    deinit {
        guard status == nil else { return }
        kill(pid, SIGKILL)
        var ignored: Int32 = 0
        waitpid(pid, &ignored, 0)
    }

    /// The built worker lies beside the test bundle.
    private static func executable() throws -> URL {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent("StoreWorker")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Waits for the end and gives the status that `waitpid` reports (0: ended well) and the lines.
    func finish() async throws -> (status: Int32, lines: [String]) {
        while status == nil {
            var reported: Int32 = 0
            if waitpid(pid, &reported, WNOHANG) == pid {
                status = reported
            } else {
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        return (status ?? 0, linesSoFar())
    }

    /// What it has said until now, whole lines only.
    func linesSoFar() -> [String] {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return [] }
        let whole = data.lastIndex(of: UInt8(ascii: "\n")).map { data[...$0] } ?? Data()
        return String(decoding: whole, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Frees the room of the output; a long test starts thousands of workers.
    func discardOutput() { unlink(path) }

    /// Bytes that it has said until now.
    var outputBytes: Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// Waits until it has said a line that begins so; `false` when it ends or `seconds` pass first.
    func hasSaid(_ beginning: String, within seconds: Double = 60) async throws -> Bool {
        let end = Date().addingTimeInterval(seconds)
        while Date() < end {
            if linesSoFar().contains(where: { $0.hasPrefix(beginning) }) { return true }
            if hasEnded { return linesSoFar().contains { $0.hasPrefix(beginning) } }
            try await Task.sleep(for: .milliseconds(2))
        }
        // On a busy machine nobody may have looked for longer than that.
        return linesSoFar().contains { $0.hasPrefix(beginning) }
    }

    private var hasEnded: Bool {
        if status != nil { return true }
        var reported: Int32 = 0
        guard waitpid(pid, &reported, WNOHANG) == pid else { return false }
        status = reported
        return true
    }

    /// Stops it, and waits until the system says that it is stopped; `false` when it has ended.
    func stop() async throws -> Bool {
        signal(SIGSTOP)
        for _ in 0..<5000 {
            var reported: Int32 = 0
            if waitpid(pid, &reported, WNOHANG | WUNTRACED) == pid {
                let isStopped = reported & 0xff == 0x7f
                if !isStopped { status = reported }
                return isStopped
            }
            try await Task.sleep(for: .microseconds(200))
        }
        return false
    }
}
