import TerminalKit

extension Browser {
    static func pressInPrompt(_ model: inout Model, _ key: Key) -> [Effect] {
        guard var prompt = model.prompt else { return [] }
        switch key.code {
        case .enter, .escape:
            model.prompt = nil
            return model.parts.promptEnded(&model, prompt, isKept: key.code == .enter)
        case .up, .down, .pageUp, .pageDown:
            // The rows can be looked through while the filter is open.
            guard let action = model.keyMap.action(for: key, in: model.screen) else { return [] }
            return move(&model, action.id)
        case .backspace where prompt.field.text.isEmpty:
            model.prompt = nil
            return []
        default:
            guard prompt.field.handle(key) else { return [] }
            model.prompt = prompt
            return typed(&model)
        }
    }

    /// The text in the prompt changed.
    static func typed(_ model: inout Model) -> [Effect] {
        model.prompt.map { model.parts.promptChanged(&model, $0.field.text) } ?? []
    }
}
