import Foundation
import StoreInspection

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The queries of all sessions, in a file that only this user can read: a JSON object a line, the latest last. Safe from any
/// thread: each change makes a new file that takes the old one's place whole, with what other browsers have added meanwhile.
package struct QueryHistoryFile: Sendable {
    package let path: String

    /// A longer file isn't read: something else has written to it.
    private static let mostBytes = 4 << 20

    package init(path: String) { self.path = path }

    /// In `$XDG_STATE_HOME` or `~/.local/state` (XDG Base Directory Specification); nil where there is no home.
    package static func standard(environment: [String: String]) -> QueryHistoryFile? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            return QueryHistoryFile(path: state + "/vellum/queries")
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return QueryHistoryFile(path: home + "/.local/state/vellum/queries")
    }

    /// The latest last; none where there is no file. Lines that are no queries are passed over.
    package func read() throws(SourceError) -> [PastQuery] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            if errno == ENOENT { return [] }
            throw SourceError(path, errno: errno)
        }
        let data: Data
        do { data = try file.read(upToCount: QueryHistoryFile.mostBytes + 1) ?? Data() } catch {
            throw SourceError("\(path) can't be read: \(error.localizedDescription)")
        }
        guard data.count <= QueryHistoryFile.mostBytes else {
            throw SourceError("\(path) is too long to hold the queries of earlier sessions; remove it")
        }
        let decoder = JSONDecoder()
        let queries = data.split(separator: UInt8(ascii: "\n")).compactMap {
            try? decoder.decode(PastQuery.self, from: $0)
        }
        return queries.suffix(PastQuery.most)
    }

    /// Adds a query to those that are there by then.
    package func add(_ query: PastQuery) throws(SourceError) {
        var queries = try read()
        queries.remember(query)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes = Data()
        for query in queries {
            guard let line = try? encoder.encode(query) else { continue }
            bytes += line + [UInt8(ascii: "\n")]
        }
        try write(bytes)
    }

    private func write(_ bytes: Data) throws(SourceError) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SourceError("\(folder) can't be made: \(error.localizedDescription)")
        }
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
}
