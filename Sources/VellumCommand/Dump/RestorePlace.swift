#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// For one thread. The folder that a restored store gets, and the one beside it in which it comes to be.
struct RestorePlace {
    private let path: String
    /// Nothing else has this name: it ends with this process' number.
    let partial: String

    init(_ path: String) {
        var path = Substring(path)
        while path.hasSuffix("/"), path.count > 1 { path = path.dropLast() }
        self.path = String(path)
        partial = path + ".vellum-\(getpid()).partial"
    }

    func begin() throws(CommandFailure) {
        var status = stat()
        if stat(path, &status) == 0 {
            let isEmpty = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? ["file"]).isEmpty
            guard isEmpty else {
                throw CommandFailure("\(path) is there already; restore into a new folder", status: .usage)
            }
        }
        guard mkdir(partial, 0o700) == 0 else {
            throw CommandFailure(partial, errno: errno, status: .usage)
        }
    }

    /// An empty folder gives way.
    func finish() throws(CommandFailure) {
        guard rename(partial, path) == 0 else { throw CommandFailure(path, errno: errno, status: .usage) }
    }

    func discard() { try? FileManager.default.removeItem(atPath: partial) }
}
