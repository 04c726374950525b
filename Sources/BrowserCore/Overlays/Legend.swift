import TerminalKit

/// What the signs beside rows and the counters in the top bar mean; the help ends with it. Stateless; safe to call from any thread.
enum Legend {
    struct Line: Sendable, Hashable {
        /// As it stands on the screen.
        let sign: String
        let words: String
    }

    /// Those of a screen that hold a text.
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
                Line(sign: String(glyphs.marked), words: "Marked: the next delete or expiry is about it."),
                Line(sign: String(glyphs.descending), words: "Among the next that the cache evicts."),
                Line(sign: "x", words: "Gone since the list was made."),
            ]
        case .monitor:
            return [
                Line(
                    sign: "lost",
                    words: "Events that were overwritten before they were read, though they were watched."),
                Line(
                    sign: "not watched",
                    words: "Events that were overwritten during a pause, or while no screen showed them."),
            ]
        case .stores:
            return [
                Line(sign: String(glyphs.favourite), words: "A favourite: it stands first."),
                Line(sign: "1", words: "The key that shows it: it is open, and stays as you left it."),
            ]
        default: return []
        }
    }

    private static func bar(_ model: Model) -> [Line] {
        guard model.store != nil else { return [] }
        return [
            Line(
                sign: "touches", words: "Accesses that the store booked to this browser; looking makes none."),
            Line(sign: "writes", words: "Entries and messages that you changed or deleted here."),
            Line(sign: "lock", words: "The longest that a change of yours took: no lock was held longer."),
            Line(
                sign: "live",
                words: "The screen follows the store; following: the cursor stays at the newest row."),
            Line(
                sign: "frozen",
                words: "Rows keep their order while you move or type, for so many seconds by now."),
            Line(
                sign: "UNREACHABLE",
                words: "The store can't be read now; what was read before is still shown."),
            Line(sign: "REMOVED", words: "The archive is gone; what was in it is still shown."),
            Line(sign: "ALARM", words: "A figure is beyond a bound that you set, in this store or another."),
            Line(
                sign: "PAUSED",
                words: "The screen stands still until you go on; graphs and alarms miss nothing."),
        ] + age(model)
    }

    /// Where a screen isn't kept up to date.
    private static func age(_ model: Model) -> [Line] {
        switch model.screen {
        case .entries:
            [Line(sign: "listed", words: "So long ago: so many entries are listed less often.")]
        case .query, .groups:
            [Line(sign: "asked", words: "So long ago: the rows stay as they are until you ask again.")]
        case .value:
            [
                Line(
                    sign: "read",
                    words: "So long ago the store held this; it holds another value by now, or none.")
            ]
        default: []
        }
    }
}
