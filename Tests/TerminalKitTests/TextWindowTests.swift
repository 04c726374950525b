import TerminalKit
import TestSupport
import Testing

@Suite struct TextWindowTests {
    /// The whole text, or the blocks around an offset that the browser would hold.
    private func window(_ text: [UInt8], around offset: Int? = nil) -> TextWindow {
        guard let offset else { return TextWindow(start: 0, bytes: text, total: text.count) }
        let block = offset / TextWindow.block
        let range =
            max(0, (block - 2) * TextWindow.block)..<min(text.count, (block + 3) * TextWindow.block)
        return TextWindow(start: range.lowerBound, bytes: Array(text[range]), total: text.count)
    }

    private func rows(_ text: String, columns: Int) -> [String] {
        window(Array(text.utf8)).rows(from: 0, count: .max, columns: columns).map(\.text)
    }

    @Test(arguments: [
        ("one two three", 9, ["one two ", "three"]), ("one two three", 7, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]), ("a\nb\n", 4, ["a", "b"]),
        ("a\r\n\r\nb", 4, ["a", "", "b"]), ("a\rb", 4, ["a", "b"]), ("    indented", 20, ["    indented"]),
        ("\tx\n  \ty", 20, ["    x", "    y"]),
        ("    abcdef", 8, ["    abcd", "ef"]), ("東京都", 5, ["東京", "都"]),
        ("e\u{301}e\u{301}e", 2, ["e\u{301}e\u{301}", "e"]),
        ("a\u{1b}[2J", 20, ["a\\e[2J"]), ("", 5, []), ("\n", 5, [""]), ("👩‍👩‍👧👩‍👩‍👧", 7, ["👩‍👩‍👧", "👩‍👩‍👧"]),
    ])
    func wrapsText(_ text: String, _ columns: Int, _ expected: [String]) {
        #expect(rows(text, columns: columns) == expected)
    }

    @Test func escapesInvalidBytes() {
        let rows = window([0x61, 0xff, 0xc3, 0x28, 0x62]).rows(from: 0, count: 9, columns: 20)
        #expect(rows.map(\.text) == ["a\\xff\\xc3(b"])
    }

    /// Regardless of whether rows are found from the start, from the end or from a byte inside.
    @Test(arguments: 0..<2 as Range<UInt64>, [7, 80])
    func rowsDoNotDependOnStart(seed: UInt64, columns: Int) {
        var numbers = SeededGenerator(seed: seed)
        let pieces: [[UInt8]] = [
            Array("word ".utf8), Array("東京".utf8), Array("e\u{301}".utf8), Array("👩‍👩‍👧".utf8), [0xff], [0x09],
            Array("  ".utf8), [0x0d, 0x0a], [0x0d], [0x0a], Array("abc".utf8),
        ]
        // Every second text has lines of two or more blocks; the others have short lines.
        let kinds = seed % 2 == 0 ? pieces.count : 7
        var text: [UInt8] = []
        while text.count < 3 * TextWindow.block + 100 {
            text += pieces[Int.random(in: 0..<kinds, using: &numbers)]
            if kinds == 7, Int.random(in: 0..<40_000, using: &numbers) == 0 { text.append(0x0a) }
        }
        let all = window(text).rows(from: 0, count: .max, columns: columns)
        #expect(all.first?.range.lowerBound == 0 && all.last?.range.upperBound == text.count)
        for (row, next) in zip(all, all.dropFirst()) where row.range.upperBound != next.range.lowerBound {
            Issue.record("a gap behind \(row.range)")
        }
        for _ in 0..<8 {
            let index = Int.random(in: 1..<all.count, using: &numbers)
            let row = all[index]
            let part = window(text, around: row.range.lowerBound)
            let inside = Int.random(in: row.range, using: &numbers)
            #expect(
                window(text, around: inside).rowStart(holding: inside, columns: columns)
                    == row.range.lowerBound)
            #expect(part.row(at: row.range.lowerBound, columns: columns) == row)
            #expect(
                part.rowStart(1, before: row.range.lowerBound, columns: columns)
                    == all[index - 1].range.lowerBound)
            #expect(
                part.rowStart(20, before: row.range.lowerBound, columns: columns)
                    == all[max(0, index - 20)].range.lowerBound)
        }
    }
}
