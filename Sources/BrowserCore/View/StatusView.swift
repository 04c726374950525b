import StoreInspection
import TerminalKit

/// The line above the footer: a prompt, progress, something that went wrong, a notice, or what the cursor is on.
struct StatusView {
    enum Content {
        case prompt(Prompt)
        case progress(Job)
        case line([Span], right: String)
    }

    let content: Content?

    init(_ model: Model) {
        let look = model.look
        if let prompt = model.prompt {
            content = .prompt(prompt)
        } else if let job = StatusView.longJob(model) {
            content = .progress(job)
        } else if let problem = StatusView.problem(model) {
            content = .line([Span(problem, look[.error])], right: "")
        } else if let notice = model.notice {
            content = .line([Span(notice.text, look[notice.role])], right: "")
        } else if model.size.rows >= 9 {
            content = StatusView.place(model)
        } else {
            content = nil
        }
    }

    /// The work under way, when a person waits for it.
    private static func longJob(_ model: Model) -> Job? {
        guard let job = model.job, model.now.seconds(since: job.since) >= Job.patience else { return nil }
        return job
    }

    private static func problem(_ model: Model) -> String? {
        switch model.screen {
        case .stores: model.stores.problem ?? model.stores.selected?.problem
        // On an empty screen it stands in the middle, in full.
        case .archives where model.archives.figures == nil: nil
        case .entries where model.entries?.arrangement == nil: nil
        case .value where model.value?.load == nil: nil
        case .archives:
            model.archives.problem ?? model.archives.summary(model.archives.selected ?? "")?.problem
        case .entries: model.archives.problem ?? model.entries?.problem
        case .value: model.archives.problem ?? model.value?.problem ?? model.value?.load?.content.problem
        case .query: model.archives.problem
        case .messages: model.archives.problem ?? model.log?.problem
        case .monitor: model.archives.problem
        }
    }

    /// What the cursor is on, in full, and where it is.
    private static func place(_ model: Model) -> Content? {
        let look = model.look
        switch model.screen {
        case .stores:
            guard let store = model.stores.selected else { return nil }
            return .line([Span(store.path, look[.dim])], right: "")
        case .archives:
            guard let store = model.store else { return nil }
            return .line([Span(store, look[.dim])], right: "")
        case .entries:
            guard let entries = model.entries, entries.count > 0 else { return nil }
            var spans = [Span(entries.key ?? "", look[.dim])]
            if entries.isVictim(row: entries.cursor) {
                spans.append(Span("  among the next to be evicted", look[.dying]))
            }
            return .line(
                spans, right: "\(Figures.count(entries.cursor + 1)) of \(Figures.count(entries.count))")
        case .value: return placeInValue(model)
        case .query:
            guard let query = model.query, let row = query.row, let answer = query.answer else { return nil }
            return .line(
                [Span(row.key ?? "", look[.dim])],
                right: "\(Figures.count(query.cursor + 1)) of \(Figures.count(answer.count))")
        case .messages:
            guard let log = model.log, log.count > 0 else { return nil }
            return .line([], right: "\(Figures.count(log.row + 1)) of \(Figures.count(log.count))")
        case .monitor: return placeInMonitor(model)
        }
    }

    private static func placeInMonitor(_ model: Model) -> Content? {
        guard let monitor = model.monitor, monitor.part == .events else { return nil }
        let count = monitor.count(model.events)
        guard count > 0 else { return nil }
        let row = monitor.row(model.events)
        let event = model.events[monitor.number(row: row, model.events)]
        return .line(
            [Span(EventText.key(event, look: model.look), model.look[.dim])],
            right: "\(Figures.count(row + 1)) of \(Figures.count(count))")
    }

    private static func placeInValue(_ model: Model) -> Content? {
        guard let value = model.value, value.load != nil else { return nil }
        let look = model.look
        let count = value.rowCount(columns: model.layout.list.columns)
        var spans: [Span] = []
        if value.isStale {
            let key = Browser.keyName(model, .refresh)
            spans.append(Span("The store holds another value by now; \(key) reads it.  ", look[.warning]))
        }
        if value.mode == .tree, let tree = value.tree, let node = value.node {
            spans.append(Span(tree.path(of: node), look[.accent]))
            if tree.isCut { spans.append(Span("  cut after \(Figures.count(ValueTree.maximumNodes)) parts")) }
        } else if value.mode == .text, let size = value.load?.entry.valueBytes, size > ValueContent.textLimit
        {
            spans.append(
                Span("The first \(Figures.bytes(UInt64(ValueContent.textLimit))) as text.", look[.dim]))
        }
        if value.mode == .hex, let size = value.load?.entry.valueBytes {
            let columns = max(1, model.layout.list.columns - 1)
            let offset = value.top * HexDump(count: size) { _ in [] }.bytesPerRow(columns: columns)
            return .line(spans, right: "byte \(Figures.count(offset)) of \(Figures.count(size))")
        }
        return .line(
            spans, right: "\(Figures.count(min(count, value.position + 1))) of \(Figures.count(count))")
    }

    func draw(into frame: inout Frame, in rect: Rect, _ model: Model) {
        guard let content, !rect.isEmpty else { return }
        let look = model.look
        switch content {
        case .prompt(let prompt):
            let label = prompt.label
            frame.fill(rect, style: look[.input])
            let width = frame.write(
                label, at: rect.origin, style: look[.key].over(look[.input]), within: rect)
            var figures = prompt.purpose == .filter ? "  " + EntriesView.countText(model) : ""
            if prompt.purpose == .export { figures = "  .ndjson, .csv or .tsv" }
            if let job = StatusView.longJob(model) {
                figures = "  \(job.title) \(Figures.percent(job.share)), Esc stops"
            }
            let (field, right) = rect.split(left: width).rest.split(
                right: rect.columns >= 40 ? TextWidth.width(of: figures) + 1 : 0)
            prompt.field.draw(into: &frame, in: field, look: look)
            frame.write(figures, at: right.origin, style: look[.dim].over(look[.input]), within: right)
        case .progress(let job):
            let phase = Int(model.now.microseconds / 100_000 % 1000)
            let escape = job.title + (job.isStoppable ? ", Esc stops" : "")
            ProgressBar(fraction: job.share > 0 ? job.share : nil, text: escape, phase: phase)
                .draw(into: &frame, in: rect, look: look)
        case .line(let spans, let right):
            Bar(left: spans, right: right.isEmpty ? [] : [Span(" " + right, look[.dim])], role: .text)
                .draw(into: &frame, in: rect, look: look)
        }
    }
}
