import StorageEngine
import StoreInspection
import TerminalKit

extension Browser {
    static func edit(_ model: inout Model) -> [Effect] {
        guard let entry = chosenEntry(model) else { return model.reply("No value to edit here.") }
        let element = model.screen == .value ? model.value?.element : nil
        return begin(&model, entry, "Can't edit") { (folder, source) throws(SourceError) in
            try Draft(editing: entry, element, in: folder, from: source)
        }
    }

    static func askNewKey(_ model: inout Model) {
        guard let archive = model.archiveInView else { return }
        model.prompt = Prompt(
            label: "key of the new entry: ", field: TextField(),
            keys: [("enter", "Edit its value"), ("esc", "Cancel")], purpose: .newEntry(archive))
    }

    static func begin(_ model: inout Model, new key: String, in archive: ArchiveAddress) -> [Effect] {
        guard !key.isEmpty else { return [] }
        let entry = EntryAddress(key, in: archive)
        return begin(&model, entry, "Can't add the entry") { (folder, source) throws(SourceError) in
            try Draft(new: entry, in: folder, from: source)
        }
    }

    private static func begin(
        _ model: inout Model, _ entry: EntryAddress, _ refusal: String,
        _ draft: @escaping @Sendable (String, any StoreSource) throws(SourceError) -> Draft
    ) -> [Effect] {
        let folder = model.environment.temporaryFolder
        return .ask("read \(entry) to edit it") { (context) throws(SourceError) in
            try draft(folder, context.source)
        } then: { model, result in
            switch result {
            case .success(let draft): return [editor(model, draft)]
            case .failure(let error):
                model.overlay = MessageBox(refusal, [error.description])
                return []
            }
        }
    }

    static func editor(_ model: Model, _ draft: Draft) -> Effect {
        let editor = model.environment.editor
        let script = editor + " \"$@\""
        return .program(
            TerminalProgram("editor \(editor)", script: script, arguments: [draft.file.path]) {
                model, ended in
                let failure = TerminalProgram.failure("The editor", editor, ended)
                return .ask("read the edited text of \(draft.entry)") { (_) throws(SourceError) in
                    try draft.result()
                } done: { model, result in
                    edited(&model, draft, result, failure.map(TerminalText.sanitized))
                }
            })
    }

    private static func edited(
        _ model: inout Model, _ draft: Draft, _ result: Result<Draft.Result, SourceError>,
        _ failure: String?
    ) {
        switch result {
        case .success(.removed):
            let lines = ["The editor removed the file."]
            model.overlay = MessageBox("Not stored", lines + (failure.map { [$0] } ?? []))
        case .failure(let error): leave(&model, draft, "Can't read the edited text: \(error).")
        case .success(.unchanged):
            let said = draft.stored == nil ? "Nothing was written" : "Nothing was changed"
            model.say("\(said). \(failure ?? "")", role: failure == nil ? .text : .warning)
        // A failed editor may have saved only a part: the text is kept, but not stored.
        case .success where failure != nil: leave(&model, draft, failure ?? "")
        case .success(.invalid(let mistake)):
            model.overlay = Choice(
                title: "Can't store this", lines: [mistake], button: "Edit again", selected: 1
            ) { model in
                [editor(model, draft)]
            } left: { model in
                leave(&model, draft, "Nothing was stored.")
            }
        case .success(.changed(let plan)): model.overlay = plan
        }
    }

    static func leave(
        _ model: inout Model, _ draft: Draft, _ reason: String, title: String = "Not stored"
    ) {
        draft.file.keep()
        model.overlay = MessageBox(title, [reason, "Your text is kept in \(draft.file.path)"])
    }

    // MARK: Storing

    static func store(_ model: inout Model, _ plan: EditPlan) -> [Effect] {
        model.overlay = nil
        guard !model.isReadOnly else { return [] }
        let ticket = model.beginChange("storing")
        let (edit, entry) = (plan.edit, plan.draft.entry)
        return .ask("store \(entry), \(edit.bytes.count) bytes", ticket: ticket) {
            (context) throws(SourceError) in
            let carried = try context.source.store(edit, in: entry.archive)
            // Only a conflict needs the history.
            let past =
                carried.outcome
                ? nil : try? context.source.history(of: entry.key, in: entry.archive)
            return (carried, past)
        } then: { model, result in
            model.ends(ticket)
            switch result {
            case .success((let carried, _)) where carried.outcome: return stored(&model, plan, carried)
            case .success((_, let past)): leave(&model, plan.draft, conflict(plan, past, model))
            // The error says whether it was stored.
            case .failure(let error): leave(&model, plan.draft, "\(error).", title: "Edit failed")
            }
            return []
        }
    }

    private static func stored(_ model: inout Model, _ plan: EditPlan, _ carried: Carried<Bool>) -> [Effect] {
        model.cost.note(writes: 1, longestCall: carried.longestCall)
        let size = Figures.bytes(UInt64(plan.edit.bytes.count))
        model.say("Stored \(plan.edit.name), \(size).", role: .good, seconds: 10)
        model.readValueAgain()
        return refresh(&model, isForced: true)
    }

    private static func conflict(_ plan: EditPlan, _ past: KeyHistory?, _ model: Model) -> String {
        let key = TerminalSafe.quoted(plan.edit.key)
        let what =
            plan.edit.replacing == nil
            ? "the key \(key) is in use now" : "\(key) changed after the edit began"
        if model.isOfServer { return "Nothing was stored: \(what)." }
        let latest = past?.lines(by: model.processName).last.map { " Its latest event: \($0)." }
        return "Nothing was stored: \(what)." + (latest ?? " The event log doesn't show by which process.")
    }
}
