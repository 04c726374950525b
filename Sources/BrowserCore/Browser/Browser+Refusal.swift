import TerminalKit

/// Refuses keys, and text after a refused key, which was typed for another screen and must not start actions.
extension Browser {
    /// Seconds without a key that end a burst of text.
    static let textGap = 0.03

    /// Whether a key starts a destructive action, which is refused within a burst of text.
    static func isRisky(_ model: Model, _ event: InputEvent?) -> Bool {
        action(model, event)?.flags.contains(.destructive) == true
    }

    /// The action of a key; nil while a dialog or text field has the keyboard.
    static func action(_ model: Model, _ event: InputEvent?) -> BrowserAction? {
        guard case .key(let key)? = event, key != .control("c"), model.overlay == nil, model.prompt == nil,
            !model.isTyping
        else { return nil }
        return model.keyMap.action(for: key, in: model.screen)
    }

    static func refuseText(_ model: inout Model, at event: InputEvent?) {
        guard case .key(let key)? = event else { return }
        model.textRefusedAt = model.now
        model.say("\(key) ignored: looks like pasted text. Press it alone.", role: .warning, seconds: 5)
    }

    /// Whether a key belongs to the burst of a refused one. The burst ends at a key that quits, opens a list of keys, or is no
    /// text.
    static func isRefusedText(_ model: inout Model, _ key: Key) -> Bool {
        guard let last = model.textRefusedAt, abs(model.now.seconds(since: last)) < textGap else {
            model.textRefusedAt = nil
            return false
        }
        if key == Key(.escape) {
            (model.textRefusedAt, model.notice) = (nil, nil)
            return true
        }
        let id = model.keyMap.action(for: key, in: model.screen)?.id
        let isText = key.text != nil || [.enter, .tab, .backspace].contains(key.code)
        guard isText, ![.help, .palette, .quit].contains(id) else {
            model.textRefusedAt = nil
            return false
        }
        model.textRefusedAt = model.now
        model.say("Ignored: looks like pasted text.", role: .warning, seconds: 3)
        return true
    }

    /// Notes that a dialog was refused or closed: the next key may be meant for it.
    static func noteDialogEnd(_ model: inout Model) { model.dialogEnd = (model.now, model.now) }

    /// Notes that an action was refused: text for its prompt, or keys for its dialog, may follow.
    static func noteRefusal(of action: BrowserAction, _ model: inout Model) {
        if action.id.leadsToText { model.textRefusedAt = model.now }
        noteDialogEnd(&model)
    }

    /// Refuses a key that would quit if it may be meant for a dialog that was refused or closed shortly before, or is still held
    /// down. Returns whether it was refused.
    static func refusesQuit(_ model: inout Model, _ key: Key) -> Bool {
        guard model.isFirstScreen, key != .control("c"), let (since, last) = model.dialogEnd,
            (0..<Model.repeating).contains(model.now.seconds(since: since))
                || (0..<Model.pauseOfHeldKey).contains(model.now.seconds(since: last))
        else { return false }
        model.dialogEnd?.last = model.now
        model.say("\(key) ignored: no dialog is open. Press it again to quit.", role: .warning, seconds: 3)
        return true
    }

    static func explainUnusedKey(_ model: inout Model, _ key: Key) {
        let help = "\(keyName(model, .help)) lists the keys."
        if model.isReadOnly, let action = ActionTable.keyMap().action(for: key, in: model.screen) {
            noteRefusal(of: action, &model)
            return model.say(readOnly(action, model), seconds: 3)
        }
        let near: [Screen] = (model.entries == nil ? [] : [.entries]) + [.archives, .stores]
        let actions = (near + Screen.allCases).compactMap { model.keyMap.action(for: key, in: $0) }
        guard let action = actions.first else {
            return model.say("\(key) does nothing here. \(help)", seconds: 3)
        }
        noteRefusal(of: action, &model)
        if model.screen == .messages, model.keyMap.action(.delete)?.keys.contains(key) == true {
            let all = keyName(model, .deleteAll)
            return model.say("Can't delete single messages. \(all) deletes all.", seconds: 4)
        }
        if model.screen == .messages, action.id == .undo || action.id == .undoList {
            return model.say(lostMessages, seconds: 4)
        }
        let writing = [ActionID.write, .export]
        let same = writing.contains(action.id) ? writing.compactMap(model.keyMap.action) : [action]
        let screens = Screen.allCases.filter { screen in same.contains { $0.contexts.contains(screen) } }
            .map(\.title).joined(separator: ", ")
        model.say("\(key) (\(action.title)) works only on: \(screens). \(help)", seconds: 3)
    }

    private static func readOnly(_ action: BrowserAction, _ model: Model) -> String {
        let title = action.id.isVerb ? "Can't \(action.title.lowercased())" : action.title
        let reason =
            model.archives.figures?.isOfAnotherUser == true
            ? "the store belongs to another user" : "this browser is read-only"
        return "\(title): \(reason)."
    }
}
