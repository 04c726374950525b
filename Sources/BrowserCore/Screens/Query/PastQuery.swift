import StorageEngine

/// A query that was asked, and what came of it. A value; safe to share between threads.
package struct PastQuery: Sendable, Hashable, Codable {
    /// Its name alone: what was asked of one store is of use in another that has the same archive.
    package var archive: String
    package var text: String
    /// `12 rows  read …`, or the problem.
    package var outcome: String
    /// In microseconds since 1970.
    private var microseconds: Int64

    package var time: Timestamp { Timestamp(microseconds: microseconds) }

    /// Queries that are kept.
    package static let most = 200

    package init(archive: String, text: String, outcome: String, time: Timestamp) {
        self.archive = archive
        self.text = text
        self.outcome = outcome
        microseconds = time.microseconds
    }

    private enum CodingKeys: String, CodingKey {
        case archive
        case text = "query"
        case outcome
        case microseconds = "time"
    }
}

extension [PastQuery] {
    /// Adds one at the end; one that was asked before moves there.
    package mutating func remember(_ past: PastQuery) {
        removeAll { $0.text == past.text && $0.archive == past.archive }
        append(past)
        removeFirst(Swift.max(0, count - PastQuery.most))
    }
}
