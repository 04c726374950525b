import TerminalKit
import Testing

@Suite struct TextFieldTests {
    private func edited(_ text: String, _ script: String) throws -> (text: String, cursor: Int) {
        var field = TextField(text)
        for key in try Key.script(script) {
            let isKnown = field.handle(key)
            #expect(isKnown, "\(key)")
        }
        return (field.text, field.cursor)
    }

    @Test(arguments: [
        ("", "abc", "abc", 3), ("abc", "<left><left>x", "axbc", 2), ("abc", "<home><delete>", "bc", 0),
        ("abc", "<backspace><ctrl+h>", "a", 1), ("abc", "<ctrl+a><ctrl+d>", "bc", 0),
        ("one two-three", "<ctrl+w>", "one two-", 8), ("one two", "<ctrl+w><ctrl+w><ctrl+y>", "one ", 4),
        ("one two", "<alt+b>X", "one Xtwo", 5), ("one two", "<home><ctrl+right>X", "oneX two", 4),
        ("one two", "<home><alt+d>", " two", 0), ("one two", "<ctrl+left><ctrl+k>", "one ", 4),
        ("one two", "<ctrl+left><ctrl+u>", "two", 0), ("abc", "<ctrl+u><ctrl+y>!", "abc!", 4),
        ("漢字", "<left><backspace>", "字", 0), ("👩‍🚀e\u{301}", "<backspace>", "👩‍🚀", 1),
        ("👩‍🚀", "<backspace>", "", 0),
        ("", "<backspace><delete><left><right><ctrl+w><ctrl+y>", "", 0), ("ab", "<home><end>c", "abc", 3),
    ])
    func keysEditText(_ text: String, _ script: String, _ expected: String, _ cursor: Int) throws {
        let result = try edited(text, script)
        #expect(result.text == expected)
        #expect(result.cursor == cursor)
    }

    @Test func ignoresOtherKeys() {
        var field = TextField("a")
        let codes: [KeyCode] = [.enter, .escape, .up, .tab, .function(1)]
        for key in codes.map({ Key($0) }) + [Key(.character("x"), modifiers: .alt)] {
            let isKnown = field.handle(key)
            #expect(!isKnown, "\(key)")
        }
        #expect(field.text == "a")
    }

    @Test func marksJoinThePrecedingCharacter() {
        var field = TextField("e")
        field.insert("\u{301}")
        #expect(field.text == "é")
        #expect(field.cursor == 1)
        field.insert("a\r\nb\tc")
        #expect(field.text == "éa b\tc")
        #expect(field.cursor == 6)
    }

    @Test("keeps lines, and moves between them") func keepsLines() throws {
        var field = TextField()
        field.keepsLines = true
        field.insert("find a > 1\r\n| sort b\n\n| limit 3")
        #expect(field.text == "find a > 1\n| sort b\n\n| limit 3" && field.lineCount == 4)
        #expect(field.lineBeforeCursor == "| limit 3")
        var places: [String] = []
        func move(_ steps: Int...) {
            for step in steps { places.append(field.moveLine(by: step) ? field.lineBeforeCursor : "none") }
        }
        move(-1, -1)
        for key in try Key.script("<end>") { _ = field.handle(key) }
        move(-1, -1)
        #expect(places == ["", "", "find a >", "none"])
        for key in try Key.script("<ctrl+k><home>X") { _ = field.handle(key) }
        #expect(field.text == "Xfind a >\n| sort b\n\n| limit 3")
        places = []
        move(1, 1, 1, 1)
        #expect(places == ["|", "", "", "none"])
        var frame = Frame(size: Size(columns: 10, rows: 2))
        field.draw(into: &frame, in: Rect(frame.size), look: Look(theme: Theme(.dark, depth: .mono)))
        let shown = frame.plainText.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            shown.first?.allSatisfy { $0 == " " } == true
                && shown.dropFirst().first?.hasPrefix("| limit 3") == true)
        #expect(frame.cursor == Point(column: 0, row: 1))
    }

    @Test func completionReplacesARange() {
        var field = TextField("where pop > 3")
        field.replace(6..<9, with: "population")
        #expect(field.text == "where population > 3")
        #expect(field.cursor == 16)
        field.replace(90..<99, with: "!")
        #expect(field.text == "where population > 3!")
    }

    @Test func cursorStaysVisible() {
        let look = Look(theme: Theme(.mono, depth: .mono))
        func shown(_ field: TextField, _ columns: Int) -> (String, Int?) {
            var frame = Frame(size: Size(columns: columns, rows: 1))
            frame.draw(field, in: frame.bounds, look: look)
            #expect(invariantBreaks(frame) == [])
            return (frame.text(ofRow: 0), frame.cursor?.column)
        }
        var field = TextField("abcdefgh")
        #expect(shown(field, 5) == ("…fgh ", 4))
        field.moveCursor(to: 0)
        #expect(shown(field, 5) == ("abcd…", 0))
        field = TextField("漢字漢字")
        #expect(shown(field, 6) == ("…漢字 ", 5))
        field.moveCursor(to: 3)
        #expect(shown(field, 6) == ("… 漢字", 4))
        #expect(shown(TextField("", placeholder: "filter"), 4) == ("fil…", 0))
        #expect(shown(TextField("a\u{1b}b"), 8) == ("a\\eb    ", 4))
        #expect(shown(TextField("x", isActive: false), 3) == ("x  ", nil))
    }
}
