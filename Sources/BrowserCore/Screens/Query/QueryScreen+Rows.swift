import StorageEngine
import StoreInspection
import TerminalKit

extension QueryScreen {
    // MARK: Marks

    static func targets(_ model: Model) -> ChosenEntries? {
        guard let query = model.query else { return nil }
        let all = query.marks.isEmpty ? query.row?.target.map { [$0] } ?? [] : query.marks.list
        let removed = Set(
            query.view.changes.lazy.filter { $0.value == .removed }
                .compactMap { query.answer?.rows[$0.key].target })
        var chosen = ChosenEntries(
            archive: query.archive,
            targets: query.marks.isEmpty ? all.filter { !removed.contains($0) } : all,
            incompleteReason: query.marking != nil ? Browser.stillMarking : nil,
            absence: query.row == nil
                ? "" : all.isEmpty ? " The row combines several." : " \(EntriesScreen.removedText)")
        guard !query.marks.isEmpty else { return chosen }
        let (marks, shown) = (query.marks, Set(removed.map { ExactText($0.key) }))
        chosen.complete = { (chosen, context) throws(SourceError) in
            var chosen = chosen
            let absent = try marks.absent(in: chosen.archive, context.source) { context.progress(0) }
            guard let absent else { return nil }
            chosen.leaveOut(marks.areLookedUp ? absent : shown)
            return chosen
        }
        return chosen
    }

    static func toggleMark(_ model: inout Model) -> [Effect] {
        guard let row = model.query?.row else { return [] }
        guard let target = row.target else {
            return model.reply("Nothing to mark: the row combines several entries.")
        }
        model.query?.marks.toggle(target)
        return Browser.move(&model, by: 1)
    }

    /// Marks all entries of the result, also those beyond the rows shown.
    static func markAll(_ model: inout Model) -> [Effect] {
        guard let query = model.query, let answer = query.answer, answer.count > 0 else { return [] }
        guard !answer.targets.isEmpty else {
            return model.reply("Nothing to mark: the rows combine several entries.")
        }
        let isFiltered = !query.view.filter.isEmpty
        let shown = (0..<query.view.count(of: answer)).compactMap { answer.rows[query.view.row($0)].target }
        let targets = isFiltered ? shown : answer.targets
        let ticket = model.begin("marking")
        model.query?.marking = ticket
        return .ask("mark \(targets.count) of the result", ticket: ticket) { _ in
            // Off the drawing thread: there may be a million.
            Marks(targets)
        } done: { model, result in
            model.ends(ticket)
            guard model.query?.marking == ticket else { return }
            model.query?.marking = nil
            model.withdrawNotice(Browser.stillMarking, instead: Browser.nowMarked)
            guard case .success(let marks) = result, model.query?.answered == query.answered else {
                return
            }
            model.query?.marks = marks
            if !isFiltered { model.say(markedAll(answer), seconds: 10) }
        }
    }

    private static func markedAll(_ answer: QueryResult) -> String {
        let all = "Marked all \(Figures.count(answer.targets.count, "entry", "entries"))"
        let beyond = answer.count - answer.rows.count
        return beyond > 0 ? "\(all), \(Figures.count(beyond)) of them beyond the rows shown." : "\(all)."
    }

    // MARK: Order

    /// Sorts by the next shown column; after the last column, restores the query's order.
    static func sortByNext(_ model: inout Model) {
        guard let query = model.query, let answer = query.answer else { return }
        let columns = query.view.columns(of: answer)
        let next = query.view.order.map { order in (columns.firstIndex(of: order.column) ?? -1) + 1 } ?? 0
        sort(&model, by: columns.indices.contains(next) ? QueryRows.Order(column: columns[next]) : nil)
    }

    /// Sorts by a column ascending, then descending; a third call restores the query's order.
    static func sort(_ model: inout Model, byColumn column: Int) {
        guard let order = model.query?.view.order, order.column == column else {
            return sort(&model, by: QueryRows.Order(column: column))
        }
        sort(&model, by: order.isDescending ? nil : QueryRows.Order(column: column, isDescending: true))
    }

    static func reverse(_ model: inout Model) {
        guard let order = model.query?.view.order else {
            return model.say("Rows are in the query's order; \(Browser.keyName(model, .sort)) sorts them.")
        }
        sort(&model, by: QueryRows.Order(column: order.column, isDescending: !order.isDescending))
    }

    private static func sort(_ model: inout Model, by order: QueryRows.Order?) {
        guard var query = model.query, let answer = query.answer else { return }
        let row = query.view.row(query.cursor)
        query.view.sort(answer, by: order)
        query.cursor = query.view.place(of: row)
        model.query = query
        guard let order else { return model.say("Rows are in the query's order.", seconds: 3) }
        guard answer.count > answer.rows.count else { return }
        let name = TerminalText.sanitized(answer.columns[order.column].title)
        model.say(
            "Sorted only the \(Figures.count(answer.rows.count)) rows shown; | sort \(name) sorts all.",
            role: .warning, seconds: 10)
    }

    // MARK: Columns

    static func scroll(columns: Int, _ model: inout Model) {
        guard let answer = model.query?.answer else { return }
        model.query?.view.scroll(by: columns, in: answer)
    }

    static func columnChoice(_ model: Model) -> ColumnChoice? {
        guard let query = model.query, let answer = query.answer, answer.columns.count > 1 else { return nil }
        return ColumnChoice(titles: answer.columns.dropFirst().map(\.title), hidden: query.view.hidden)
    }

    static func show(_ columns: ColumnChoice, _ model: inout Model) {
        model.query?.view.hidden = columns.hidden
    }

    // MARK: Changes

    static func figuresLoaded(_ model: inout Model) -> [Effect] {
        guard let query = model.query, let answer = query.answer, query.ticket == nil, !query.view.isChecking
        else { return [] }
        let count = query.view.count(of: answer)
        let rows = min(query.top, count)..<min(count, query.top + model.layout.page)
        let targets = rows.compactMap { place -> (row: Int, target: Target)? in
            let row = query.view.row(place)
            return answer.rows[row].target.map { (row, $0) }
        }
        guard !targets.isEmpty else { return [] }
        model.query?.view.isChecking = true
        let (archive, asked) = (query.archive, query.askedAt)
        return .ask("check \(targets.count) rows of \(archive.name)") { (context) throws(SourceError) in
            var changes: [Int: QueryRows.Change] = [:]
            for (row, target) in targets {
                let entry = try context.source.entry(target.key, in: archive)
                if entry?.sequence != target.sequence { changes[row] = entry == nil ? .removed : .changed }
            }
            return changes
        } done: { model, result in
            guard model.query?.archive == archive else { return }
            model.query?.view.isChecking = false
            guard model.query?.askedAt == asked, case .success(let changes) = result else { return }
            model.query?.view.changes = changes
        }
    }
}
