import Foundation
import StoreInspection

/// The queries of all sessions: a JSON object a line, the latest last. Safe from any thread: what other browsers have added
/// meanwhile stays.
package struct QueryHistoryFile: Sendable {
    private let file: StateFile

    /// A longer file isn't read: something else has written to it.
    private static let mostBytes = 4 << 20

    package init(path: String) { file = StateFile(path: path) }

    /// Nil where there is no home.
    package static func standard(environment: [String: String]) -> QueryHistoryFile? {
        StateFile.standard("queries", environment: environment).map { QueryHistoryFile(path: $0.path) }
    }

    package var path: String { file.path }

    /// The latest last; none where there is no file. Lines that are no queries are passed over.
    package func read() throws(SourceError) -> [PastQuery] {
        let decoder = JSONDecoder()
        let queries = try file.read(limit: QueryHistoryFile.mostBytes).split(separator: UInt8(ascii: "\n"))
            .compactMap { try? decoder.decode(PastQuery.self, from: $0) }
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
        try file.write(bytes)
    }
}
