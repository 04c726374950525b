import Foundation
import StoreInspection
import TerminalKit

/// One line for new users, until it is hidden permanently.
enum HintLine {
    static let leastRows = 12

    /// In order of importance; the last two are always shown.
    private static let told: [(id: ActionID, words: String)] = [
        (.open, "opens"), (.fold, "unfolds"), (.demo, "starts the demo"), (.filter, "filters"),
        (.query, "queries by value"), (.back, "goes back"), (.help, "lists all keys"),
        (.hints, "hides this line"),
    ]

    private static let beginning = "New here?"

    static func draw(_ model: Model, into frame: inout Frame, in rect: Rect) {
        guard !rect.isEmpty else { return }
        let look = model.look
        frame.fill(rect, style: look[.text])
        let takesText = Browser.takesText(model)
        guard model.overlay == nil, !takesText else {
            let spans = [
                Span(beginning, look[.accent]),
                Span(takesText ? "  You are typing; " : "  The last row shows the keys; "),
                Span("esc", look[.key]), Span(" cancels", look[.hint]),
            ]
            frame.write(spans, at: rect.inset(left: 1).origin, within: rect)
            return
        }
        var parts = told.compactMap { part -> (key: String, words: String)? in
            guard let action = model.keyMap.action(part.id), action.contexts.contains(model.screen),
                model.isOfUse(part.id), let key = action.keys.first
            else { return nil }
            return (key.description, part.words)
        }
        func width() -> Int {
            parts.reduce(TextWidth.width(of: beginning)) {
                $0 + 3 + TextWidth.width(of: $1.key) + TextWidth.width(of: $1.words)
            }
        }
        while parts.count > 2, width() > rect.columns - 1 { parts.remove(at: parts.count - 3) }
        var spans = [Span(beginning, look[.accent])]
        for part in parts {
            spans += [Span("  "), Span(part.key, look[.key]), Span(" " + part.words, look[.hint])]
        }
        frame.write(spans, at: rect.inset(left: 1).origin, within: rect)
    }
}

extension Browser {
    static func toggleHints(_ model: inout Model) -> [Effect] {
        model.showsHints.toggle()
        let isShown = model.showsHints
        guard let file = model.surroundings.hintsFile else { return [] }
        let key = keyName(model, .hints)
        return .ask(isShown ? "show hints from now on" : "hide hints for good") { (_) throws(SourceError) in
            isShown ? try file.remove() : try file.write(Data("hidden\n".utf8))
        } then: { model, result in
            switch result {
            case .success:
                if !isShown { model.say("Hints are hidden. \(key) shows them again.") }
            case .failure(let error):
                model.say("For this session only: \(error.description)", role: .warning, seconds: 10)
            }
            return []
        }
    }
}
