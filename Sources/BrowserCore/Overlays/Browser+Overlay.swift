import StorageEngine
import TerminalKit

extension Browser {
    static func press(_ model: inout Model, _ key: Key, in overlay: any Overlay) -> [Effect] {
        if overlay.offersUndo, model.keyMap.action(.undo)?.keys.contains(key) == true {
            model.overlay = nil
            return askUndo(&model, choosing: false)
        }
        if isNoAnswer(&model, key, to: overlay) { return [] }
        model.notice = nil
        let asked = question(model)
        let effects = overlay.press(&model, key)
        if model.overlay == nil, model.keyMap.action(.quit)?.keys.contains(key) == true {
            noteDialogEnd(&model)
        }
        if asked != nil, model.overlay == nil, !effects.isEmpty { model.answeredBy = (key, model.now) }
        return effects
    }

    /// Whether a key is refused as an answer. Pasted text may arrive slowly: a character without a function is refused, and
    /// shortly after it only keys that cancel are accepted.
    private static func isNoAnswer(_ model: inout Model, _ key: Key, to overlay: any Overlay) -> Bool {
        guard let known = overlay.knownCharacters else { return false }
        let isKnown =
            switch key.code {
            case .character(let character):
                key.text == nil ? key == .control("f") || key == .control("b") : known.contains(character)
            case .function, .insert, .delete, .backspace: false
            default: true
            }
        if !isKnown {
            model.answerRefusedAt = model.now
            model.say("\(key) is not an answer. Press y or n.", seconds: 3)
            return true
        }
        let leaves = key == Key(.escape) || key == .character("n") || key == .character("q")
        guard model.isAnswerBlocked, !leaves else { return false }
        model.say("\(key) ignored: too soon. Press it again.", seconds: 5)
        return true
    }

    /// The row after a movement key, from 0 to `last`; nil for other keys.
    static func row(after key: Key, _ row: Int, last: Int, page: Int = 1) -> Int? {
        let moved: Int? =
            switch key {
            case Key(.up), .character("k"): row - 1
            case Key(.down), .character("j"): row + 1
            case Key(.pageUp), .control("b"): row - max(1, page)
            case Key(.pageDown), .control("f"): row + max(1, page)
            case Key(.home), .character("g"): 0
            case Key(.end), .character("G"): last
            default: nil
            }
        return moved.map { max(0, min($0, last)) }
    }

    static func reportUnusedKey(_ model: inout Model, _ key: Key) -> [Effect] {
        model.reply("\(key) does nothing here; esc closes.", seconds: 3)
    }
}
