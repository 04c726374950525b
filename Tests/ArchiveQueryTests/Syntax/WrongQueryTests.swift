import ArchiveQuery
import Foundation
import Testing

/// What is said of texts that are no queries. `Golden/wrong-queries.txt` has each text, and below it, indented, what is
/// wrong: position, what was found, what could stand there. `VELLUM_RENEW_GOLDEN=1` writes the file anew.
@Suite("Texts that are no queries")
struct WrongQueryTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Golden/wrong-queries.txt")
    private static let indent = "    "

    private func errors(_ text: String) -> [QuerySyntaxError] {
        if case .errors(let errors) = QueryPipeline.parse(text) { errors } else { [] }
    }

    @Test func eachErrorSaysWhereWhatAndWhatElse() throws {
        let content = try String(contentsOf: Self.file, encoding: .utf8)
        let texts = content.split(separator: "\n").filter { !$0.hasPrefix(Self.indent) }.map(String.init)
        #expect(texts.count >= 200)
        var described = ""
        for text in texts {
            let errors = errors(text)
            #expect(!errors.isEmpty, "it is a query: \(text)")
            described += text + "\n"
            for error in errors {
                described += Self.indent + error.description + "\n"
                #expect(error.range.lowerBound >= 0 && error.range.upperBound <= text.utf8.count, "\(text)")
                #expect(!error.found.isEmpty && !(error.expected.isEmpty && error.advice == nil), "\(text)")
            }
        }
        if ProcessInfo.processInfo.environment["VELLUM_RENEW_GOLDEN"] != nil {
            try described.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        #expect(described == content)
    }
}
