import Foundation
import SystemC

/// A small file of program state, readable by this user only. Each change replaces it atomically.
package struct StateFile: Sendable, Hashable {
    package let path: String

    package init(path: String) { self.path = path }

    /// The folder `vellum` below the folder that the environment variable names, or below `standard` in the home folder
    /// (XDG Base Directory Specification); nil without a home folder.
    package static func folder(
        _ variable: String, or standard: String, environment: [String: String]
    ) -> String? {
        if let named = environment[variable], named.hasPrefix("/") { return named + "/vellum" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return "\(home)/\(standard)/vellum"
    }

    package var exists: Bool { access(path, F_OK) == 0 }

    /// The contents; empty if the file is missing. Throws for more than `limit` bytes.
    package func read(limit: Int) throws(SourceError) -> Data {
        // Opening a pipe must not block.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return Data() }
            throw SourceError(path, errno: errno)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw SourceError(path, errno: errno) }
        let kind = FileKind(facts)
        guard kind != .pipe else { throw SourceError("\(path) is a pipe, not a file") }
        guard kind != .folder else { throw SourceError("\(path) is a folder, not a file") }
        let data: Data
        do { data = try file.read(upToCount: limit + 1) ?? Data() } catch {
            throw SourceError("\(path) can't be read: \(error.localizedDescription)")
        }
        guard data.count <= limit else {
            throw SourceError("\(path) is longer than \(Figures.bytes(UInt64(limit))); remove it")
        }
        return data
    }

    private var folder: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

    /// Calls `body` while holding the folder's lock, or after waiting one second for it.
    func withLock(_ body: () throws(SourceError) -> Void) throws(SourceError) {
        try makeFolder()
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        for _ in 0..<200 where descriptor >= 0 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { break }
            usleep(5_000)
        }
        try body()
    }

    /// Replaces the contents and creates missing folders.
    package func write(_ bytes: Data) throws(SourceError) {
        try makeFolder()
        let partial = path + ".\(getpid()).partial"
        _ = unlink(partial)
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SourceError(partial, errno: errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do { try file.write(contentsOf: bytes) } catch {
            _ = unlink(partial)
            throw SourceError("\(path) can't be written: \(error.localizedDescription)")
        }
        guard rename(partial, path) == 0 else {
            let code = errno
            _ = unlink(partial)
            throw SourceError(path, errno: code)
        }
    }

    private func makeFolder() throws(SourceError) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SourceError("\(folder) can't be created: \(error.localizedDescription)")
        }
    }

    package func remove() throws(SourceError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw SourceError(path, errno: errno) }
    }
}

package struct StateFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// The folder of state files, in `$XDG_STATE_HOME` or `~/.local/state`; nil without a home folder.
    package static func standard(environment: [String: String]) -> StateFolder? {
        StateFile.folder("XDG_STATE_HOME", or: ".local/state", environment: environment)
            .map { StateFolder(path: $0) }
    }

    /// The folder of the store that holds the undo records of servers.
    package var undoFolder: String { path + "/undo" }
}
