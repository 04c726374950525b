import TerminalKit

extension EntriesScreen {
    static func export(_ model: Model) -> RowExport? {
        model.entries.flatMap {
            $0.marks.isEmpty ? nil : .entries($0.marks, hidden: $0.hiddenMarks, of: $0.archive)
        }
    }

    static func toggleMark(_ model: inout Model) {
        guard let entries = model.entries, let entry = entries.rows[entries.cursor] else { return }
        model.entries?.marks.toggle(entry.target)
    }

    static func markAll(_ model: inout Model) -> [Effect] {
        guard let arrangement = model.entries?.arrangement, arrangement.count > 0 else { return [] }
        if arrangement.isPart {
            model.say("Still listing entries. Mark them when the list is complete.", role: .warning)
            return []
        }
        guard model.entries?.showsWhatIsAsked == true else {
            model.say("Still filtering. Mark the entries when the list is complete.", role: .warning)
            return []
        }
        let ticket = model.ticket()
        model.entries?.marking = ticket
        model.begin(Job(ticket: ticket, title: "marking", since: model.now))
        return .ask("collect all rows", ticket: ticket) { context in
            // Off the drawing thread: there may be a million.
            arrangement.targets(context.progress).map { (Marks($0.targets), $0.omission) }
        } then: { model, result in
            model.ends(ticket)
            guard model.entries?.marking == ticket else { return [] }
            model.entries?.marking = nil
            model.unsay(Browser.stillMarking, instead: Browser.nowMarked)
            guard case .success(let (marks, omission)?) = result else { return [] }
            model.entries?.marks.formUnion(marks)
            if let omission { model.say(omission, role: .warning) }
            return []
        }
    }
}
