import StoreInspection
import TerminalKit

extension Browser {
    static func input(_ model: inout Model, _ event: InputEvent) -> [Effect] {
        switch event {
        case .key(let key): return press(&model, key)
        case .mouse(let mouse): return self.mouse(&model, mouse)
        case .resize(let size): model.size = size
        case .paste(let text):
            model.withdrawNotice(InputEvent.pasteUnfinished.words)
            // Text copied from a terminal ends with a line end.
            let text = text.lastIndex { !$0.isNewline }.map { String(text[...$0]) } ?? ""
            if model.prompt != nil {
                model.prompt?.said = nil
                model.prompt?.field.insert(text)
                return typed(&model)
            }
            guard let overlay = model.overlay else {
                if model.isTyping, !isAsking(model) { return model.parts.paste(&model, text) }
                refusePaste(&model)
                return []
            }
            overlay.paste(&model, text)
        case .pasteUnfinished:
            // Stays until the paste ends.
            showInputNotice(&model, event.words, seconds: 1e9)
        case .pasteDropped:
            model.withdrawNotice(InputEvent.pasteUnfinished.words)
            showInputNotice(&model, event.words, seconds: 5)
        case .hangUp: return [.end(.quit)]
        case .focus, .wake, .resumed: return []
        }
        return []
    }

    /// Whether a text field receives typed and pasted characters.
    static func takesText(_ model: Model) -> Bool {
        model.overlay.map { $0.typing != nil } ?? (model.prompt != nil || model.isTyping)
    }

    /// A dialog or prompt whose answer changes or runs something. It must be on screen before a key can answer it.
    enum Question: Hashable {
        case plan, name, edit, expire, undoList, choice, pipe, write, archive
    }

    static func question(_ model: Model) -> Question? {
        if let overlay = model.overlay { return overlay.question }
        return switch model.prompt?.purpose {
        case .pipe: .pipe
        case .write, .export: .write
        case .archive: .archive
        default: nil
        }
    }

    /// Maximum seconds that a key waits for requested rows.
    private static let delay = 0.25
    /// The same for keys that move the cursor.
    private static let moveDelay = 0.05

    /// Whether requested rows, marks or a dialog are still loading, so that the next key must wait for them.
    static func awaitsRows(_ model: Model, before event: InputEvent?) -> Bool {
        guard let event, model.overlay == nil, model.prompt == nil else { return false }
        var isMove = false
        switch event {
        case .key(let key):
            isMove = !model.isTyping && model.keyMap.action(for: key, in: model.screen)?.id.isMove == true
        case .mouse, .paste: break
        default: return false
        }
        let delay = isMove ? moveDelay : delay
        if let job = model.job, !job.isChange, (0..<delay).contains(model.now.seconds(since: job.since)) {
            let (entries, query) = (model.entries, model.query)
            if isAsking(model) || !model.isTyping && (job.ticket == query?.ticket || job.aim == .dialog) {
                return true
            }
            if !model.isTyping, [entries?.ticket, entries?.marking, query?.marking].contains(job.ticket) {
                return true
            }
        }
        // Cursor keys need no row data.
        guard case .key = event, !isMove, !model.isTyping, model.entries?.isCursorUnread == true,
            let touched = model.touched
        else { return false }
        return (0..<delay).contains(model.now.seconds(since: touched))
    }

    /// Whether a query's first rows are loading and its text is unchanged.
    static func isAsking(_ model: Model) -> Bool {
        guard model.screen == .query, let job = model.job, let query = model.query else { return false }
        return query.isTyping && job.ticket == query.ticket && query.field.text == query.asked
    }

    static func reportTypedAhead(_ model: inout Model) {
        model.answerRefusedAt = model.now
        showInputNotice(&model, "Ignored: typed too early.")
    }

    static func refuseAnswer(_ model: inout Model) {
        model.answerRefusedAt = model.now
        showInputNotice(&model, "Ignored: looks like pasted text.", seconds: 5)
    }

    static func refusePaste(_ model: inout Model) {
        showInputNotice(&model, "Ignored: pasted text runs no keys.")
    }

    /// Shows a notice of at most 40 columns, in the prompt if one is open.
    static func showInputNotice(_ model: inout Model, _ text: String, seconds: Double = 4) {
        if model.prompt == nil {
            model.say(text, seconds: seconds)
        } else {
            model.prompt?.said = text
        }
    }

    private static func press(_ model: inout Model, _ key: Key) -> [Effect] {
        // Another key cancels an action that must be repeated to confirm it.
        model.pendingConfirmation?.isNew = false
        defer { if model.pendingConfirmation?.isNew == false { model.pendingConfirmation = nil } }
        if key == .control("c") { return quit(&model, key) }
        if model.isStillHeld(key) {
            if model.notice == nil {
                model.say("\(key) is held down: repetitions are ignored.", seconds: 3)
            }
            return []
        }
        if let overlay = model.overlay { return press(&model, key, in: overlay) }
        if model.prompt != nil {
            model.prompt?.said = nil
            return pressInPrompt(&model, key)
        }
        if key == Key(.escape), let job = model.job, job.isChange || job.isStoppable && model.shows(job) {
            return stop(&model, job)
        }
        if isAsking(model) { return model.reply("\(key)\(Model.awaited)", seconds: 3) }
        if model.isTyping { return model.parts.press(&model, key) }
        if isRefusedText(&model, key) { return [] }
        guard let assigned = model.keyMap.action(for: key, in: model.screen) else {
            explainUnusedKey(&model, key)
            return []
        }
        if assigned.id.isAboutRows, model.isLoadingRows || model.job?.aim == .dialog {
            return model.reply("\(key)\(Model.awaited)", seconds: 3)
        }
        let id = model.parts.action(for: key, assigned.id, model)
        let action = model.keyMap.action(id) ?? assigned
        if id == .quit {
            // The key may be meant for the dialog that is about to open.
            if let job = model.job, job.aim != .rows { return stop(&model, job) }
            if refusesQuit(&model, key) { return [] }
        }
        if id.isAboutRows { model.entries?.follows = false }
        if id.column != nil || id == .sortByProperty, model.isOfServer,
            let digit = key.text?.wholeNumberValue
        {
            return EntriesScreen.sort(&model, byColumn: digit - 1)
        }
        let hasEffect = model.hasEffect(id)
        let screen = model.screen
        let effects = perform(&model, id)
        if !hasEffect, effects.isEmpty, model.notice == nil, model.overlay == nil, model.prompt == nil {
            let verb = action.title.prefix { $0 != " " }.lowercased()
            model.say(
                id.isVerb ? "Nothing to \(verb) here." : "\(action.title) is not available here.", seconds: 3)
        }
        // Text for the refused prompt or keys for the refused dialog may follow.
        if effects.isEmpty, !takesText(model), model.overlay == nil, model.screen == screen,
            action.id.leadsToText || action.flags.contains(.destructive)
        {
            noteRefusal(of: action, &model)
        }
        return effects
    }

    private static func stop(_ model: inout Model, _ job: Job) -> [Effect] {
        if job.isChange {
            guard job.isStoppable else {
                if job.title != Job.stopping {
                    model.say("This step can't be stopped.", seconds: 3)
                }
                return []
            }
            model.job?.title = Job.stopping
            model.job?.isStoppable = false
            return [.stop(ticket: job.ticket)]
        }
        model.job = nil
        if model.entries?.ticket == job.ticket {
            if model.entries?.arrangement == nil { return model.parts.back(&model) }
            model.entries?.ticket = nil
            // The rows on screen belong to the previous request.
            if let arrangement = model.entries?.arrangement {
                model.entries?.order = arrangement.order
                model.entries?.filter = arrangement.filter
                model.entries?.condition = arrangement.condition
            }
            if model.isOfServer {
                model.entries?.notBefore = model.now.adding(seconds: EntriesScreen.longestWait)
            }
        }
        if model.query?.ticket == job.ticket { model.query?.ticket = nil }
        if model.value?.find.ticket == job.ticket { model.value?.find.ticket = nil }
        for purpose in LogState.Purpose.allCases where model.log?[purpose].ticket == job.ticket {
            model.log?[purpose].restart()
            model.log?[purpose].isStopped = true
        }
        if model.entries?.marking == job.ticket { model.entries?.marking = nil }
        if model.query?.marking == job.ticket { model.query?.marking = nil }
        if model.groups?.ticket == job.ticket {
            model.groups?.ticket = nil
            if model.groups?.level.groups == nil {
                return [.stop(ticket: job.ticket)] + model.parts.back(&model)
            }
        }
        model.say("Stopped: \(job.title)")
        return [.stop(ticket: job.ticket)]
    }

    /// Ends the browser to start the demo; the key must be repeated while stores are open.
    private static func startDemo(_ model: inout Model) -> [Effect] {
        if let problem = model.environment.demoProblem {
            return model.reply("The demo is not available: \(problem)", role: .error)
        }
        let open = model.openStores.count
        if open == 0 || model.isConfirmed(.demo) { return [.end(.startDemo)] }
        let stores = Figures.count(open, "open store", "open stores")
        return model.reply(
            "This closes \(stores); press \(keyName(model, .demo)) again to start the demo.", role: .warning,
            seconds: 5)
    }

    /// Ends the browser; the key must be repeated while a change is running.
    private static func quit(_ model: inout Model, _ key: Key) -> [Effect] {
        guard let job = model.job, job.isChange, !model.isConfirmed(.quit) else { return [.end(.quit)] }
        return model.reply(
            job.isStoppable
                ? "A change is running; press \(key) again to stop it and quit."
                : "A change is running; press \(key) again to quit when it ends.", role: .warning, seconds: 5)
    }

    private static func close(_ model: inout Model) -> [Effect] {
        if model.screen == .value { return ValueScreen.leave(&model) }
        guard model.screen == .groups else { return model.parts.back(&model) }
        var effects: [Effect] = []
        while model.screen == .groups, model.groups != nil { effects += model.parts.back(&model) }
        return effects
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        model.notice = nil
        if let reason = model.disabledReason(of: id) { return model.reply(reason, role: .warning) }
        if let column = id.column { return EntriesScreen.sort(&model, by: .column(column)) }
        if let place = ActionID.stores.firstIndex(of: id) { return showStore(&model, number: place + 1) }
        switch id {
        case .quit where !model.isFirstScreen: return close(&model)
        case .quit: return quit(&model, model.keyMap.action(.quit)?.keys.first ?? .character("q"))
        case .nextStore: return showStore(&model, after: 1)
        case .previousStore: return showStore(&model, after: -1)
        case .help, .palette:
            model.overlay = ActionList(isHelp: id == .help, field: TextField(placeholder: "type to search"))
        case .commandLine:
            model.overlay = MessageBox("Shell command", CommandLine.lines(for: model))
        case .pause:
            model.pausedSince = model.pausedSince == nil ? model.now : nil
            model.copyForPause()
            return refreshUnlessPaused(&model)
        case .refresh:
            if model.pausedSince != nil { model.pausedSince = model.now }
            model.say("Refreshing.", seconds: 2)
            model.readValueAgain()
            return refresh(&model, isForced: true)
        case .hints: return toggleHints(&model)
        case .mouse:
            model.capturesMouse.toggle()
            model.say(
                model.capturesMouse
                    ? "Mouse captured: clicks move the cursor." : "Mouse released: the terminal selects text."
            )
            return [.captureMouse(model.capturesMouse)]
        case .demo: return startDemo(&model)
        case .openStore: StoresScreen.askOther(&model)
        case .open: return model.parts.open(&model)
        case .query: return QueryScreen.show(&model)
        case .groups: return GroupsScreen.show(&model)
        case .advise: return AdviseScreen.show(&model)
        case .monitor: return showMonitor(&model, .events)
        case .graphs: return showMonitor(&model, .graphs)
        case .processes: return showMonitor(&model, .processes)
        case .alarm:
            if model.screen == .monitor, model.monitor?.part == .graphs {
                askAlarm(&model)
                return []
            }
            let effects = showMonitor(&model, .graphs)
            model.say("Select a graph, then press \(keyName(model, .alarm)).")
            return effects
        case .delete: return planRemoval(&model) ?? planDelete(&model)
        case .expire: return askExpiry(&model)
        case .copy: return model.parts.showCopyMenu(&model)
        case .pager: return open(&model)
        case .pipe: askPipe(&model)
        case .write: askFile(&model)
        case .export: askExport(&model)
        case .editValue: return edit(&model)
        case .newEntry: askNewKey(&model)
        case .addElement: return askNewPart(&model)
        case .undo: return askUndo(&model, choosing: false)
        case .undoList: return askUndo(&model, choosing: true)
        case .columns: return chooseColumns(&model)
        case .columnsLeft, .columnsRight: scroll(&model, columns: id == .columnsRight ? 1 : -1)
        case .back: return model.parts.back(&model)
        case .clear: return model.parts.clear(&model)
        case _ where id.isMove: return move(&model, id)
        default: return model.parts.perform(&model, id)
        }
        return []
    }

    /// Shows a part of the current store's monitor; from the list of stores, the selected store's.
    private static func showMonitor(_ model: inout Model, _ part: MonitorState.Part) -> [Effect] {
        if model.screen == .monitor { return MonitorScreen.showPart(part, &model) }
        let effects = model.screen == .stores ? StoresScreen.open(&model) : []
        return model.screen == .stores ? effects : effects + MonitorScreen.show(part, &model)
    }

    static func keyName(_ model: Model, _ id: ActionID) -> String {
        model.keyMap.action(id)?.keys.first?.description ?? id.rawValue
    }

    // MARK: Moving

    static func move(_ model: inout Model, _ id: ActionID) -> [Effect] {
        let page = max(1, model.layout.page)
        switch id {
        case .up: return move(&model, by: -1)
        case .down: return move(&model, by: 1)
        case .pageUp: return move(&model, by: -max(1, page - 1))
        case .pageDown: return move(&model, by: max(1, page - 1))
        case .halfPageUp: return move(&model, by: -max(1, page / 2))
        case .halfPageDown: return move(&model, by: max(1, page / 2))
        case .first: return model.parts.move(&model, to: 0)
        default: return model.parts.move(&model, to: .max)
        }
    }

    static func move(_ model: inout Model, by rows: Int) -> [Effect] {
        model.parts.move(&model, by: rows)
    }
}
