import Foundation
import TestSupport

/// A server for a test, on the loopback interface, with a temporary folder. Ends when released.
package final class ValkeyServer {
    /// `nil` if none is installed: tests that need one are skipped.
    package static let program: String? = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .flatMap { folder in ["valkey-server", "redis-server"].map { "\(folder)/\($0)" } }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether the server supports TLS and openssl is installed.
    package static let servesTLS: Bool = {
        guard let program, TestAuthority.program != nil,
            let outcome = try? ChildProcess.run(program, ["--tls-port", "0", "--no-such-setting", "0"])
        else { return false }
        // The error names the first unknown option.
        return !(outcome.text + outcome.errors).contains("'tls-port")
    }()

    package private(set) var port = 0
    /// The port for TLS; 0 without TLS.
    package private(set) var tlsPort = 0
    /// Applies from the next start.
    package var identity: TestIdentity?
    private let folder: String
    private let options: [String]
    private var process: ChildProcess?

    /// - Parameter identity: the certificate for the TLS port.
    package init(_ options: [String] = [], identity: TestIdentity? = nil) async throws {
        self.identity = identity
        folder = NSTemporaryDirectory() + "vellum-server-" + UUID().uuidString
        self.options = options
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // Another process may take the port first.
        for _ in 0..<10 {
            port = try Loopback.freePort()
            tlsPort = identity == nil ? 0 : try Loopback.freePort()
            if try await begins() { return }
        }
        throw CocoaError(.fileReadUnknown)
    }

    deinit {
        stop()
        discard(folder)
    }

    /// Restarts after ``stop()``, without data.
    package func start() async throws {
        guard try await begins() else { throw CocoaError(.fileReadUnknown) }
    }

    private func begins() async throws -> Bool {
        guard let program = Self.program else { throw CocoaError(.fileNoSuchFile) }
        let process = try ChildProcess(
            program,
            [
                "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
                folder,
            ] + options + (identity.map { ["--tls-port", "\(tlsPort)"] + $0.options } ?? []),
            streams: [
                0: .reading("/dev/null"), 1: .writing(folder + "/log"), 2: .writing(folder + "/errors"),
            ])
        self.process = process
        return try await eventually(within: 20) {
            process.hasEnded() || (try? PlainClient(port: port)) != nil
        }
            && !process.hasEnded()
    }

    package func stop() {
        process?.signal(SIGKILL)
        process?.waitForEnd()
    }

    /// Suspends and resumes the process.
    package func pause() { process?.signal(SIGSTOP) }
    package func resume() { process?.signal(SIGCONT) }

    package var url: String { "valkey://127.0.0.1:\(port)" }
    package var tlsURL: String { "valkeys://127.0.0.1:\(tlsPort)" }

    /// A cluster of three servers.
    package static func cluster(
        _ options: [String] = [], identity: TestIdentity? = nil
    ) async throws -> [ValkeyServer] {
        var servers: [ValkeyServer] = []
        for _ in 0..<3 {
            // A server built without TLS rejects the option `--tls-cluster`.
            servers.append(
                try await ValkeyServer(
                    ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"] + options
                        + (identity == nil ? [] : ["--tls-cluster", "yes"]), identity: identity))
        }
        for (place, server) in servers.enumerated() {
            let client = try server.client()
            let (from, to) = (place * 16_384 / 3, (place + 1) * 16_384 / 3 - 1)
            try client.command("CLUSTER", "ADDSLOTSRANGE", "\(from)", "\(to)")
            try client.command("CLUSTER", "SET-CONFIG-EPOCH", "\(place + 1)")
            let port = identity == nil ? servers[0].port : servers[0].tlsPort
            if place > 0 { try client.command("CLUSTER", "MEET", "127.0.0.1", "\(port)") }
        }
        for server in servers {
            let client = try server.client()
            let isReady = try await eventually(within: 30) {
                try client.command("CLUSTER", "INFO").text?.contains("cluster_state:ok") == true
                    && client.command("CLUSTER", "SLOTS").elements?.count == 3
            }
            guard isReady else { throw CocoaError(.fileReadUnknown) }
        }
        return servers
    }

    /// A separate client.
    package func client() throws -> PlainClient { try PlainClient(port: port) }
}
