import TerminalKit

extension EntriesScreen {
    static func toggleMark(_ model: inout Model) {
        guard let entries = model.entries, let entry = entries.rows[entries.cursor] else { return }
        if entries.marks.contains(entry.key) {
            model.entries?.marks.remove(entry.key)
        } else {
            model.entries?.marks.add(entry.target)
        }
    }

    /// Marks every row: their keys have to be read first.
    static func markAll(_ model: inout Model) -> [Effect] {
        guard let arrangement = model.entries?.arrangement, arrangement.count > 0 else { return [] }
        let ticket = model.ticket()
        model.job = Job(ticket: ticket, title: "marking", since: model.now)
        return [.collect(ticket: ticket, arrangement)]
    }

    static func collected(
        _ model: inout Model, _ ticket: Int, _ marks: Collected<Marks>?
    ) -> [Effect] {
        guard model.job?.ticket == ticket else { return [] }
        model.job = nil
        guard let marks else { return [] }
        model.entries?.marks.formUnion(marks.entries)
        if let omission = marks.omission { model.say(omission, role: .warning) }
        return []
    }
}
