import TerminalKit

/// The bottom row: keys and what they do here, from the table of actions.
enum FooterView {
    static func hints(_ model: Model) -> [KeyHint<ActionID>] {
        let hints = model.keyMap.hints(in: model.screen).filter { isOfUse($0.id, model) }.map { hint in
            // What a key does next is said rather than what it is called.
            let title = hint.id == .pause && model.pausedSince != nil ? "Resume" : hint.title
            return KeyHint(id: hint.id, key: hint.key, title: title)
        }
        // Help comes early, so that a narrow footer shows it: it leads to all the rest.
        guard model.size.columns < 60, let help = hints.first(where: { $0.id == .help }) else { return hints }
        return [help] + hints.filter { $0.id != .help }
    }

    /// Whether an action does anything now: bytes have neither parts to fold nor text to find.
    private static func isOfUse(_ id: ActionID, _ model: Model) -> Bool {
        guard model.screen == .value, let value = model.value else { return true }
        switch id {
        case .fold: return value.mode == .tree
        case .find: return value.mode != .hex
        case .mode: return value.modes.count > 1
        default: return true
        }
    }

    static func draw(_ model: Model, into frame: inout Frame, in rect: Rect) {
        Footer(hints(model)).draw(into: &frame, in: rect, look: model.look)
    }
}
