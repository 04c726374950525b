import ArchiveQuery
import CBOR
import Foundation
import Testing

/// A query searches for the literal characters of a regular expression before it evaluates the expression.
@Suite("Regular expressions in queries") struct PatternFilterTests {
    @Test("the filter changes no answer") func filteredMatches() throws {
        let texts = [
            "", "San Juan", "El San Juan", "san", "Sa", "a.b", "axb", "aab", "ab", "b", "a\nb", "b\n", "ab\n",
            "foobar", "foo bar", "x+y", "caf\u{e9}", "cafe\u{301}", "cafe", "\u{212a}m", "Km", "a;b",
            "a\u{37e}b", "日本", "(x)", "a{2}", "San\r\n", "aXXb", "$5", "foo-bar-baz",
        ]
        let patterns = [
            "", "San", "^San", "^San ", "Juan$", "^San Juan$", "San.*Juan", "^S.n", "a\\.b", "a.b", "a+b",
            "a*b", "^a*b$", "a?b", "ab?", "^ab?", "a{0,1}b", "(foo)bar", "(?i)san", "foo|San", "f(oo|a) ?bar",
            "[Ss]an", "\\bbar", "x\\+y", "caf\u{e9}", "cafe\u{301}$", "^cafe$", "caf.$", "Km", "^K", "a;b",
            "本$", "\\(x\\)", "a\\{2\\}", "b$", "^b$", "\\$5", "^.", "foo[- ]bar", "o+b", "(a)(b)", "[^a]b",
            "ba[rz]$", "-ba", "\\d", "\\x41", "^a(.)b", "XX", "a\\D+b", "[[a]b]", "San\\s", "\\QX\\E",
        ]
        let source = try ListSource(
            json: try texts.map { String(decoding: try JSONEncoder().encode(["p": $0]), as: UTF8.self) })
        for pattern in patterns {
            let expression = TextPattern(pattern.precomposedStringWithCanonicalMapping)
            let expected = texts.indices.filter {
                expression.matches(texts[$0].precomposedStringWithCanonicalMapping)
            }
            let found = try QueryPlan(QueryPipeline([.find(.matches(.named("p"), pattern: pattern))])).rows(
                of: source
            )
            .rows.compactMap { $0.entry.flatMap { Int($0.key) } }
            #expect(found == expected, "\(pattern)")
        }
    }

    @Test(
        "texts without the literal characters of a regular expression aren't evaluated",
        arguments: ["(a+)+bXY", "^(a+)+bXY$", "^(a+)+\\.XY"])
    func literalCharactersFirst(pattern: String) throws {
        let plain = pattern.contains("bXY") ? "bXY" : ".XY"
        let endless = String(repeating: "a", count: 60)
        func givenUp(_ texts: [String]) throws -> Int {
            let source = try ListSource(json: texts.map { "{\"p\":\"\($0)\"}" })
            let plan = QueryPlan(QueryPipeline([.find(.matches(.named("p"), pattern: pattern))]))
            let (rows, report) = try plan.rows(of: source)
            #expect(rows.isEmpty)
            return report.givenUp
        }
        #expect(try givenUp((0..<20).map { "\(endless)\($0)" } + [endless + "bX", endless + "b XY"]) == 0)
        #expect(try givenUp(["\(endless)c \(plain)"]) == 1, "the expression was evaluated")
    }

    @Test("a regular expression matches a text in any normal form") func normalForms() throws {
        let source = try ListSource(json: ["{\"p\":\"caf\u{e9}\"}", "{\"p\":\"cafe\u{301}\"}"])
        #expect(try source.keys("find p matches \"^caf\u{e9}$\"") == ["0", "1"])
        #expect(try source.keys("find p matches \"e\u{301}$\"") == ["0", "1"])
        #expect(try source.keys("find p matches \"^caf.$\"") == ["0", "1"])
    }

    @Test(arguments: [
        ("(", "expected ')'"), ("a[b", "expected ']'"), ("a{3,2}", "range lower bound '3'"),
        ("[z-a]", "character 'z'"), ("*a", "quantifier '*'"),
    ])
    func invalidPatternsAreExplained(pattern: String, words: String) throws {
        let plan = QueryPlan(QueryPipeline([.find(.matches(.named("p"), pattern: pattern))]))
        let error = #expect(throws: QueryError.self) { try plan.rows(of: ListSource([])) }
        #expect(
            error?.description.contains("is not a regular expression: " + words) == true,
            "\(error?.description ?? "")")
    }
}
