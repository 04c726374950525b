import StorageEngine
import StoreInspection
import TerminalKit

/// Says in lines of text what a person would see change on the screen: for screen readers, and for terminals that nothing can be
/// drawn on. For one thread.
package struct Speaker: Sendable {
    /// The field that has the keyboard, and what stands before it.
    package struct Typing: Sendable, Hashable {
        package let label: String
        package let text: String
    }

    package private(set) var typing: Typing?

    // What was said last of each.
    private var heading = ""
    private var info = ""
    private var infoIsDue = true
    private var overlay: SpokenOverlay?
    private var notice: Notice?
    private var problem: String?
    private var mistake: String?
    private var state: [String] = []
    private var job: (ticket: Int, quarter: Int)?
    private var row = ""
    private var asked: Timestamp?
    private var nextEvent: Int?
    private var eventsSaid: Timestamp?
    /// Since when this screen is shown.
    private var arrived: Timestamp?

    package init() {}

    /// Says everything anew.
    package mutating func startAnew() { self = Speaker() }

    /// What is new since the last call. `frame`: the model drawn.
    package mutating func lines(_ model: Model, _ frame: Frame) -> [String] {
        let before = typing
        typing = Speaker.typing(model)
        // What was typed decided what is shown now.
        if before != nil, typing == nil { (row, info, infoIsDue) = ("", "", true) }
        var lines = sayPlace(model, frame)
        lines += sayState(model) + sayOverlay(model) + sayNews(model)
        if model.overlay == nil { lines += sayRow(model, frame) }
        lines += sayEvents(model)
        return lines.map(TerminalText.sanitized)
    }

    // MARK: The screen

    private mutating func sayPlace(_ model: Model, _ frame: Frame) -> [String] {
        var lines: [String] = []
        let path = model.parts.path(model).filter { $0 != model.screen.rawValue }
        let place = model.screen.rawValue + (path.isEmpty ? "" : ": " + path.joined(separator: " "))
        if place != heading {
            heading = place
            (row, infoIsDue) = ("", true)
            (nextEvent, arrived) = (nil, model.now)
            lines.append("\(place); \(Browser.keyName(model, .help)) lists the keys")
        }
        if model.query?.askedAt != asked {
            asked = model.query?.askedAt
            infoIsDue = true
        }
        // What is above the list says how much there is, once that is known.
        let words = Speaker.text(frame, in: model.layout.info).joined(separator: "; ")
        let isTold = model.parts.table(model).map { $0.rowCount > 0 } ?? true
        if infoIsDue, isTold, !model.isTyping, !words.isEmpty {
            infoIsDue = false
            if words != info { lines.append(words) }
            info = words
        }
        return lines
    }

    private mutating func sayState(_ model: Model) -> [String] {
        var now: [String] = []
        if model.isReadOnly { now.append("read only: nothing here changes the store") }
        if model.pausedSince != nil { now.append("paused") }
        if TitleView.isArchiveRemoved(model) { now.append("the archive was removed; this is what it was") }
        defer { state = now }
        let ended = state.filter { !now.contains($0) }.map { "no longer: \($0)" }
        return now.filter { !state.contains($0) } + ended
    }

    private mutating func sayNews(_ model: Model) -> [String] {
        var lines: [String] = []
        let wrong = model.parts.problem(model) ?? model.archives.problem
        if wrong != problem { lines.append(wrong ?? "all is read again") }
        problem = wrong
        let mistake = model.screen == .query ? model.query?.problem : nil
        if mistake != self.mistake, let mistake { lines.append(mistake) }
        self.mistake = mistake
        if model.notice?.text != notice?.text, let text = model.notice?.text { lines.append(text) }
        notice = model.notice
        if let work = model.job, model.now.seconds(since: work.since) >= Job.patience {
            let quarter = Int(max(0, min(1, work.share)) * 4)
            if job?.ticket != work.ticket {
                lines.append(work.text)
            } else if let said = job?.quarter, quarter > said, quarter < 4 {
                lines.append("\(work.title): \(quarter * 25)%")
            }
            job = (work.ticket, quarter)
        } else {
            job = nil
        }
        return lines
    }

    private mutating func sayOverlay(_ model: Model) -> [String] {
        let now = SpokenOverlay(model)
        defer { overlay = now }
        guard let now else {
            // What was under it is where one is again.
            if overlay != nil { row = "" }
            return []
        }
        if now.opened != overlay?.opened { return now.heading + (now.choice.isEmpty ? [] : [now.choice]) }
        return now.chosen == overlay?.chosen || now.choice.isEmpty ? [] : [now.choice]
    }

    // MARK: Rows

    private mutating func sayRow(_ model: Model, _ frame: Frame) -> [String] {
        guard !model.isTyping else { return [] }
        let now = Speaker.row(model, frame)
        guard now.identity != row else { return [] }
        row = now.identity
        return now.lines
    }

    /// What is where the cursor is, and what tells it from others: figures that tick aren't said anew.
    private static func row(_ model: Model, _ frame: Frame) -> (identity: String, lines: [String]) {
        let list = model.layout.list
        guard let table = model.parts.table(model), table.rowCount > 0 else {
            if let value = model.value, model.screen == .value, value.mode != .tree || value.load == nil {
                return page(frame, in: list)
            }
            // A graph is no text.
            if model.screen == .monitor { return ("", []) }
            if model.screen == .value {
                let place = model.parts.cursor(model)
                let line = text(frame, in: list.line(place - model.parts.firstRow(model))).first ?? ""
                return ("\(place) \(line)", [line])
            }
            return page(frame, in: list)
        }
        guard let place = table.selectedRow, (0..<table.rowCount).contains(place) else { return ("", []) }
        let row = table.row(place)
        let key = model.parts.key(model)
        let name = row.cells.first { !$0.text.isEmpty }?.text ?? ""
        let identity = "\(key ?? "\(place)") \(name) \(row.isMarked)"
        let words = words(row, table)
        return (
            identity,
            [
                words + (row.isMarked ? ", marked" : "")
                    + "; \(Figures.count(place + 1)) of \(Figures.count(table.rowCount))"
            ]
        )
    }

    /// `oslo, size 21 B, idle 2s`
    private static func words(_ row: Table.Row, _ table: Table) -> String {
        let said = zip(table.columns, row.cells).filter { _, cell in
            !cell.text.isEmpty && cell.text != "-" && cell.gauge == nil && cell.spark == nil
        }
        // The first is what the row is about.
        return said.enumerated().map { place, pair in
            place == 0 || pair.0.title.isEmpty ? pair.1.text : "\(pair.0.title) \(pair.1.text)"
        }.joined(separator: ", ")
    }

    /// All that is in view.
    private static func page(_ frame: Frame, in rect: Rect) -> (identity: String, lines: [String]) {
        let lines = text(frame, in: rect)
        return (lines.joined(separator: "\n"), lines)
    }

    /// The lines of a part of the screen, without those that are empty. What stands apart there is separated by commas.
    private static func text(_ frame: Frame, in rect: Rect) -> [String] {
        let shown = rect.intersection(Rect(frame.size))
        return (shown.row..<shown.row + shown.rows).compactMap { row in
            let line = (shown.column..<shown.endColumn).map { frame[$0, row].text }.joined()
            let parts = line.split(separator: "  ").map(\.trimmed).filter { !$0.isEmpty }
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }
    }

    // MARK: Events

    /// Of many there is one line a second at most, with the last of them.
    private mutating func sayEvents(_ model: Model) -> [String] {
        let all = model.events.numbers
        guard model.screen == .archives || model.screen == .entries, model.archives.showsEvents else {
            return []
        }
        guard let first = nextEvent else {
            nextEvent = all.upperBound
            return []
        }
        let isEarly = eventsSaid.map { model.now.seconds(since: $0) < 1 } ?? false
        guard all.upperBound > first, !isEarly else { return [] }
        (nextEvent, eventsSaid) = (all.upperBound, model.now)
        let last = model.events[all.upperBound - 1]
        // What happened before is no news.
        guard let arrived, last.time >= arrived else { return [] }
        let words = [
            last.kind.label, EventText.key(last, look: model.look), "in", last.archive,
            last.cause.label(of: last.kind).map { "(\($0))" } ?? "",
        ].filter { !$0.isEmpty }.joined(separator: " ")
        let count = all.upperBound - max(first, all.lowerBound)
        return [count == 1 ? words : "\(Figures.count(count)) events, the last: \(words)"]
    }

    // MARK: Typing

    private static func typing(_ model: Model) -> Typing? {
        if let field = model.overlay?.field { return Typing(label: "> ", text: field.text) }
        if model.overlay != nil { return nil }
        if let prompt = model.prompt { return Typing(label: prompt.label, text: prompt.field.text) }
        guard model.isTyping, let query = model.query else { return nil }
        return Typing(label: "query ", text: query.field.text)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
