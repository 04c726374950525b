import BrowserCore
import StoreInspection
import TerminalKit
import Testing

/// Every scene is well-formed at every size: nothing exceeds the screen, no wide character is cut, and no control reaches the
/// terminal.
struct FrameTests {
    static let sizes = [
        (20, 5), (24, 6), (30, 8), (40, 10), (60, 16), (80, 24), (100, 30), (132, 43), (200, 60), (300, 80),
    ]

    @Test(arguments: Scene.all)
    func isWellFormed(scene: Scene) throws {
        for (columns, rows) in Self.sizes + [(1, 1), (2, 2), (5, 3), (19, 4), (500, 200)] {
            // ASCII glyphs are equally wide, so a few sizes suffice for them.
            for look in [20, 80].contains(columns) ? [Fixture.unicode, Fixture.ascii] : [Fixture.unicode] {
                let frame = try scene.browser(columns: columns, rows: rows, look: look).frame
                #expect(frame.size == Size(columns: columns, rows: rows))
                check(frame, "\(scene.name) at \(columns)x\(rows)")
            }
        }
    }

    /// A resized screen is drawn immediately, also with open dialogs.
    @Test(arguments: Scene.all)
    func resizes(scene: Scene) throws {
        var browser = try scene.browser(columns: 80, rows: 24, look: Fixture.unicode)
        for (columns, rows) in Self.sizes.dropLast(2).reversed() + Self.sizes {
            browser.send(.input(.resize(Size(columns: columns, rows: rows))))
            #expect(browser.frame.size == Size(columns: columns, rows: rows))
            check(browser.frame, "\(scene.name) resized to \(columns)x\(rows)")
        }
    }

    private func check(_ frame: Frame, _ what: String) {
        var problems: [String] = []
        for row in 0..<frame.size.rows {
            var column = 0
            while column < frame.size.columns {
                let cell = frame[column, row]
                let end = column + Int(cell.width)
                if cell.width < 1 { problems.append("half a character at \(column), \(row)") }
                if end > frame.size.columns { problems.append("cut at \(column), \(row)") }
                let isHarmless = cell.text.unicodeScalars.allSatisfy { scalar in
                    scalar.value >= 0x20 && !(0x7f..<0xa0).contains(scalar.value)
                }
                if !isHarmless { problems.append("control at \(column), \(row)") }
                column = max(column + 1, end)
            }
        }
        for line in frame.plainText.split(separator: "\n")
        where TextWidth.width(of: String(line)) > frame.size.columns {
            problems.append("too wide: \(line)")
        }
        #expect(problems == [], "\(what)")
    }

    /// Regression: the label of a prompt left no space for the text.
    @Test(arguments: [("j<enter>nabcdefgh", "abcdefgh"), ("jTA90%", "90%")])
    func showsTypedTextOnNarrowScreen(keys: String, typed: String) throws {
        let frame = try Fixture.browser(Fixture.source(), columns: 20, rows: 5, keys: keys).frame
        #expect(frame.lines.contains { $0.contains("…") && $0.contains(": \(typed)") }, "\(frame.plainText)")
    }

    /// Regression: long figures were cut without an ellipsis: "expirati".
    @Test func cutFiguresHaveEllipsis() throws {
        let source = Fixture.source { state in
            state.summaries["City"]?.records = 3_150_000_000
            state.summaries["City"]?.deletes = 66_000_000_000
        }
        let frame = try Fixture.browser(source, columns: 120, rows: 35, keys: "j").frame
        let row = try #require(frame.lines.first { $0.contains("3,150,000,000 records") })
        #expect(row.contains("66,000,000,000 deletes "), "\(row)")
    }

    /// Only the store's text may exceed ASCII.
    @Test func asciiLookIsASCII() throws {
        let source = MockSource()
        source.with { state in
            state.archives["City"] = (0..<40).map { number in
                Fixture.record(
                    "key \(number)", number: number, bytes: Array("{\"a\":[1,2,{}],\"b\":null}".utf8))
            }
            state.summaries["City"] = ArchiveSample(name: "City")
        }
        for keys in [
            "", "<enter>", "<enter>/1", "<enter>mmD", "<enter>?", "<enter>:", "<enter>c", "<enter><enter>",
        ] {
            for (columns, rows) in Self.sizes {
                let frame = try Fixture.browser(
                    source, columns: columns, rows: rows, look: Fixture.ascii, keys: keys
                ).frame
                #expect(frame.plainText.utf8.allSatisfy { $0 < 0x80 }, "\(keys) at \(columns)x\(rows)")
            }
        }
    }
}
