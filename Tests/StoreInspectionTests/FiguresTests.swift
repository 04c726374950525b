import StorageEngine
import StoreInspection
import Testing

struct FiguresTests {
    @Test(arguments: [
        (0 as UInt64, "0 B"), (999, "999 B"), (1_000, "1 kB"), (1_415, "1.42 kB"), (20_340, "20.3 kB"),
        (416_900, "417 kB"), (999_499, "999 kB"), (999_500, "1 MB"), (2_000_000, "2 MB"),
        (20_000_000_000, "20 GB"), (.max, "18.4 EB"),
    ])
    func bytes(number: UInt64, text: String) {
        #expect(Figures.bytes(number) == text)
    }

    @Test(
        "elapsed times of a second or more are in seconds",
        arguments: [(420, "0.42 ms"), (999_000, "999 ms"), (3_240_000, "3.24 s"), (30_800_000, "30.8 s")])
    func elapsed(microseconds: Int, text: String) {
        #expect(Figures.elapsed(.microseconds(microseconds)) == text)
    }

    @Test(
        "numbers have separators, and no more than six decimals from 1 on",
        arguments: [
            ("732.4285714285714", "732.428571"), ("-1234.99999999", "-1,235"), ("1234567.8", "1,234,567.8"),
            ("0.00012345678", "0.00012345678"), ("1e400", "1e400"), ("12", "12"),
        ])
    func grouped(text: String, shown: String) {
        #expect(Figures.grouped(text) == shown)
    }

    @Test func bytesInAnotherUnit() {
        #expect(Figures.share(1_920_000, of: 2_000_000) == "1.92 of 2 MB")
        #expect(Figures.share(417_000, of: 2_000_000) == "0.42 of 2 MB")
        #expect(Figures.share(15_800, of: 1_000_000) == "15.8 kB of 1 MB")
        #expect(Figures.share(10, of: 2_000_000) == "10 B of 2 MB")
        #expect(Figures.share(0, of: 2_000_000) == "0 of 2 MB")
    }

    @Test(
        "only skipped entries without keys are called unknown",
        arguments: [(1, true), (10, true), (11, false), (100, false)])
    func skippedEntries(keys: Int, isUnknown: Bool) {
        var outcome = UndoOutcome.nothing
        (outcome.skipped, outcome.skippedCount) = ((0..<keys).map { "key \($0)" }, 800)
        let remarks = outcome.remarks(listing: 10)
        #expect(remarks.count == min(keys, 10) + 1)
        let last = remarks.last ?? ""
        #expect(last.contains("\(800 - min(keys, 10)) ") && last.contains("unknown") == isUnknown)
    }

    @Test("all entries without keys are counted in one line") func skippedEntriesWithoutKeys() {
        var outcome = UndoOutcome.nothing
        outcome.skippedCount = 800
        let remarks = outcome.remarks(listing: 10)
        #expect(remarks.count == 1 && remarks.first?.hasPrefix("800 ") == true)
    }

    @Test("damaged entries of an undo have a remark, and count as restored") func damagedEntries() {
        var outcome = UndoOutcome.nothing
        let none = outcome.summary
        outcome.damaged = 2
        #expect(outcome.remarks(listing: 10).count == 1 && outcome.summary.contains("2 "))
        #expect(!outcome.summary.hasPrefix(none))
    }

    @Test func counts() {
        #expect(Figures.count(6_204) == "6,204")
        #expect(Figures.count(-1_000_000) == "-1,000,000")
        #expect(Figures.count(UInt64.max) == "18,446,744,073,709,551,615")
        #expect(Figures.count(1, "entry", "entries") == "1 entry")
        #expect(Figures.count(0, "entry", "entries") == "0 entries")
    }

    @Test(arguments: [
        (0.0, "0"), (0.44, "0.4"), (12.5, "12.5"), (99.4, "99.4"), (1_204.2, "1,204"), (12_345, "12.3k"),
    ])
    func rates(value: Double, text: String) {
        #expect(Figures.rate(value) == text)
    }

    /// 0 and 100 % are shown only when exact.
    @Test(arguments: [
        (0.0, "0.0%"), (0.0001, "<0.1%"), (0.5, "50.0%"), (0.9243, "92.4%"), (0.99999, "99.9%"),
        (1.0, "100%"),
    ])
    func percent(share: Double, text: String) {
        #expect(Figures.percent(share) == text)
    }

    @Test(
        arguments: [
            (-5.0, "0s"), (0.4, "0s"), (0.9, "1s"), (59.4, "59s"), (59.9, "1m"), (90, "1m30s"),
            (3_599, "59m59s"), (3_599.9, "1h"), (7_199.99, "2h"), (7_140, "1h59m"), (86_369, "23h59m"),
            (86_399, "1d"), (86_400, "1d"), (86_400 * 1.5, "1d12h"), (86_400 * 99.9, "99d22h"),
            (86_400 * 99.99, "100d"), (86_400 * 999.4, "999d"), (86_400 * 1_000, "2.7y"), (1e300, "999y"),
        ] as [(Double, String)])
    func durations(seconds: Double, text: String) {
        #expect(Figures.duration(seconds) == text && text.count <= 6)
    }

    @Test(arguments: [
        ("City", "City"), ("/a/b-c.d", "/a/b-c.d"), ("", "''"), ("two words", "'two words'"),
        ("it's", "'it'\\''s'"), ("$(rm)", "'$(rm)'"), ("東京", "'東京'"),
        // Single quotes would keep these, but a terminal would not show them.
        ("two\nlines", "$'two\\012lines'"), ("\u{1b}[31m it's \\ 東", "$'\\033[31m it\\047s \\134 東'"),
        ("\u{9b}1", "$'\\302\\2331'"),
    ])
    func shellWords(word: String, quoted: String) {
        #expect(ShellWord.quoted(word) == quoted)
    }
}
