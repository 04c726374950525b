import Foundation

/// A server at a port of the loopback interface that writes no files.
final class LocalServer {
    private(set) var port = 0
    private var process: pid_t = 0

    init(_ program: String, at folder: String) throws {
        // The port may be in use.
        for _ in 0..<10 {
            port = Int.random(in: 20_000..<32_000)
            process = try ChildProcess.start(
                [
                    program, "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                    "--dir", folder,
                ], .output(folder + "/log"))
            for _ in 0..<200 {
                usleep(25_000)
                if waitpid(process, nil, WNOHANG) != 0 { break }
                let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
                if log.contains("eady to accept connections") { return }
            }
        }
        throw BenchmarkError("\(program) doesn't start")
    }

    func end() {
        kill(process, SIGTERM)
        ChildProcess.end(of: process)
    }
}
