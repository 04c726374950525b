import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

struct QueryState: Sendable {
    let archive: ArchiveAddress
    var origin: Screen
    var field = TextField(placeholder: example(PropertySample()))
    /// Whether keys edit the query; else they act on the result.
    var isTyping = true
    var errors: [QuerySyntaxError] = []
    var completions: [QueryCompletion] = []
    var cycle: Cycle?
    /// Properties of some of the archive's values.
    var sample = PropertySample()

    var answer: QueryResult?
    /// Set if the last query counts the values of a column.
    var counted: Counted?
    /// The result that the last query was opened from: Back shows it again.
    var outer: Outer?
    var answered = ""
    var askedAt: Timestamp?
    /// Seconds between automatic refreshes; nil: none.
    var every: Double?
    var marks = Marks()
    var marking: Int?
    var view = QueryRows()
    var problem: String?
    /// The query that may read a server's values although that counts as accesses.
    var allowsAccesses: String?
    /// The running query, and its text.
    var ticket: Int?
    var asked = ""
    var cursor = 0
    var top = 0
    /// Index in the history, from the latest; nil: the typed query.
    var recalled: Int?
    var draft = ""

    struct Cycle: Sendable, Hashable {
        var completions: [QueryCompletion]
        var index: Int
        /// The characters of the field that the completion replaces.
        var place: Range<Int>
    }

    struct Counted: Sendable, Hashable {
        /// The text of the query.
        var text: String
        /// The number of counted rows.
        var total: Int
    }

    /// A result from which another query was opened.
    struct Outer: Sendable {
        /// The text of the query that was opened, and the number of the browser's writes before it.
        var opened: String
        var writes: Int
        /// One element, because the type is recursive.
        var query: [QueryState]
    }

    static let refreshIntervals: [Double?] = [nil, 1, 5, 30]

    /// Maximum visible completions, and lines of the query.
    static let shownCompletions = 8
    static let shownLines = 8

    init(archive: ArchiveAddress, origin: Screen) {
        (self.archive, self.origin) = (archive, origin)
        field.keepsLines = true
    }

    /// The typed query without a trailing bar.
    var text: String {
        let text = field.text.trimmingSpaces()
        let rest = text.dropLast().trimmingSpaces()
        return text.last == "|" && !rest.isEmpty ? String(rest) : field.text
    }

    var pipeline: QueryPipeline? {
        guard case .pipeline(let pipeline) = QueryPipeline.parse(text) else { return nil }
        return pipeline
    }

    static func example(_ sample: PropertySample) -> String {
        func first(_ fits: (QueryLiteral) -> Bool) -> (property: QueryProperty, value: QueryLiteral)? {
            for property in sample.properties {
                if let value = sample.values(of: property).first, fits(value) { return (property, value) }
            }
            return nil
        }
        let number = first { if case .integer = $0 { true } else { false } }
        let text = first { if case .text = $0 { true } else { false } }
        let condition =
            number.map { "\($0.property) > \($0.value)" } ?? text.map { "\($0.property) = \($0.value)" }
        return
            "for example: find \(condition ?? "@size > 1000") | sort \(text.map { "\($0.property)" } ?? "@size") | limit 10"
    }

    var row: QueryResult.Row? {
        let row = view.row(cursor)
        return answer.flatMap { $0.rows.indices.contains(row) ? $0.rows[row] : nil }
    }

    /// The number of marked rows that the filter hides. Time linear in the shown rows.
    var hiddenMarks: Int {
        guard let answer, !view.filter.isEmpty, !marks.isEmpty else { return 0 }
        return marks.count
            - (0..<view.count(of: answer)).count { place in
                answer.rows[view.row(place)].target.map { marks.contains($0.key) } ?? false
            }
    }

    /// The errors before the end of the text, where typing may continue.
    var marked: [QuerySyntaxError] {
        let end = field.text.utf8.count
        return errors.filter { $0.position < end }
    }
}
