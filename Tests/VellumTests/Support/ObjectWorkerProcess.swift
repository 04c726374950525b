import Foundation
import Testing

/// An `ObjectWorker` while it runs; killed when nobody holds it any more. Used by one test at a time.
final class ObjectWorkerProcess {
    private let pid: pid_t
    private var status: Int32?

    init(_ arguments: [String]) throws {
        let executable = try ObjectWorkerProcess.executable()
        var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, executable, nil, nil, &words, environ)
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
    private static func executable() throws -> String {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent("ObjectWorker").path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
            folder.deleteLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }

    /// Waits for its end: the status that `waitpid` reports, 0 if it ended well; nil if it didn't within this time.
    func end(within seconds: Double) async throws -> Int32? {
        let end = Date().addingTimeInterval(seconds)
        while status == nil {
            // The look comes after the time: whoever was kept from looking all the while still looks once.
            let isOver = Date() >= end
            var reported: Int32 = 0
            if waitpid(pid, &reported, WNOHANG) == pid {
                status = reported
            } else if isOver {
                break
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        return status
    }
}
