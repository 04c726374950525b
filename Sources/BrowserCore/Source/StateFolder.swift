import Foundation
import StoreInspection

/// What the browser remembers for its user from one session to the next, a file for each kind of it. A value; safe to share
/// between threads.
package struct StateFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// In `$XDG_STATE_HOME` or `~/.local/state`; nil where there is no home.
    package static func standard(environment: [String: String]) -> StateFolder? {
        StateFile.folder("XDG_STATE_HOME", or: ".local/state", environment: environment)
            .map { StateFolder(path: $0) }
    }

    /// The queries of all sessions.
    package var queries: StateRecords<PastQuery> { file("queries", most: PastQuery.most) }
    /// The queries that got a name.
    package var savedQueries: StateRecords<SavedQuery> { file("saved-queries", most: SavedQuery.most) }
    /// The columns of each archive.
    package var columns: StateRecords<ChosenColumns> { file("columns", most: ChosenColumns.most) }

    /// That somebody has seen the line of hints.
    package var hints: StateFile { StateFile(path: path + "/hints") }

    private func file<Record>(_ name: String, most: Int) -> StateRecords<Record> {
        StateRecords(path: path + "/" + name, most: most)
    }
}

/// Records of one kind in a ``StateFile``: a JSON object a line, the latest last. Safe from any thread: a change keeps what other
/// browsers have added meanwhile.
package struct StateRecords<Record: Codable & Sendable>: Sendable {
    private let file: StateFile
    /// Records that are kept.
    private let most: Int

    /// A longer file isn't read: something else has written to it.
    private static var mostBytes: Int { 4 << 20 }

    package init(path: String, most: Int) { (file, self.most) = (StateFile(path: path), most) }

    package var path: String { file.path }

    /// The latest last; none where there is no file. Lines that are something else are passed over.
    package func read() throws(SourceError) -> [Record] {
        let decoder = JSONDecoder()
        let records = try file.read(limit: Self.mostBytes).split(separator: UInt8(ascii: "\n"))
            .compactMap { try? decoder.decode(Record.self, from: $0) }
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
        try file.write(bytes)
    }
}
