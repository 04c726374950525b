import StoreInspection
import Testing

struct FilterPatternTests {
    private func matches(_ key: String, _ pattern: FilterPattern) -> Bool? {
        Array(key.utf8).withUnsafeBytes(pattern.matches(key:))
    }

    @Test("a regular expression that takes too long decides nothing about a key")
    func slowExpression() throws {
        let slow = String(repeating: "a", count: 40) + "b"
        let pattern = try #require(FilterPattern("(a+)+$"))
        #expect(matches(slow, pattern) == nil && matches("xa", pattern) == true)
        #expect(matches("x", pattern) == false && matches("(A+)+$", pattern) == true)
        #expect(pattern.matches([slow]) && pattern.ranges(in: slow).isEmpty)
    }

    @Test("after ! everything else matches")
    func inverse() throws {
        let pattern = try #require(FilterPattern("!^user:[0-9]$"))
        #expect(matches("user:1", pattern) == false && matches("user:10", pattern) == true)
    }
}
