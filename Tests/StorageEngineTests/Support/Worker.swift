import Foundation

/// A `StoreWorker` process and what it said.
final class Worker: @unchecked Sendable {
    private let process = Process()
    private let output: FileHandle
    private let path: String

    /// The output goes to a file, so that nothing a killed process said is lost in a pipe, and no thread
    /// waits for it.
    init(_ arguments: [String], in folder: TemporaryFolder) throws {
        path = folder.path + "/output-" + UUID().uuidString
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        output = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        process.executableURL = try Worker.executable()
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
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

    var pid: Int32 { process.processIdentifier }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Waits for the end and gives the exit status and the lines.
    func finish() async throws -> (status: Int32, lines: [String]) {
        while process.isRunning { try await Task.sleep(for: .milliseconds(2)) }
        let text = try String(decoding: Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        return (process.terminationStatus, text.split(separator: "\n").map(String.init))
    }
}
