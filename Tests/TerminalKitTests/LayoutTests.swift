import TestSupport
import TerminalKit
import Testing

@Suite struct LayoutTests {
    @Test func partsShareTheSpace() {
        #expect(Layout.lengths(of: [.fixed(3), .flexible(), .fixed(2)], in: 20) == [3, 15, 2])
        #expect(Layout.lengths(of: [.flexible(1), .flexible(2)], in: 10) == [3, 7])
        #expect(Layout.lengths(of: [.minimum(5), .flexible()], in: 11) == [8, 3])
        #expect(Layout.lengths(of: [.fixed(3), .minimum(5), .fixed(4)], in: 6) == [3, 3, 0])
        #expect(Layout.lengths(of: [.fixed(3), .fixed(3)], in: 8, gap: 1) == [3, 3])
        #expect(Layout.lengths(of: [], in: 8) == [])
        #expect(Layout.lengths(of: [.fixed(-2), .flexible(-1)], in: -4) == [0, 0])
    }

    @Test func partsStayInside() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let parts = (0..<Int.random(in: 1...6, using: &random)).map { _ -> Part in
                switch Int.random(in: 0...2, using: &random) {
                case 0: .fixed(Int.random(in: -2...20, using: &random))
                case 1: .minimum(Int.random(in: 0...20, using: &random))
                default: .flexible(Int.random(in: 0...3, using: &random))
                }
            }
            let columns = Int.random(in: 0...60, using: &random)
            let gap = Int.random(in: 0...2, using: &random)
            let lengths = Layout.lengths(of: parts, in: columns, gap: gap)
            #expect(lengths.count == parts.count && lengths.allSatisfy { $0 >= 0 }, "seed \(seed)")
            #expect(
                lengths.reduce(0, +) <= max(0, columns - gap * (parts.count - 1)), "seed \(seed)")
        }
    }

    @Test func rectanglesAreCutAndNeverNegative() {
        let rect = Rect(column: 2, row: 3, columns: 10, rows: 4)
        #expect(rect.split(top: 1).rest == Rect(column: 2, row: 4, columns: 10, rows: 3))
        #expect(rect.split(bottom: 1).bottom == Rect(column: 2, row: 6, columns: 10, rows: 1))
        #expect(rect.split(left: 4).rest == Rect(column: 6, row: 3, columns: 6, rows: 4))
        #expect(rect.split(right: 99).right == rect)
        #expect(rect.split(top: -1).rest == rect)
        #expect(rect.inset(1) == Rect(column: 3, row: 4, columns: 8, rows: 2))
        #expect(rect.inset(9).isEmpty)
        #expect(rect.line(3).row == 6)
        #expect(rect.line(4).isEmpty && rect.line(-1).isEmpty)
        #expect(rect.centered(Size(columns: 4, rows: 99)) == Rect(column: 5, row: 3, columns: 4, rows: 4))
        #expect(rect.contains(Point(column: 11, row: 6)) && !rect.contains(Point(column: 12, row: 6)))
        #expect(Rect(columns: -1, rows: -1).isEmpty)
        #expect(rect.intersection(Rect(columns: 1, rows: 1)).isEmpty)
    }
}
