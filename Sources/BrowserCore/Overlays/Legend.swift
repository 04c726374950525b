import TerminalKit

/// What the signs beside rows and the counters in the top bar mean; the help ends with it. Stateless; safe to call from any thread.
enum Legend {
    struct Line: Sendable {
        let sign: String
        let words: String

        init(_ sign: String, _ words: String) {
            self.sign = sign
            self.words = words
        }
    }

    static func lines(_ model: Model, matching text: String) -> [Line] {
        (rows(model) + bar(model)).filter { line in
            text.isEmpty || line.words.lowercased().contains(text.lowercased()) || line.sign == text
        }
    }

    /// What a sign beside a row means, as part of a sentence.
    static func words(of sign: String, _ model: Model) -> String? {
        guard let words = rows(model).first(where: { $0.sign == sign })?.words else { return nil }
        return words.prefix(1).lowercased() + words.dropFirst().dropLast()
    }

    private static func rows(_ model: Model) -> [Line] {
        let glyphs = model.look.glyphs
        switch model.screen {
        case .entries:
            return [
                Line(String(glyphs.marked), "Marked: the next delete or expiry is about it."),
                Line(String(glyphs.descending), "Among the next that the cache evicts."),
                Line("x", "Gone since the list was made."),
                Line("green, bold", "A row that is new, or was stored again a moment ago."),
                Line("yellow", "A row whose hits or other facts changed a moment ago."),
                Line("red, struck", "A row that the cache evicts next, if nothing uses it."),
                Line("3 of 200", "Rows that the filter leaves, of all; below the list: the cursor's row."),
                Line("tier", "Where the value is: on disk, in the memory of a process, or both."),
            ] + events
        case .archives:
            return [
                Line("hit 1m", "Share of hits in the accesses of the last minute; -: no access."),
                Line("hit <1m", "The same since the browser opened the store, not yet a minute."),
                Line("each second", "That share for each second, from 0 to 100%, the latest at the right."),
                Line("lifetime", "Since the archive was created, or the process attached."),
                Line(
                    "disk, memory", "Bytes of the values on disk, and of objects in the memory of processes."),
                Line("footprint", "Bytes of the archive's files; x1.2: that many times their bound."),
                Line(
                    "too small",
                    "Behind the kind: a tenth of the recorded keys were evicted within ten minutes before."),
                Line("damaged", "Behind the kind: parts of the log can't be read; vellum check names them."),
            ] + events
        case .monitor:
            return events + [
                Line("1s mean", "A column of the graph is the mean of that time; of bytes the maximum.")
            ]
        case .stores:
            return [
                Line(String(glyphs.favourite), "A favourite: it stands first."),
                Line("1", "The key that shows it: it is open, and stays as you left it."),
            ]
        default: return []
        }
    }

    private static let events = [
        Line("missed", "Events that were overwritten before the browser read them, as in a pause."),
        Line("promoted", "A process took the value into its memory."),
    ]

    private static func bar(_ model: Model) -> [Line] {
        guard model.store != nil else { return [] }
        return [
            model.isOfServer
                ? Line(
                    "lookups",
                    "Hits and misses that the server counted for this browser; the figures leave them out.")
                : Line("touches", "Accesses that the store booked to this browser; looking makes none."),
            Line("writes", "Entries and messages that you changed or deleted here."),
            Line("lock", "The longest that a change of yours took: no lock was held longer."),
            Line("live", "The screen follows the store; following: the cursor stays at the newest row."),
            Line("frozen", "Rows keep their order while you move or type, for so many seconds by now."),
            Line("UNREACHABLE", "The store can't be read now; what was read before is still shown."),
            Line("REMOVED", "The archive is gone; what was in it is still shown."),
            Line("ALARM", "A figure is beyond a bound that you set, in this store or another."),
            Line("PAUSED", "The screen stands still until you go on; graphs and alarms miss nothing."),
        ] + age(model)
    }

    /// Where a screen isn't kept up to date.
    private static func age(_ model: Model) -> [Line] {
        switch model.screen {
        case .entries:
            [Line("listed", "So long ago: so many entries are listed less often.")]
        case .query, .groups:
            [Line("asked", "So long ago: the rows stay as they are until you ask again.")]
        case .value:
            [
                Line("read", "So long ago the store held this; it holds another value by now, or none.")
            ]
        default: []
        }
    }
}
