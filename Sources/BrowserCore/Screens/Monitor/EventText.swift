import StorageEngine
import StoreInspection
import TerminalKit

enum EventText {
    static func role(_ kind: EventKind) -> Role {
        switch kind {
        case .record, .append, .restore: .good
        case .update, .promotion, .deadline, .resize: .text
        case .eviction, .expiry: .warning
        case .delete, .rejection: .danger
        }
    }

    static func key(_ event: StoreEvent, look: Look) -> String {
        event.keyCell(ellipsis: look.glyphs.ellipsis)
    }

    /// `recorded 12:01:07 by api (4121)`, `evicted 12:09:30: disk limit`
    static func parts(_ value: ValueState, _ model: Model) -> [String] {
        var parts = value.ownEvents.map { sentence($0, model) }
        if value.missesRecord, let created = value.load?.entry.created {
            parts.insert("recorded \(Figures.time(created)) (event missed)", at: 0)
        } else if parts.isEmpty {
            parts.append("recorded earlier than the event log reaches")
        }
        if value.missesEvents { parts.insert("some events missed", at: 0) }
        return parts
    }

    /// `Replaced 23:38:22 by api (4121); R shows the new value.`
    static func replaced(_ value: ValueState, _ model: Model) -> String {
        let start = value.replacement.map { sentence($0, model) } ?? ""
        let words =
            value.replacement?.kind == .record
            ? "Replaced" + start.dropFirst(EventKind.record.label.count)
            : start.isEmpty ? "Replaced" : start.beginningLarge
        return "\(words); \(Browser.keyName(model, .refresh)) shows the new value."
    }

    private static func sentence(_ event: ArchiveEvent, _ model: Model) -> String {
        var text = "\(event.kind.label) \(Figures.time(event.time))"
        if event.kind == .promotion {
            text = "promoted \(Figures.time(event.time)) to memory"
            if event.pid != 0 { text += " of \(model.processName(event.pid))" }
            return text
        }
        if event.cause != .person, let cause = event.cause.label(of: event.kind) {
            return text + ": \(cause)"
        }
        if event.pid != 0 { return text + " by \(model.processName(event.pid))" }
        return event.cause == .person ? text + " by a user" : text
    }

    /// The replacement and the metadata of an entry, for the end of its history.
    static func details(_ value: ValueState, _ model: Model) -> [String] {
        var lines: [String] = []
        if value.isStale { lines += ["", replaced(value, model)] }
        if let entry = value.load?.entry { lines += [""] + FactLines.lines(entry.facts(now: model.shownNow)) }
        return lines
    }
}
