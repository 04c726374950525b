import StorageEngine
import StoreInspection
import TerminalKit

/// What can be done with the rows of a result: marks, order, columns, and looking what became of their entries.
extension QueryScreen {
    // MARK: Marks

    /// The marked entries, or else the one under the cursor.
    static func targets(_ model: Model) -> ChosenEntries? {
        guard let query = model.query else { return nil }
        let marked = query.marks.list
        let one = query.row?.target.map { [$0] } ?? []
        return ChosenEntries(
            archive: query.archive, targets: marked.isEmpty ? one : marked,
            isUnderWay: query.marking != nil ? Browser.stillMarking : nil,
            absence: query.row == nil ? "" : " The row is made of several.")
    }

    static func toggleMark(_ model: inout Model) -> [Effect] {
        guard let row = model.query?.row else { return [] }
        guard let target = row.target else {
            model.say("The row is made of several entries; it has none to mark.")
            return []
        }
        model.query?.marks.toggle(target)
        return Browser.move(&model, by: 1)
    }

    /// Marks all entries of the result, those beyond the rows that are shown too.
    static func markAll(_ model: inout Model) -> [Effect] {
        guard let query = model.query, let answer = query.answer, answer.count > 0 else { return [] }
        guard !answer.targets.isEmpty else {
            model.say("The rows are made of several entries each; they have none to mark.")
            return []
        }
        // Under a filter only the rows shown.
        let isFiltered = !query.view.filter.isEmpty
        let shown = (0..<query.view.count(of: answer)).compactMap { answer.rows[query.view.row($0)].target }
        let targets = isFiltered ? shown : answer.targets
        let ticket = model.ticket()
        model.query?.marking = ticket
        model.begin(Job(ticket: ticket, title: "marking", since: model.now))
        return .ask("mark \(targets.count) of the result", ticket: ticket) { _ in
            // A million marks are made here and not by the thread that draws.
            Marks(targets)
        } then: { model, result in
            model.ends(ticket)
            guard model.query?.marking == ticket else { return [] }
            model.query?.marking = nil
            model.unsay(Browser.stillMarking, instead: Browser.nowMarked)
            guard case .success(let marks) = result, model.query?.answered == query.answered else {
                return []
            }
            model.query?.marks = marks
            if !isFiltered { model.say(markedAll(answer), seconds: 10) }
            return []
        }
    }

    private static func markedAll(_ answer: QueryAnswer) -> String {
        let all = "All \(Figures.count(answer.targets.count, "entry", "entries")) of the result are marked"
        let beyond = answer.count - answer.rows.count
        return beyond > 0 ? "\(all), \(Figures.count(beyond)) of them beyond the rows shown." : "\(all)."
    }

    // MARK: Order

    /// Sorts by the next column in view; behind the last one comes the query's own order.
    static func sortByNext(_ model: inout Model) {
        guard let query = model.query, let answer = query.answer else { return }
        let columns = query.view.columns(of: answer)
        let next = query.view.order.map { order in (columns.firstIndex(of: order.column) ?? -1) + 1 } ?? 0
        sort(&model, by: columns.indices.contains(next) ? QueryRows.Order(column: columns[next]) : nil)
    }

    /// Sorts by a column; by the same again the other way round, and then in the query's own order.
    static func sort(_ model: inout Model, byColumn column: Int) {
        guard let order = model.query?.view.order, order.column == column else {
            return sort(&model, by: QueryRows.Order(column: column))
        }
        sort(&model, by: order.isDescending ? nil : QueryRows.Order(column: column, isDescending: true))
    }

    static func reverse(_ model: inout Model) {
        guard let order = model.query?.view.order else {
            model.say("The rows are in the query's order; \(Browser.keyName(model, .sort)) sorts them.")
            return
        }
        sort(&model, by: QueryRows.Order(column: order.column, isDescending: !order.isDescending))
    }

    private static func sort(_ model: inout Model, by order: QueryRows.Order?) {
        guard var query = model.query, let answer = query.answer else { return }
        let row = query.view.row(query.cursor)
        query.view.sort(answer, by: order)
        query.cursor = query.view.place(of: row)
        model.query = query
        guard let order else { return model.say("In the order of the query.", seconds: 3) }
        guard answer.count > answer.rows.count else { return }
        let name = TerminalText.sanitized(answer.columns[order.column].title)
        model.say(
            "Only the \(Figures.count(answer.rows.count)) rows shown are sorted; for all write | sort \(name).",
            role: .warning, seconds: 10)
    }

    // MARK: Columns

    static func scroll(columns: Int, _ model: inout Model) {
        guard let answer = model.query?.answer else { return }
        model.query?.view.scroll(by: columns, in: answer)
    }

    static func columnChoice(_ model: Model) -> ColumnChoice? {
        guard let query = model.query, let answer = query.answer, answer.columns.count > 1 else { return nil }
        // The first column says what a row is.
        return ColumnChoice(titles: answer.columns.dropFirst().map(\.title), hidden: query.view.hidden)
    }

    static func show(_ columns: ColumnChoice, _ model: inout Model) {
        model.query?.view.hidden = columns.hidden
    }

    // MARK: What became of the rows

    /// Looks whether the entries in view are still what the rows say.
    static func figuresCame(_ model: inout Model) -> [Effect] {
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
        return .ask("look at \(targets.count) rows of \(archive.name)") { (context) throws(SourceError) in
            var changes: [Int: QueryRows.Change] = [:]
            for (row, target) in targets {
                let entry = try context.source.entry(target.key, in: archive)
                if entry?.sequence != target.sequence { changes[row] = entry == nil ? .gone : .changed }
            }
            return changes
        } then: { model, result in
            guard model.query?.archive == archive else { return [] }
            model.query?.view.isChecking = false
            // Of an answer that isn't shown any more it says nothing.
            guard model.query?.askedAt == asked, case .success(let changes) = result else { return [] }
            model.query?.view.changes = changes
            return []
        }
    }
}
