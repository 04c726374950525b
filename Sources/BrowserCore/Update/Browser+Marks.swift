import TerminalKit

extension Browser {
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

    static func collected(_ model: inout Model, _ ticket: Int, _ marks: Marks?) -> [Effect] {
        guard model.job?.ticket == ticket else { return [] }
        model.job = nil
        if let marks { model.entries?.marks.formUnion(marks) }
        return []
    }

    /// Opens the plan of a delete: of the marked entries, or else of the one under the cursor.
    static func plan(_ model: inout Model) {
        if model.screen == .value {
            guard let value = model.value, let entry = value.load?.entry else { return }
            model.overlay = .plan(Plan(archive: value.archive, targets: [entry.target]))
            return
        }
        guard let entries = model.entries else { return }
        var targets = entries.marks.list
        if targets.isEmpty, let entry = entries.rows[entries.cursor] { targets = [entry.target] }
        guard !targets.isEmpty else {
            model.say("There is no entry to delete.")
            return
        }
        model.overlay = .plan(Plan(archive: entries.archive, targets: targets))
    }

    static func carryOut(_ model: inout Model, _ plan: Plan) -> [Effect] {
        model.overlay = nil
        guard !model.isReadOnly, let store = model.store else { return [] }
        let ticket = model.ticket()
        model.job = Job(ticket: ticket, title: "deleting", since: model.now)
        return [.delete(ticket: ticket, plan.targets, archive: plan.archive, store: store)]
    }

    static func deleted(
        _ model: inout Model, _ ticket: Int, _ result: Result<Deletion, SourceError>
    ) -> [Effect] {
        if model.job?.ticket == ticket { model.job = nil }
        switch result {
        case .failure(let error):
            model.overlay = .message(MessageBox(title: "Nothing was deleted", lines: [error.description]))
            return []
        case .success(let deletion):
            model.cost.writes += deletion.deleted
            model.cost.longestLock = max(model.cost.longestLock, deletion.longestCall)
            let figures =
                "\(Figures.count(deletion.deleted, "entry", "entries")) deleted, "
                + Figures.bytes(deletion.bytes)
            model.entries?.marks = Marks()
            let report = lines(of: deletion)
            if report.isEmpty {
                model.say("\(figures).", role: .good)
            } else {
                model.overlay = .message(
                    MessageBox(title: "Plan carried out", lines: [figures + "."] + report))
            }
            var effects: [Effect] = []
            if model.screen == .value, deletion.deleted > 0 { effects += leaveValue(&model) }
            return effects + refresh(&model, isForced: true)
        }
    }

    /// What was planned and didn't happen.
    private static func lines(of deletion: Deletion) -> [String] {
        var lines: [String] = []
        if !deletion.changed.isEmpty {
            lines.append("Left alone, because they changed after the plan was made:")
            lines += deletion.changed.prefix(100).map { "- \($0)" }
            if deletion.changed.count > 100 { lines.append("and \(deletion.changed.count - 100) more") }
        }
        if !deletion.absent.isEmpty {
            lines.append("Gone already: \(Figures.count(deletion.absent.count, "entry", "entries")).")
        }
        if let stopped = deletion.stopped { lines.append(stopped) }
        return lines
    }
}
