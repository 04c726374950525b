import TerminalKit

extension Browser {
    static func pressInPrompt(_ model: inout Model, _ key: Key) -> [Effect] {
        guard var prompt = model.prompt else { return [] }
        switch key.code {
        case .enter, .escape:
            model.prompt = nil
            return prompt.isOfScreen
                ? model.parts.promptEnded(&model, prompt, isKept: key.code == .enter)
                : ended(&model, prompt, isKept: key.code == .enter)
        case .up where !prompt.isOfScreen: recall(&model, prompt, step: 1)
        case .down where !prompt.isOfScreen: recall(&model, prompt, step: -1)
        case .up, .down, .pageUp, .pageDown:
            // The rows can be looked through while the filter is open.
            guard let action = model.keyMap.action(for: key, in: model.screen) else { return [] }
            return move(&model, action.id)
        case .tab where prompt.isOfScreen: return model.parts.promptTab(&model, backwards: false)
        case .backTab where prompt.isOfScreen: return model.parts.promptTab(&model, backwards: true)
        // Held down to empty it, it would leave the prompt, and then one screen after the other.
        case .backspace where prompt.field.text.isEmpty: return []
        default:
            guard prompt.field.handle(key) else { return [] }
            model.prompt = prompt
            return typed(&model)
        }
        return []
    }

    static func typed(_ model: inout Model) -> [Effect] {
        guard let prompt = model.prompt, prompt.isOfScreen else { return [] }
        return model.parts.promptChanged(&model, prompt.field.text)
    }
}
