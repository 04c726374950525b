import ArchiveQuery
import StoreInspection
import Testing

struct FilterPatternTests {
    private func matches(_ key: String, _ pattern: FilterPattern) -> Bool? {
        Array(key.utf8).withUnsafeBytes { pattern.matches(key: $0, within: SearchTimeLimit()) }
    }

    @Test("a key is untested if the regular expression takes too long")
    func slowExpression() throws {
        let slow = String(repeating: "a", count: 40) + "b"
        let pattern = try #require(FilterPattern("(a+)+$"))
        #expect(matches(slow, pattern) == nil && matches("xa", pattern) == true)
        #expect(matches("x", pattern) == false && matches("(A+)+$", pattern) == true)
        #expect(pattern.matches([slow], within: SearchTimeLimit()) == nil && pattern.ranges(in: slow).isEmpty)
    }

    @Test("texts for which an expression is too slow don't use up the time of other texts")
    func slowTexts() throws {
        let slow = String(repeating: "a", count: 40) + "b"
        let pattern = try #require(FilterPattern("^(a+)+$"))
        for _ in 0..<100 { _ = pattern.ranges(in: slow) }
        let timeLimit = SearchTimeLimit()
        for _ in 0..<30 { #expect(pattern.matches([slow], within: timeLimit) == nil) }
        #expect(pattern.matches(["b"], within: timeLimit) == false)
        #expect(pattern.matches(["b", "aa"], within: timeLimit) == true)
        #expect(timeLimit.givenUp == 30)
    }

    @Test("an invalid expression has a reason", arguments: ["(a", "[", String(repeating: "[", count: 5_000)])
    func invalidExpression(text: String) throws {
        let pattern = try #require(FilterPattern(text))
        #expect(pattern.problem?.isEmpty == false && !pattern.isExpression)
    }

    @Test("a pattern after ! matches everything else")
    func inverse() throws {
        let pattern = try #require(FilterPattern("!^user:[0-9]$"))
        #expect(matches("user:1", pattern) == false && matches("user:10", pattern) == true)
    }
}
