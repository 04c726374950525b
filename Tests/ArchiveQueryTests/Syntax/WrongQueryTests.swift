import ArchiveQuery
import Foundation
import Testing

/// `Golden/wrong-queries.txt` has each text, followed by its errors, indented: position, found and expected text.
/// `VELLUM_RENEW_GOLDEN=1` rewrites the file.
@Suite("Invalid queries") struct WrongQueryTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Golden/wrong-queries.txt")
    private static let indent = "    "

    private func errors(_ text: String) -> [QuerySyntaxError] {
        if case .errors(let errors) = QueryPipeline.parse(text) { errors } else { [] }
    }

    @Test("each invalid text has errors within its range") func goldenErrors() throws {
        let content = try String(contentsOf: Self.file, encoding: .utf8)
        let texts = content.split(separator: "\n").filter { !$0.hasPrefix(Self.indent) }.map(String.init)
        #expect(texts.count >= 200)
        var described = ""
        for text in texts {
            let errors = errors(text)
            #expect(!errors.isEmpty, "valid query: \(text)")
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

    @Test(
        "an operator of another language is named at its place",
        arguments: [
            ("n <> 5", 2..<4), ("id % 2 = 0", 3..<4), ("t ~ \"n\"", 2..<3), ("sum <> 5", 4..<6),
            ("top <> 5", 4..<6), ("@size % 2 = 0", 6..<7), ("limit 3 | n <> 5", 12..<14),
            ("\"odd name\" && b = 5", 11..<13), ("key:5", 3..<4),
        ])
    func foreignOperators(text: String, range: Range<Int>) throws {
        let error = try #require(errors(text).first)
        #expect(error.range == range && error.advice != nil, "\(error)")
    }

    @Test(
        "a name with a quote, space or control character beyond ASCII needs quotes",
        arguments: [
            ("find a\u{a0}= 1", 6..<8), ("select a\u{2003}b", 8..<11), ("@key\u{3000}= 1", 4..<7),
            ("n\u{a0}> 5", 1..<3), ("select l’a", 8..<11), ("sort a, ü\u{9b}", 10..<12),
        ])
    func lookalikesInNames(text: String, range: Range<Int>) throws {
        let error = try #require(errors(text).first)
        #expect(error.range == range && error.advice != nil, "\(error)")
    }

    @Test(
        "an aggregate in a select is explained",
        arguments: [("group by tag | select tag, count, avg n", 34..<37), ("select sum n", 7..<10)])
    func aggregatesInSelect(text: String, range: Range<Int>) throws {
        let error = try #require(errors(text).first)
        #expect(error.range == range && error.advice?.contains("group by a | avg b") == true, "\(error)")
    }

    @Test(
        "a text that is no date is refused where a date is compared",
        arguments: [
            (#"@created < "2026-13-45""#, 11..<23), (#"@expires in [2026-01-01, "x"]"#, 25..<28),
            (#"@accessed between "x" and 2026-01-01"#, 18..<21), (#"not date(t) = "n/a""#, 14..<19),
            (#"@created + 5 != "x""#, 16..<19), (#"@created - 1d > "x""#, 16..<19),
        ])
    func textsThatAreNoDates(text: String, range: Range<Int>) throws {
        #expect(try #require(errors(text).first).range == range)
    }

    @Test("a text that is a date, or that a property of unknown kind is compared with, is accepted")
    func textsThatMayBeDates() {
        for text in [
            #"@created < "2026-01-31""#, #"t < "2026-13-45""#, #"@created - t = "x""#,
            #"text(@created) = "x""#,
        ] {
            #expect(errors(text) == [], "\(text)")
        }
    }
}
