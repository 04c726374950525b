import Foundation
import StoreInspection
import TerminalKit

/// One line for new users, until it is hidden permanently.
enum HintLine {
    static let minimumRows = 12

    /// The most important first, but narrow screens drop the last two last.
    private static let hints: [(id: ActionID, words: String)] = [
        (.open, "opens"), (.fold, "unfolds"), (.demo, "starts the demo"), (.filter, "filters"),
        (.query, "queries by value"), (.back, "goes back"), (.help, "lists keys"),
        (.hints, "hides this"),
    ]

    static func draw(_ model: Model, into frame: inout Frame, in rect: Rect) {
        let look = model.look
        frame.fill(rect, style: look[.text])
        // The footer has the keys of dialogs and prompts.
        guard !rect.isEmpty, model.overlay == nil, !Browser.takesText(model) else { return }
        var parts = hints.compactMap { part -> (key: String, words: String)? in
            guard let action = model.keyMap.action(part.id), action.contexts.contains(model.screen),
                model.hasEffect(part.id), let key = action.keys.first
            else { return nil }
            let isUnread = part.id == .fold && model.value?.load == nil
            return (key.description, isUnread ? "reads the value" : part.words)
        }
        func spans() -> [Span] {
            parts.reduce([Span("Hints:", look[.accent])]) {
                $0 + [Span("  "), Span($1.key, look[.key]), Span(" " + $1.words, look[.hint])]
            }
        }
        while !parts.isEmpty, spans().reduce(1, { $0 + TextWidth.width(of: $1.text) }) > rect.columns {
            parts.remove(at: max(0, parts.count - 3))
        }
        frame.write(spans(), at: rect.inset(left: 1).origin, within: rect)
    }
}

extension Browser {
    static func toggleHints(_ model: inout Model) -> [Effect] {
        model.showsHints.toggle()
        let isShown = model.showsHints
        guard let file = model.environment.hintsFile else { return [] }
        let key = keyName(model, .hints)
        return .ask("\(isShown ? "show" : "hide") hints permanently") { (_) throws(SourceError) in
            isShown ? try file.remove() : try file.write(Data("hidden\n".utf8))
        } done: { model, result in
            let isKept = model.take(result, "For this session only: ", role: .warning, seconds: 10) != nil
            if isKept, !isShown { model.say("Hints are hidden. \(key) shows them again.") }
        }
    }
}
