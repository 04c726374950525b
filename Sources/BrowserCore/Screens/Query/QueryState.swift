import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

/// The screen of queries of one archive: a line to write them in, and what came of the last one.
struct QueryState: Sendable {
    let archive: ArchiveAddress
    var origin: Screen
    var field = TextField(placeholder: example(PropertySample()))
    /// Whether the keyboard writes; else it moves in the result.
    var isTyping = true
    /// What is wrong with the text, as it is now.
    var errors: [QuerySyntaxError] = []
    var completions: [QueryCompletion] = []
    /// The completions that Tab goes through, while it does.
    var cycle: Cycle?
    /// What the archive's values have, as far as some of them were read.
    var sample = PropertySample()

    var answer: QueryAnswer?
    /// What was counted, if the text that was asked last does that: Enter shows the rows behind one of its rows.
    var counted: Counted?
    var answered = ""
    /// When what the answer shows was asked for.
    var askedAt: Timestamp?
    /// After how many seconds it is asked again; nil: when somebody wants it.
    var every: Double?
    var marks = Marks()
    /// The work that marks all entries of the result, while it is under way.
    var marking: Int?
    var view = QueryRows()
    /// What went wrong with the query that was asked last; a line.
    var problem: String?
    /// The query under way, and its text.
    var ticket: Int?
    var asked = ""
    var cursor = 0
    var top = 0
    /// The place in the history that the line shows, from the latest; nil: what was written.
    var recalled: Int?
    var draft = ""

    /// Tab puts in one completion after the other.
    struct Cycle: Sendable, Hashable {
        var completions: [QueryCompletion]
        var index: Int
        /// Clusters of the field that the completion stands in.
        var place: Range<Int>
    }

    /// The rows of a query by what they have in a column.
    struct Counted: Sendable, Hashable {
        /// The query whose rows are counted, and the one that counts them.
        var rows: QueryPipeline
        var text: String
        var property: QueryProperty
        /// The rows that are counted.
        var total: Int
    }

    /// How often a query can be asked by itself.
    static let paces: [Double?] = [nil, 1, 5, 30]

    /// Completions that are shown at most.
    static let shownCompletions = 8

    /// Lines of the text that are in view at most.
    static let shownLines = 8

    init(archive: ArchiveAddress, origin: Screen) {
        (self.archive, self.origin) = (archive, origin)
        field.keepsLines = true
    }

    /// What is written, but for a bar that nothing is written behind yet.
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

    var row: QueryAnswer.Row? {
        let row = view.row(cursor)
        return answer.flatMap { $0.rows.indices.contains(row) ? $0.rows[row] : nil }
    }

    /// What is wrong before the end of the text: there, more may be going to be written.
    var marked: [QuerySyntaxError] {
        let end = field.text.utf8.count
        return errors.filter { $0.position < end }
    }
}
