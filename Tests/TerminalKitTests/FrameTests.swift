import TestSupport
import TerminalKit
import Testing

@Suite struct FrameTests {
    private func line(_ columns: Int, _ draw: (inout Frame) -> Void) -> String {
        var frame = Frame(size: Size(columns: columns, rows: 1))
        draw(&frame)
        #expect(invariantBreaks(frame) == [])
        return frame.text(ofRow: 0)
    }

    @Test func textIsCutAtTheRightEdge() {
        #expect(line(4) { $0.write("abcdef", at: .zero) } == "abcd")
        #expect(line(4) { $0.write("ab漢字", at: .zero) } == "ab漢")
        #expect(line(5) { $0.write("ab漢字", at: .zero) } == "ab漢 ")
    }

    @Test func textIsCutAtTheLeftEdge() {
        #expect(line(4) { $0.write("abcdef", at: Point(column: -2, row: 0)) } == "cdef")
        #expect(line(4) { $0.write("漢字x", at: Point(column: -1, row: 0)) } == " 字x")
        #expect(line(4) { $0.write("漢字x", at: Point(column: -9, row: 0)) } == "    ")
    }

    @Test func clipRectangleCutsText() {
        let clip = Rect(column: 2, row: 0, columns: 3, rows: 1)
        #expect(line(7) { $0.write("漢字漢字", at: Point(column: 1, row: 0), within: clip) } == "   字  ")
        #expect(line(7) { $0.write("abcdefg", at: .zero, within: clip) } == "  cde  ")
    }

    @Test func writeReturnsEndOfText() {
        var frame = Frame(size: Size(columns: 5, rows: 1))
        #expect(frame.write("ab", at: .zero) == 2)
        #expect(frame.write("漢", at: .zero) == 2)
        #expect(frame.write("漢字漢字", at: .zero) == 5)
        #expect(frame.write("ab", at: Point(column: -1, row: 0)) == 2)
        #expect(frame.write("ab", at: Point(column: 0, row: 1)) == 0)
        #expect(frame.write("ab", at: Point(column: 9, row: 0)) == 0)
        #expect(frame.write("\u{1b}", at: .zero) == 2)
    }

    @Test func halvesOfWideCharactersAreBlanked() {
        #expect(
            line(4) {
                $0.write("漢字", at: .zero); $0.write("x", at: Point(column: 1, row: 0))
            } == " x字")
        #expect(
            line(4) {
                $0.write("漢字", at: .zero); $0.write("x", at: Point(column: 2, row: 0))
            } == "漢x ")
        #expect(
            line(4) {
                $0.write("漢字", at: .zero); $0.write("漢", at: Point(column: 1, row: 0))
            } == " 漢 ")
        #expect(
            line(4) {
                $0.write("漢字", at: .zero); $0.fill(Rect(column: 1, columns: 2, rows: 1))
            } == "    ")
    }

    @Test func hostileTextIsDrawnAsEscapes() {
        #expect(line(8) { $0.write("a\u{1b}[2J", at: .zero) } == "a\\e[2J  ")
        #expect(line(3) { $0.write("a\u{9b}b", at: .zero) } == "a\\u")
        let rect = Rect(columns: 4, rows: 1)
        #expect(line(4) { $0.fill(rect, character: "\u{1b}") } == "    ")
        #expect(line(4) { $0.fill(rect, character: "漢") } == "    ")
    }

    @Test func restylingCoversBothHalves() {
        var frame = Frame(size: Size(columns: 4, rows: 1))
        frame.write("漢字", at: .zero)
        frame.restyle(Rect(columns: 1, rows: 1)) { $0.attributes = .bold }
        #expect(frame[0, 0].style.attributes == .bold)
        #expect(frame[1, 0].style.attributes == .bold)
        #expect(frame[2, 0].style.attributes == [])
        frame.restyle(Rect(column: 3, columns: 1, rows: 1)) { $0.attributes = .dim }
        #expect(frame[2, 0].style == frame[3, 0].style)
    }

    @Test func cellsOutsideAreBlank() {
        let frame = Frame(size: Size(columns: 0, rows: 0))
        #expect(frame[5, -1] == .blank())
        #expect(frame.plainText == "")
    }

    @Test("random drawing keeps the invariants, and differences are exact") func randomDrawing() {
        for seed in UInt64(0)..<40 {
            var random = SeededGenerator(seed: seed)
            let size = Size(columns: Int.random(in: 1...14, using: &random), rows: 3)
            var frame = Frame(size: size)
            for _ in 0..<60 {
                let old = frame
                let point = Point(
                    column: Int.random(in: -3...size.columns, using: &random),
                    row: Int.random(in: -1...3, using: &random))
                let rect = Rect(
                    column: point.column, row: point.row, columns: Int.random(in: 0...6, using: &random),
                    rows: Int.random(in: 0...2, using: &random))
                let style = Style(foreground: .indexed(UInt8.random(in: 0...3, using: &random)))
                switch Int.random(in: 0...3, using: &random) {
                case 0: frame.fill(rect, style: style, character: "x")
                case 1: frame.restyle(rect) { $0 = style }
                default:
                    let text = (0..<4).map { _ in hardPieces.randomElement(using: &random) ?? "" }.joined()
                    frame.write(
                        text, at: point, style: style, within: Bool.random(using: &random) ? rect : nil)
                }
                #expect(invariantBreaks(frame) == [], "seed \(seed)")
                expectExact(FrameDiff(from: old, to: frame), old, frame, seed)
            }
        }
    }

    private func expectExact(_ diff: FrameDiff, _ old: Frame, _ new: Frame, _ seed: UInt64) {
        var covered = Set<Point>()
        for run in diff.runs {
            for column in run.columns { covered.insert(Point(column: column, row: run.row)) }
            #expect(!new[run.columns.lowerBound, run.row].isContinuation, "seed \(seed)")
            let afterwards = new[run.columns.upperBound, run.row]
            #expect(run.columns.upperBound == new.size.columns || !afterwards.isContinuation, "seed \(seed)")
        }
        for row in 0..<new.size.rows {
            for column in 0..<new.size.columns where old[column, row] != new[column, row] {
                #expect(covered.contains(Point(column: column, row: row)), "seed \(seed)")
            }
        }
        #expect(diff.isEmpty == (old == new), "seed \(seed)")
    }

    @Test func differenceHoldsOnlyChanges() {
        var old = Frame(size: Size(columns: 10, rows: 2))
        old.write("abc 漢字", at: .zero)
        var new = old
        #expect(FrameDiff(from: old, to: new).isEmpty)
        new.write("X", at: Point(column: 1, row: 0))
        new.write("漢", at: Point(column: 6, row: 0))
        #expect(
            FrameDiff(from: old, to: new).runs == [
                FrameDiff.Run(row: 0, columns: 1..<2), FrameDiff.Run(row: 0, columns: 6..<8),
            ])
        new = old
        new.cursor = Point(column: 1, row: 1)
        #expect(FrameDiff(from: old, to: new).runs.isEmpty)
        #expect(!FrameDiff(from: old, to: new).isEmpty)
        #expect(FrameDiff(from: nil, to: new).runs.count == 2)
        #expect(FrameDiff(from: old, to: Frame(size: Size(columns: 3, rows: 1))).runs.count == 1)
    }
}
