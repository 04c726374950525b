import StorageEngine
import StoreInspection
import TerminalKit

/// Describes changes of the screen in lines of text, for screen readers and terminals without cursor control.
package struct AccessibilityOutput: Sendable {
    /// The focused text field: its label, its text, and the text after the cursor.
    package struct Typing: Sendable, Hashable {
        package let label: String
        package let text: String
        package let behind: String

        init(_ label: String, _ field: TextField) {
            (self.label, text) = (label, field.text)
            behind = String(field.text.dropFirst(field.textBeforeCursor.count))
        }
    }

    package private(set) var typing: Typing?
    /// Whether the last output was a dialog. Keys pressed before it don't answer it.
    package private(set) var asks = false
    package private(set) var hasDelayedLine = false

    // The last spoken state.
    private var heading = ""
    private var info = ""
    private var infoIsDue = true
    private var overlay: SpokenOverlay?
    private var notice: Notice?
    private var problem: String?
    private var queryProblem: String?
    private var state: [String] = []
    private var job: (ticket: Int, quarter: Int)?
    var row = ""
    /// When the row was spoken, and the number of rows then.
    var rowSpokenAt: Timestamp?
    var rowCount = 0
    /// The visible lines of a screen without rows.
    var page: [String] = []
    private var order = ""
    private var marked = 0
    /// Whether the marks are of a query's result.
    private var markedOfQuery = false
    private var found = ""
    /// The note on the typed text, and when typing stopped.
    private var note = ""
    private var typed: Timestamp?
    private var asked: Timestamp?
    /// Whether a query ended since the last call. If it has no rows, the query line keeps the focus.
    private(set) var isAnswered = false
    private var nextEvent: Int?
    private var eventsSpokenAt: Timestamp?
    private(set) var arrived: Timestamp?

    package init() {}

    package mutating func reset() { self = AccessibilityOutput() }

    /// Returns the changes since the last call. `frame`: the drawn model. `isAnswer`: a key was pressed since then.
    package mutating func lines(_ model: Model, _ frame: Frame, isAnswer: Bool = true) -> [String] {
        let before = typing
        typing = AccessibilityOutput.typing(model)
        (asks, hasDelayedLine) = (false, false)
        if before != nil, typing == nil { (row, info, infoIsDue) = ("", "", true) }
        var lines = speakScreen(model, frame)
        lines += speakState(model) + speakOverlay(model) + speakMessages(model) + speakNote(model, before)
        if model.overlay == nil { lines += speakList(model) + speakRow(model, frame, isAnswer: isAnswer) }
        lines += speakEvents(model)
        return lines.map(TerminalText.sanitized)
    }

    /// Delays a line until the next call.
    mutating func delayLine() { hasDelayedLine = true }

    // MARK: The screen

    private mutating func speakScreen(_ model: Model, _ frame: Frame) -> [String] {
        var lines: [String] = []
        let path = model.parts.path(model).filter { $0 != model.screenName }
        let place = model.screenName + (path.isEmpty ? "" : ": " + path.joined(separator: " "))
        if place != heading {
            heading = place
            (row, page, order, found, infoIsDue) = ("", [], "", "", true)
            (nextEvent, arrived) = (nil, model.now)
            lines.append("\(place); \(Browser.keyName(model, .help)) lists the keys")
        }
        let isOther = model.query?.askedAt != asked
        asked = model.query?.askedAt
        isAnswered = isOther && asked != nil
        if isOther { infoIsDue = true }
        // The line above the list contains the count of a query.
        let words = AccessibilityOutput.text(frame, in: model.layout.info).joined(separator: "; ")
        let hasRows = model.parts.table(model).map { $0.rowCount > 0 } ?? true
        if infoIsDue, isAnswered || hasRows && !model.isTyping, !words.isEmpty {
            infoIsDue = false
            if words != info { lines.append(words) }
            info = words
        }
        return lines
    }

    private mutating func speakState(_ model: Model) -> [String] {
        let states = [
            (model.isReadOnly, "read-only", ""),
            (model.pausedSince != nil, "paused", "no longer paused"),
            (
                TitleView.isArchiveRemoved(model), "archive removed, showing its last state",
                "archive exists again"
            ),
        ]
        let now = states.filter(\.0).map(\.1)
        defer { state = now }
        let ended = states.filter { state.contains($0.1) && !$0.0 }.map(\.2)
        return now.filter { !state.contains($0) } + ended
    }

    private mutating func speakMessages(_ model: Model) -> [String] {
        var lines: [String] = []
        let wrong = model.parts.problem(model) ?? model.archives.problem
        if wrong != problem { lines.append(wrong ?? "store readable again") }
        problem = wrong
        let queryProblem = model.screen == .query ? model.query?.problem : nil
        if queryProblem != self.queryProblem, let queryProblem { lines.append(queryProblem) }
        self.queryProblem = queryProblem
        if model.notice?.text != notice?.text, let text = model.notice?.text { lines.append(text) }
        notice = model.notice
        if let work = model.job, model.now.seconds(since: work.since) >= Job.delay {
            let quarter = Int(max(0, min(1, work.share)) * 4)
            if job?.ticket != work.ticket {
                lines.append(model.words(of: work))
            } else if let said = job?.quarter, quarter > said, quarter < 4 {
                lines.append("\(work.title): \(quarter * 25)%")
            }
            job = (work.ticket, quarter)
        } else {
            job = nil
        }
        return lines
    }

    private mutating func speakOverlay(_ model: Model) -> [String] {
        let now = model.overlay?.spoken(model)
        defer { overlay = now }
        guard let now else {
            // The row below a closed overlay is spoken again.
            if overlay != nil { row = "" }
            return []
        }
        if now.opened != overlay?.opened {
            asks = model.overlay.map { $0.question != nil && !$0.isList } ?? false
            return now.heading + (now.choice.isEmpty ? [] : [now.choice])
        }
        return now.chosen == overlay?.chosen || now.choice.isEmpty ? [] : [now.choice]
    }

    // MARK: Events

    /// At most one line a second, with the last event.
    private mutating func speakEvents(_ model: Model) -> [String] {
        let log = model.shownEvents
        let entries = model.screen == .entries ? model.entries : nil
        guard entries?.showsEvents ?? (model.screen == .archives && model.archives.showsEvents) else {
            return []
        }
        guard let first = nextEvent else {
            nextEvent = log.end
            return []
        }
        let isEarly = eventsSpokenAt.map { model.now.seconds(since: $0) < 1 } ?? false
        guard log.end > first, !isEarly else { return [] }
        let numbers = log.numbers(from: first, matching: EventFilter(archive: entries?.archive.name))
        nextEvent = log.end
        guard let number = numbers.last else { return [] }
        eventsSpokenAt = model.now
        let last = log[number]
        // Events before the screen was opened aren't spoken.
        guard let arrived, last.time >= arrived else { return [] }
        let words = [
            last.label, last.keyCell(ellipsis: model.look.glyphs.ellipsis), "in", last.archive,
            last.cause.label(of: last.kind).map { "(\($0))" } ?? "",
        ].filter { !$0.isEmpty }.joined(separator: " ")
        let count = numbers.count
        return [count == 1 ? words : "\(Figures.count(count)) events, the last: \(words)"]
    }

    // MARK: Typing

    private static func typing(_ model: Model) -> Typing? {
        if let field = model.overlay?.typing { return Typing("> ", field) }
        if model.overlay != nil { return nil }
        if let prompt = model.prompt { return Typing(prompt.label, prompt.field) }
        guard model.isTyping, let query = model.query else { return nil }
        return Typing("query ", query.field)
    }

    /// The note after the field: an error or the number of matches. Spoken when the cursor moved to the error, and after a second
    /// without typing.
    private mutating func speakNote(_ model: Model, _ before: Typing?) -> [String] {
        guard let prompt = model.prompt, let typing else {
            (note, typed) = ("", nil)
            return []
        }
        let now = String((prompt.said ?? prompt.remark(model)).trimmingSpaces())
        let isRefused = prompt.said != nil && before?.text == typing.text && before?.behind != typing.behind
        if before?.text != typing.text || typed == nil { typed = model.now }
        guard !now.isEmpty, isRefused || now != note else { return [] }
        guard isRefused || typed.map({ model.now.seconds(since: $0) >= 1 }) ?? true else {
            delayLine()
            return []
        }
        note = now
        return [now]
    }

    private static func match(_ value: ValueState, _ model: Model) -> String? {
        guard value.mode == .text, let places = value.find.found?.places, let current = value.find.current,
            places.indices.contains(current)
        else { return nil }
        let rows = value.textRows(model.layout.list.rows)
        return rows.first { $0.range.contains(places[current].lowerBound) }?.text
    }

    // MARK: Marks and matches

    private mutating func speakList(_ model: Model) -> [String] {
        var lines: [String] = []
        let sorted = model.parts.table(model)?.columns.first { $0.order != nil }
        let now = sorted.map { "\($0.title), \($0.order == .ascending ? "ascending" : "descending")" } ?? ""
        if now != order, !now.isEmpty, !order.isEmpty { lines.append("sorted by \(now)") }
        if !now.isEmpty { order = now }
        let isOfQuery = model.screen == .query
        let marks = (isOfQuery ? model.query?.marks.count : model.entries?.marks.count) ?? 0
        if marks != marked, isOfQuery == markedOfQuery {
            lines.append(marks == 0 ? "none marked" : "\(Figures.count(marks)) marked")
        }
        (marked, markedOfQuery) = (marks, isOfQuery)
        if model.prompt == nil, model.screen == .value, let value = model.value, value.find.ticket == nil {
            let note = value.find.note
            if note != found, !note.isEmpty {
                lines.append(note + (AccessibilityOutput.match(value, model).map { ": \($0)" } ?? ""))
            }
            found = note
        }
        return lines
    }
}
