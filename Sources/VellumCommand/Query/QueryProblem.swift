import ArchiveQuery
import TerminalKit

enum QueryProblem {
    /// - Throws: a failure with every error, each with its line of the text and a caret below its place.
    static func pipeline(_ text: String) throws(CommandFailure) -> QueryPipeline {
        switch QueryPipeline.parse(text) {
        case .pipeline(let pipeline): return pipeline
        case .errors(let errors):
            throw CommandFailure(errors.map { show($0, in: text) }.joined(separator: "\n"), status: .usage)
        }
    }

    static func condition(_ text: String) throws(CommandFailure) -> QueryPipeline {
        let pipeline = try pipeline("find " + text)
        guard pipeline.stages.count == 1 else {
            throw CommandFailure(
                "--where takes only a condition; use vellum query for other stages", status: .usage)
        }
        return pipeline
    }

    private static func show(_ error: QuerySyntaxError, in text: String) -> String {
        let place = error.place(in: text)
        let indent = TextWidth.width(of: TerminalText.sanitized(place.prefix))
        return """
            syntax error at \(error.description(in: text))
              \(TerminalText.sanitized(place.content))
              \(String(repeating: " ", count: indent))^
            """
    }
}
