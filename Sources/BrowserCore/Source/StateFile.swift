import Foundation
import StoreInspection

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the browser remembers for its user from one session to the next, a file for each kind of it. A value; safe to share
/// between threads.
package struct StateFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// `vellum` in `$XDG_STATE_HOME` or `~/.local/state` (XDG Base Directory Specification); nil where there is no home.
    package static func standard(environment: [String: String]) -> StateFolder? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            return StateFolder(path: state + "/vellum")
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return StateFolder(path: home + "/.local/state/vellum")
    }

    /// The queries of all sessions.
    package var queries: StateFile<PastQuery> { file("queries", most: PastQuery.most) }
    /// The queries that got a name.
    package var savedQueries: StateFile<SavedQuery> { file("saved-queries", most: SavedQuery.most) }
    /// The columns of each archive.
    package var columns: StateFile<ChosenColumns> { file("columns", most: ChosenColumns.most) }

    private func file<Record>(_ name: String, most: Int) -> StateFile<Record> {
        StateFile(path: path + "/" + name, most: most)
    }
}

/// Records of one kind in a file that only this user can read: a JSON object a line, the latest last. Safe from any thread: each
/// change makes a new file that takes the old one's place whole, with what other browsers have added meanwhile.
package struct StateFile<Record: Codable & Sendable>: Sendable {
    package let path: String
    /// Records that are kept.
    private let most: Int

    /// A longer file isn't read: something else has written to it.
    private static var mostBytes: Int { 4 << 20 }

    package init(path: String, most: Int) {
        (self.path, self.most) = (path, most)
    }

    /// The latest last; none where there is no file. Lines that are something else are passed over.
    package func read() throws(SourceError) -> [Record] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            if errno == ENOENT { return [] }
            throw SourceError(path, errno: errno)
        }
        let data: Data
        do { data = try file.read(upToCount: Self.mostBytes + 1) ?? Data() } catch {
            throw SourceError("\(path) can't be read: \(error.localizedDescription)")
        }
        guard data.count <= Self.mostBytes else {
            throw SourceError("\(path) is too long to be what the browser remembers; remove it")
        }
        let decoder = JSONDecoder()
        let records = data.split(separator: UInt8(ascii: "\n")).compactMap {
            try? decoder.decode(Record.self, from: $0)
        }
        return records.suffix(most)
    }

    /// Changes the records that are there by then; the oldest beyond the most that are kept go.
    package func change(_ body: (inout [Record]) -> Void) throws(SourceError) {
        var records = try read()
        body(&records)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes = Data()
        for line in records.suffix(most).compactMap({ try? encoder.encode($0) }).reversed() {
            // What couldn't be read again isn't written.
            guard bytes.count + line.count < Self.mostBytes else { break }
            bytes = line + [UInt8(ascii: "\n")] + bytes
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
