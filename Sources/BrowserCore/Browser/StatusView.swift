import StoreInspection
import TerminalKit

/// The line above the footer: a prompt, progress, a problem, a notice, or the selected row.
struct StatusView {
    enum Content {
        case prompt(Prompt)
        case progress(Job)
        case line([Span], right: String)
    }

    let content: Content?

    private static let leastField = 10

    init(_ model: Model) {
        let look = model.look
        if let prompt = model.prompt {
            content = .prompt(prompt)
        } else if let notice = model.notice, let job = StatusView.longJob(model) {
            content = .line([Span(notice.text, look[notice.role])], right: model.words(of: job))
        } else if let job = StatusView.longJob(model) {
            content = .progress(job)
        } else if let problem = model.parts.problem(model), model.notice.map({ $0.role == .text }) ?? true {
            // The title has the store's name; its path would be cut.
            let path = model.store ?? model.stores.selected?.path
            let short = path.map { problem.replacing($0, with: StorePath.name($0)) } ?? problem
            content = .line([Span(short, look[.error])], right: "")
        } else if let notice = model.notice {
            content = .line([Span(notice.text, look[notice.role])], right: "")
        } else if model.size.rows >= 9 {
            content = model.parts.place(model)
        } else {
            content = nil
        }
    }

    private static func longJob(_ model: Model) -> Job? {
        guard let job = model.job, model.now.seconds(since: job.since) >= Job.patience else { return nil }
        return job
    }

    func draw(into frame: inout Frame, in rect: Rect, _ model: Model) {
        guard let content, !rect.isEmpty else { return }
        let look = model.look
        switch content {
        case .prompt(let prompt):
            // The field has priority over the label and the note.
            let labelRoom = max(0, rect.columns - StatusView.leastField)
            let label =
                TextWidth.width(of: prompt.label) <= labelRoom
                ? prompt.label
                : TextWidth.truncate(prompt.label, to: max(0, labelRoom - 1), ellipsis: look.glyphs.ellipsis)
                    + " "
            frame.fill(rect, style: look[.input])
            let width = frame.write(
                label, at: rect.origin, style: look[.key].over(look[.input]), within: rect)
            var figures = prompt.said.map { "  " + $0 } ?? prompt.remark(model)
            if prompt.said == nil, let job = StatusView.longJob(model) {
                figures = "  \(Figures.percent(job.share)) \(model.words(of: job))"
            }
            // A note is cut to the space beside the text.
            let free = rect.columns - width - TextWidth.width(of: prompt.field.text) - 2
            if prompt.said == nil, free >= 20 {
                figures = TextWidth.truncate(figures, to: free, ellipsis: look.glyphs.ellipsis)
            }
            let needed = TextWidth.width(of: figures) + 1
            let hasRoom = rect.columns >= 40 && rect.columns - width - needed >= 8
            let (field, right) = rect.split(left: width).rest.split(right: hasRoom ? needed : 0)
            prompt.field.draw(into: &frame, in: field, look: look)
            let style = look[prompt.said == nil ? .dim : .warning]
            frame.write(figures, at: right.origin, style: style.over(look[.input]), within: right)
            if !hasRoom, let said = prompt.said {
                let footer = model.layout.footer
                let row = footer.row > rect.row ? footer : Rect(model.size).line(rect.row - 1)
                Bar(left: [Span(said, style)], role: .text)
                    .draw(into: &frame, in: row, look: look)
            }
        case .progress(let job):
            let phase = Int(model.now.microseconds / 100_000 % 1000)
            ProgressBar(fraction: job.share > 0 ? job.share : nil, text: model.words(of: job), phase: phase)
                .draw(into: &frame, in: rect, look: look)
        case .line(let spans, let right):
            // The undo hint is at the end if it fits.
            let isNotice = model.notice != nil
            let left = spans.reduce(0) { $0 + TextWidth.width(of: $1.text) }
            let undo = model.undoWords(
                columns: isNotice ? rect.columns - left - 3 : rect.columns - min(left, 16) - 3)
            let width = undo.map { TextWidth.width(of: $0) + 2 } ?? 0
            let (rest, end) = (rect.split(right: width).rest, rect.split(right: width).right)
            Bar(left: spans, right: right.isEmpty ? [] : [Span(" " + right, look[.dim])], role: .text)
                .draw(into: &frame, in: rest, look: look)
            if let undo { frame.write("  " + undo, at: end.origin, style: look[.accent], within: end) }
        }
    }
}
