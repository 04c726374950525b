import ArchiveQuery
import Synchronization
import Testing

@Suite struct TextPatternTests {
    private final class Reports: Sendable {
        private let all = Mutex<[String]>([])
        var reasons: [String] { all.withLock { $0 } }
        func add(_ pattern: String, _ reason: String) { all.withLock { $0.append("\(pattern): \(reason)") } }
    }

    @Test("a pattern matches anywhere in the text") func matchesAnywhere() {
        let pattern = TextPattern("a+b")
        #expect(pattern.matches("xaaby"))
        #expect(!pattern.matches("xay"))
        #expect(TextPattern("^San ").matches("San Juan"))
        #expect(!TextPattern("^San ").matches("El San Juan"))
        #expect(!TextPattern("^b").matches("a\nb"))
        #expect(TextPattern("(?m)^b").matches("a\nb"))
        #expect(TextPattern("").matches(""))
        #expect(TextPattern("本$").matches("👩‍👩‍👧日本"))
    }

    @Test("an invalid pattern matches nothing and is reported once") func invalidPatterns() {
        let reports = Reports()
        let pattern = TextPattern("(", report: reports.add)
        for text in ["", "(", "a"] { #expect(!pattern.matches(text)) }
        #expect(reports.reasons == ["(: not a regular expression, so it matches nothing"])
    }

    @Test("a valid pattern reports nothing") func validPatterns() {
        let reports = Reports()
        let pattern = TextPattern("a", report: reports.add)
        #expect(pattern.matches("a") && !pattern.matches("b"))
        #expect(reports.reasons == [])
    }

    @Test("a search that takes too long is abandoned and reported") func slowPatterns() {
        let reports = Reports()
        let pattern = TextPattern("^(a+)+$", report: reports.add)
        let text = String(repeating: "a", count: 60) + "b"
        let time = ContinuousClock().measure {
            #expect(!pattern.matches(text))
            #expect(!pattern.matches(text))
        }
        #expect(time >= TextPattern.timeLimit * 2)
        #expect(time < .seconds(60))
        #expect(reports.reasons == ["^(a+)+$: a text took too long and was skipped"])
        #expect(pattern.matches("aaa"))
    }

    @Test("a search with too many alternatives is abandoned and reported") func ambiguousTexts() {
        let reports = Reports()
        let pattern = TextPattern("^(a|b)*$", report: reports.add)
        #expect(pattern.matches("abba"))
        #expect(reports.reasons == [])
        #expect(!pattern.matches(String(repeating: "ab", count: 2_000_000)))
        #expect(reports.reasons.count == 1)
    }
}
