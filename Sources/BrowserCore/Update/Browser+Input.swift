import TerminalKit

extension Browser {
    static func input(_ model: inout Model, _ event: InputEvent) -> [Effect] {
        switch event {
        case .key(let key): return press(&model, key)
        case .mouse(let mouse): return self.mouse(&model, mouse)
        case .resize(let size):
            model.size = size
            return []
        case .paste(let text):
            if model.prompt != nil {
                model.prompt?.field.insert(text)
                return typed(&model)
            }
            if model.overlay == nil, model.isWritingQuery {
                model.query?.field.insert(text)
                retyped(&model)
                return []
            }
            if case .actions(var list) = model.overlay {
                list.field.insert(text)
                (list.selected, list.first) = (0, 0)
                model.overlay = .actions(list)
            }
            return []
        case .hangUp: return [.quit]
        case .focus, .wake, .resumed: return []
        }
    }

    private static func press(_ model: inout Model, _ key: Key) -> [Effect] {
        if key == .control("c") { return [.quit] }
        if let overlay = model.overlay { return press(&model, key, in: overlay) }
        if model.prompt != nil { return pressInPrompt(&model, key) }
        if key == Key(.escape), let job = model.job, job.isStoppable { return stop(&model, job) }
        if model.isWritingQuery { return pressInQueryLine(&model, key) }
        guard let action = model.keyMap.action(for: key, in: model.screen) else { return [] }
        return perform(&model, action.id)
    }

    /// Stops the work that a person waits for.
    private static func stop(_ model: inout Model, _ job: Job) -> [Effect] {
        model.job = nil
        if model.entries?.ticket == job.ticket {
            // Without a first listing there is nothing to stay with.
            if model.entries?.arrangement == nil { return back(&model) }
            model.entries?.ticket = nil
            // What was asked for isn't what is shown, so it is taken back.
            if let arrangement = model.entries?.arrangement {
                model.entries?.order = arrangement.order
                model.entries?.filter = arrangement.filter
            }
        }
        if model.query?.ticket == job.ticket { model.query?.ticket = nil }
        model.say("Stopped: \(job.title)")
        return [.stop(ticket: job.ticket)]
    }

    /// Does what an action means on the screen.
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        model.notice = nil
        if let column = id.column { return sort(&model, by: column) }
        switch id {
        case .quit: return [.quit]
        case .help, .palette:
            let hint = id == .help ? "type to search the actions" : "an action"
            model.overlay = .actions(
                ActionList(isHelp: id == .help, field: TextField(placeholder: hint)))
            return []
        case .commandLine:
            model.overlay = .message(
                MessageBox(title: "The same on the command line", lines: [CommandLine.words(for: model)]))
            return []
        case .pause:
            model.pausedSince = model.pausedSince == nil ? model.now : nil
            return model.pausedSince == nil ? refresh(&model, isForced: true) : []
        case .refresh:
            if model.pausedSince != nil { model.pausedSince = model.now }
            return refresh(&model, isForced: true)
        case .demo: return [.startDemo]
        case .open: return open(&model)
        case .query: return openQuery(&model)
        case .events: return toggleEvents(&model)
        case .monitor: return openMonitor(&model, .events)
        case .processes: return openMonitor(&model, .processes)
        case .delete:
            planDelete(&model)
            return []
        case .expire:
            askExpiry(&model)
            return []
        case .undo: return askUndo(&model, .latest)
        case .undoList: return askUndo(&model, .list)
        case .back: return back(&model)
        case .clear: return clear(&model)
        case .up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .first, .last:
            return move(&model, id)
        default: break
        }
        switch model.screen {
        case .stores, .archives: return []
        case .entries: return performInEntries(&model, id)
        case .value: return performInValue(&model, id)
        case .query: return performInQuery(&model, id)
        case .messages: return performInMessages(&model, id)
        case .monitor: return performInMonitor(&model, id)
        }
    }

    private static func open(_ model: inout Model) -> [Effect] {
        switch model.screen {
        case .stores:
            guard let store = model.stores.selected else { return [] }
            model.store = store.path
            model.archives = ArchivesState()
            model.events = EventLog()
            model.cost = StoreCost()
            model.screen = .archives
            return refresh(&model, isForced: true)
        case .archives:
            guard let archive = model.archives.summary(model.archives.selected ?? "") else { return [] }
            if archive.kind == .log {
                openLog(&model, archive)
                return []
            }
            model.entries = EntriesState(archive: archive.name)
            model.touched = nil
            model.screen = .entries
            return rearrange(&model, takingListing: true, isForced: true)
        case .entries:
            guard let entries = model.entries, let key = entries.key, let store = model.store else {
                if let problem = model.entries.flatMap({ $0.read.problems[$0.cursor] }) {
                    model.say(problem, role: .error)
                } else if model.entries?.count ?? 0 > 0 {
                    model.say(
                        "The entry is gone; \(keyName(model, .refresh)) lists them anew.")
                }
                return []
            }
            model.value = ValueState(archive: entries.archive, key: key)
            model.screen = .value
            return [.loadValue(.screen, key: key, archive: entries.archive, store: store)]
                + loadBiography(&model)
        case .query: return openResult(&model)
        case .messages: openMessage(&model)
        case .monitor: openEvent(&model)
        case .value: break
        }
        return []
    }

    static func back(_ model: inout Model) -> [Effect] {
        switch model.screen {
        case .stores:
            return []
        case .archives:
            guard !model.startedOnStore else {
                model.say("This is the first screen; \(keyName(model, .quit)) leaves the browser.")
                return []
            }
            model.store = nil
            model.screen = .stores
            model.archives = ArchivesState()
            return refresh(&model, isForced: true)
        case .entries:
            let ticket = model.entries?.ticket
            model.entries = nil
            model.job = nil
            model.screen = .archives
            return ticket.map { [.stop(ticket: $0)] } ?? []
        case .value:
            if model.value?.mode == .tree, foldOrLeave(&model) { return [] }
            return leaveValue(&model)
        case .query: return leaveQuery(&model)
        case .messages: leaveLog(&model)
        case .monitor: leaveMonitor(&model)
        }
        return []
    }

    /// Esc: from the smallest thing that can be left to the largest.
    private static func clear(_ model: inout Model) -> [Effect] {
        if model.screen == .entries, let entries = model.entries {
            if !entries.filter.isEmpty { return filter(&model, "") }
            if !entries.marks.isEmpty {
                model.entries?.marks = Marks()
                return []
            }
        }
        if model.screen == .value {
            if model.value?.search.isEmpty == false {
                model.value?.search = ""
                return []
            }
            return leaveValue(&model)
        }
        if model.screen == .monitor {
            clearMonitor(&model)
            return []
        }
        return back(&model)
    }

    static func keyName(_ model: Model, _ id: ActionID) -> String {
        model.keyMap.action(id)?.keys.first?.description ?? id.rawValue
    }

    // MARK: Moving

    static func move(_ model: inout Model, _ id: ActionID) -> [Effect] {
        let page = max(1, model.layout.page(model.screen))
        switch id {
        case .up: return move(&model, by: -1)
        case .down: return move(&model, by: 1)
        case .pageUp: return move(&model, by: -max(1, page - 1))
        case .pageDown: return move(&model, by: max(1, page - 1))
        case .halfPageUp: return move(&model, by: -max(1, page / 2))
        case .halfPageDown: return move(&model, by: max(1, page / 2))
        case .first: return move(&model, to: 0)
        default: return move(&model, to: .max)
        }
    }

    static func move(_ model: inout Model, by rows: Int) -> [Effect] {
        move(&model, to: max(0, model.cursorRow + rows))
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        switch model.screen {
        case .stores: model.stores.cursor = min(row, max(0, (model.stores.stores?.count ?? 0) - 1))
        case .archives:
            let archives = model.archives.archives
            guard !archives.isEmpty else { return [] }
            model.archives.selected = archives[min(row, archives.count - 1)].name
        case .entries: moveInEntries(&model, to: row)
        case .value:
            let page = model.layout.page(.value)
            let columns = model.size.columns
            model.value?.move(to: row, page: page, columns: columns)
        case .query: moveInQuery(&model, to: row)
        case .messages: moveInMessages(&model, to: row)
        case .monitor: moveInMonitor(&model, to: row)
        }
        return []
    }
}
