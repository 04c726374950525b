import TerminalKit

struct ProblemText: Widget {
    let text: String
    var role = Role.danger
    var isCentered = false

    func draw(into frame: inout Frame, in rect: Rect, look: Look) {
        let columns = isCentered ? min(rect.columns - 2, 76) : rect.columns
        let lines = TextWrap.lines(text, columns: max(1, columns))
        let widest = lines.map { TextWidth.width(of: $0) }.max() ?? 0
        let area = isCentered ? rect.centered(Size(columns: widest, rows: lines.count)) : rect
        for (row, line) in lines.prefix(area.rows).enumerated() {
            frame.write(line, at: area.line(row).origin, style: look[role], within: area)
        }
    }
}
