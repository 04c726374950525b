import TerminalKit

extension Browser {
    static func pressInPrompt(_ model: inout Model, _ key: Key) -> [Effect] {
        guard var prompt = model.prompt else { return [] }
        switch key.code {
        case .enter:
            model.prompt = nil
            if prompt.purpose == .export { return QueryScreen.export(&model, to: prompt.field.text) }
            // What was typed last may still be under way; the rows come when it is done.
            return []
        case .escape:
            model.prompt = nil
            switch prompt.purpose {
            case .filter: return EntriesScreen.filter(&model, "")
            case .eventFilter:
                MonitorScreen.setFilter(&model) { $0.text = "" }
                return []
            case .find:
                model.value?.search = prompt.before
                return []
            case .export: return []
            }
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
        guard let prompt = model.prompt else { return [] }
        switch prompt.purpose {
        case .filter: return EntriesScreen.filter(&model, prompt.field.text)
        case .eventFilter:
            MonitorScreen.setFilter(&model) { $0.text = prompt.field.text }
            return []
        case .export: return []
        case .find:
            model.value?.search = prompt.field.text
            ValueScreen.find(&model, forward: true, includingCurrent: true)
            return []
        }
    }
}
