import StoreInspection
import TerminalKit

/// The line above the footer: a prompt, progress, a problem, a notice, or the selected row.
struct StatusView {
    enum Content {
        case prompt(Prompt)
        case progress(Job)
        case message(Span)
        case line([Span], right: String)
    }

    let content: Content?

    private static let minimumFieldColumns = 10

    init(_ model: Model) {
        let look = model.look
        if let prompt = model.prompt {
            content = .prompt(prompt)
        } else if let notice = model.notice, let job = StatusView.longRunningJob(model) {
            content = .line([Span(notice.text, look[notice.role])], right: model.words(of: job))
        } else if let job = StatusView.longRunningJob(model) {
            content = .progress(job)
        } else if let problem = model.parts.problem(model), model.notice.map({ $0.role == .text }) ?? true {
            // The title has the store's name; its path would be cut.
            let path = model.store ?? model.stores.selected?.path
            let short = path.map { problem.replacing($0, with: StorePath.name($0)) } ?? problem
            content = .message(Span(short, look[.error]))
        } else if let notice = model.notice {
            content = .message(Span(notice.text, look[notice.role]))
        } else if model.size.rows >= 9 {
            // An open list hides the position of the cursor below it.
            content = model.overlay?.isList == true ? nil : model.parts.place(model)
        } else {
            content = nil
        }
    }

    private static func longRunningJob(_ model: Model) -> Job? {
        guard let job = model.job, model.now.seconds(since: job.since) >= Job.delay else { return nil }
        return job
    }

    func draw(into frame: inout Frame, in rect: Rect, _ model: Model) {
        guard let content, !rect.isEmpty else { return }
        let look = model.look
        switch content {
        case .prompt(let prompt):
            // The field has priority over the label and the note.
            let labelRoom = max(0, rect.columns - StatusView.minimumFieldColumns)
            let label =
                TextWidth.width(of: prompt.label) <= labelRoom
                ? prompt.label
                : look.cut(String(prompt.label.trimmingSpaces()), to: max(0, labelRoom - 1), .middle) + " "
            frame.fill(rect, style: look[.input])
            let width = frame.write(
                label, at: rect.origin, style: look[.key].over(look[.input]), within: rect)
            var figures = prompt.said.map { "  " + $0 } ?? prompt.remark(model)
            if prompt.said == nil, let job = StatusView.longRunningJob(model) {
                figures = "  \(Figures.percent(job.share)) \(model.words(of: job))"
            }
            // A note is cut to the space beside the text.
            let free = rect.columns - width - TextWidth.width(of: prompt.field.text) - 2
            if prompt.said == nil, free >= 20 { figures = look.cut(figures, to: free) }
            let needed = TextWidth.width(of: figures) + 1
            // An error is shown on another line if the text would be cut.
            let least = prompt.said == nil ? 8 : max(8, TextWidth.width(of: prompt.field.text) + 1)
            let hasRoom = rect.columns >= 40 && rect.columns - width - needed >= least
            let (field, right) = rect.split(left: width).rest.split(right: hasRoom ? needed : 0)
            prompt.field.draw(into: &frame, in: field, look: look)
            let style = look[prompt.said == nil ? .dim : .warning]
            frame.write(figures, at: right.origin, style: style.over(look[.input]), within: right)
            if !hasRoom, let said = prompt.said {
                let footer = model.layout.footer
                let fits = footer.row > rect.row && TextWidth.width(of: said) <= footer.columns
                let row = fits ? footer : Rect(model.size).line(rect.row - 1)
                StatusView.write(Span(said, style), endingAt: row, into: &frame, look)
            }
        case .progress(let job):
            let phase = Int(model.now.microseconds / 100_000 % 1000)
            ProgressBar(fraction: job.share > 0 ? job.share : nil, text: model.words(of: job), phase: phase)
                .draw(into: &frame, in: rect, look: look)
        case .message(let text):
            if TextWidth.width(of: text.text) > rect.columns {
                StatusView.write(text, endingAt: rect, into: &frame, look)
            } else {
                draw([text], right: "", into: &frame, in: rect, model)
            }
        case .line(let spans, let right): draw(spans, right: right, into: &frame, in: rect, model)
        }
    }

    private func draw(
        _ spans: [Span], right: String, into frame: inout Frame, in rect: Rect, _ model: Model
    ) {
        let look = model.look
        let left = spans.reduce(0) { $0 + TextWidth.width(of: $1.text) }
        let position = right.isEmpty ? 0 : TextWidth.width(of: right) + 2
        // The undo hint is at the end if it fits.
        let reserved = model.notice == nil ? min(left, 16) + position : left
        let undo = model.undoWords(columns: rect.columns - reserved - 3)
        let (rest, end) = rect.split(right: undo.map { TextWidth.width(of: $0) + 2 } ?? 0)
        // The selected item is cut rather than its position.
        let available = max(0, rest.columns - position)
        let shown = model.notice == nil ? StatusView.cut(spans, to: available, look) : spans
        Bar(left: shown, right: right.isEmpty ? [] : [Span(" " + right, look[.dim])], role: .text)
            .draw(into: &frame, in: rest, look: look)
        if let undo { frame.write("  " + undo, at: end.origin, style: look[.accent], within: end) }
    }

    private static func cut(_ spans: [Span], to columns: Int, _ look: Look) -> [Span] {
        var available = columns
        return spans.map { span in
            let text = look.cut(span.text, to: available, .middle)
            available -= TextWidth.width(of: text)
            return Span(text, span.style)
        }
    }

    /// Writes a message that ends at `line`; a long one covers the rows above.
    private static func write(_ text: Span, endingAt line: Rect, into frame: inout Frame, _ look: Look) {
        let lines = TextWrap.lines(look.legible(text.text), columns: line.columns)
        // Keeps the title visible.
        let count = max(1, min(lines.count, line.row))
        for (offset, words) in lines.prefix(count).enumerated() {
            let row = Rect(
                column: line.column, row: line.row - count + 1 + offset, columns: line.columns, rows: 1)
            Bar(left: [Span(words, text.style)], role: .text).draw(into: &frame, in: row, look: look)
        }
    }
}
