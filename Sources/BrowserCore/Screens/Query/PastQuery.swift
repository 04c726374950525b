import StorageEngine

package struct PastQuery: Sendable, Hashable, Codable {
    /// The archive's name without its store: archives of the same name share the history.
    package var archive: String
    package var text: String
    /// `12 rows  read …`, or the problem.
    package var outcome: String
    private var microseconds: Int64

    package var time: Timestamp { Timestamp(microseconds: microseconds) }

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
    /// Adds a query at the end, or moves it there.
    package mutating func remember(_ past: PastQuery) {
        removeAll { $0.text == past.text && $0.archive == past.archive }
        append(past)
        removeFirst(Swift.max(0, count - PastQuery.most))
    }
}
