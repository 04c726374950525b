import StorageEngine
import TerminalKit

package enum Browser {
    /// Seconds between refreshes, unless a setting changes them.
    package static let refreshInterval = 0.2

    package static func start(_ model: inout Model) -> [Effect] {
        guard let store = model.store else { return StoresScreen.load(&model) }
        let effects = ArchivesScreen.loadFigures(&model) + [StoresScreen.remember(store)]
        return effects.map { $0.of(model.workspace, model.store) }
    }

    package static func update(_ model: inout Model, _ message: Message) -> [Effect] {
        var effects: [Effect]
        switch message {
        case .clock(let now):
            advance(&model, to: now)
            effects = []
        case .tick(let now):
            advance(&model, to: now)
            effects = watchUndo(&model) + refresh(&model, isForced: false)
            effects += model.watchKeptStores()
        case .input(let event): effects = input(&model, event)
        case .progress(let ticket, let share):
            model.note(share: share, of: ticket)
            effects = []
        case .answer(let answer):
            effects = model.inWorkspace(answer.workspace ?? model.workspace) { answer.apply(&$0) }
        }
        effects += model.parts.settle(&model, model.layout)
        model.updateFreeze()
        return effects.map { $0.of(model.workspace, model.store) }
    }

    /// Removes notices and highlights that have timed out.
    private static func advance(_ model: inout Model, to now: Timestamp) {
        if now < model.now { setBack(&model, to: now) }
        model.now = now
        if let notice = model.notice, notice.until <= now { model.notice = nil }
        if let flashes = model.entries?.flashes, !flashes.isEmpty {
            model.entries?.flashes = flashes.filter { $0.value.until > now }
        }
    }

    /// After the clock was set back, resets times in the future, so that nothing waits for them.
    private static func setBack(_ model: inout Model, to now: Timestamp) {
        let jump = now.seconds(since: model.now)
        func atLatestNow(_ moment: inout Timestamp?) { moment = moment.map { min($0, now) } }
        if let notice = model.notice { model.notice?.until = notice.until.adding(seconds: jump) }
        if let job = model.job { model.job?.since = min(job.since, now) }
        atLatestNow(&model.touched)
        atLatestNow(&model.heldSince)
        atLatestNow(&model.pausedSince)
        atLatestNow(&model.archives.pendingSince)
        model.pendingConfirmation = nil
        model.stores.loaded = nil
        if var query = model.query {
            atLatestNow(&query.askedAt)
            model.query = query
        }
        if var entries = model.entries {
            entries.notBefore = nil
            entries.flashes = [:]
            atLatestNow(&entries.preview.since)
            atLatestNow(&entries.preview.read)
            atLatestNow(&entries.preview.failed)
            model.entries = entries
        }
    }

    static func refreshUnlessPaused(_ model: inout Model) -> [Effect] {
        model.pausedSince == nil ? refresh(&model, isForced: true) : []
    }

    /// Reads the screen's data again. A forced refresh also unfreezes the order.
    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        let effects = ArchivesScreen.loadFigures(&model, isForced: isForced)
        if case .paused = model.pace, !isForced { return effects }
        return effects + model.parts.refresh(&model, isForced: isForced)
    }
}

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
            // The cursor can move while the filter is open.
            guard let action = model.keyMap.action(for: key, in: model.screen) else { return [] }
            return move(&model, action.id)
        case .tab where prompt.isPath: return completePath(prompt.field.text, model)
        case .tab where prompt.isOfScreen: return model.parts.promptTab(&model, backwards: false)
        case .backTab where prompt.isOfScreen: return model.parts.promptTab(&model, backwards: true)
        // A held Backspace must not close the empty prompt and then several screens.
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
