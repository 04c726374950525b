import Foundation
import TestSupport

/// A server of its own for a test, on the loopback interface with a port and a folder of its own. Ended when it is released.
final class ValkeyServer {
    /// `nil` where none is installed: the tests that need one are left out then, and say so.
    static let program: String? = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .flatMap { folder in ["valkey-server", "redis-server"].map { "\(folder)/\($0)" } }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let port: Int
    private let folder: String
    private let options: [String]
    private var process: ChildProcess?

    init(_ options: [String] = []) async throws {
        folder = NSTemporaryDirectory() + "vellum-server-" + UUID().uuidString
        self.options = options
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        port = try Loopback.freePort()
        try await start()
    }

    deinit {
        stop()
        discard(folder)
    }

    /// Also after ``stop()``; it is empty then.
    func start() async throws {
        guard let program = Self.program else { throw CocoaError(.fileNoSuchFile) }
        process = try ChildProcess(
            program,
            ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
                + options,
            streams: [
                0: .reading("/dev/null"), 1: .writing(folder + "/log"), 2: .writing(folder + "/errors"),
            ])
        guard try await eventually(within: 20, { (try? PlainClient(port: port)) != nil }) else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    func stop() {
        process?.signal(SIGKILL)
        process?.waitForEnd()
    }

    /// Keeps it from running, or lets it go on.
    func pause() { process?.signal(SIGSTOP) }
    func resume() { process?.signal(SIGCONT) }

    var url: String { "valkey://127.0.0.1:\(port)" }

    /// Another program that uses the server.
    func client() throws -> PlainClient { try PlainClient(port: port) }
}
