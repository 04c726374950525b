import StoreInspection

extension EntriesScreen {
    static func export(_ model: Model) -> RowExport? {
        model.entries.flatMap {
            $0.marks.isEmpty
                ? nil
                : .entries(
                    $0.marks, hidden: $0.hiddenMarks, of: $0.archive,
                    allowsAccesses: model.archives.allowsReadingAll)
        }
    }

    static func toggleMark(_ model: inout Model) {
        guard let entries = model.entries, let entry = entries.rows[entries.cursor] else { return }
        model.entries?.marks.toggle(entry.target)
    }

    static func markAll(_ model: inout Model) -> [Effect] {
        guard let arrangement = model.entries?.arrangement, arrangement.count > 0 else { return [] }
        if arrangement.isPart {
            return model.reply("Still listing entries. Mark them when the list is complete.", role: .warning)
        }
        guard model.entries?.showsRequestedRows == true else {
            return model.reply("Still filtering. Mark the entries when the list is complete.", role: .warning)
        }
        let ticket = model.begin("marking")
        model.entries?.marking = ticket
        return .ask("collect all rows", ticket: ticket) { context in
            // Off the drawing thread: there may be a million.
            arrangement.targets(context.progress).map { (Marks($0.targets), $0.omission) }
        } done: { model, result in
            model.ends(ticket)
            guard model.entries?.marking == ticket else { return }
            model.entries?.marking = nil
            model.withdrawNotice(Browser.stillMarking, instead: Browser.nowMarked)
            guard case .success(let (marks, omission)?) = result else { return }
            model.entries?.marks.formUnion(marks)
            if let omission { model.say(omission, role: .warning) }
        }
    }
}
