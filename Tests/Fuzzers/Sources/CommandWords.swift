#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// The parts of the command that the readers of import files need.

struct CommandFailure: Error {
    let message: String?
    let status: ExitStatus

    init(_ message: String?, status: ExitStatus) {
        self.message = message
        self.status = status
    }

    init(_ subject: String, errno code: Int32, status: ExitStatus) {
        self.init("\(subject): error \(code)", status: status)
    }
}
