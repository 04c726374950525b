import ArchiveQuery
import StorageEngine
import TerminalKit

extension QueryScreen {
    static func chooseFrequency(_ model: inout Model) {
        guard let query = model.query, let answer = query.answer,
            case .pipeline(let pipeline) = QueryPipeline.parse(query.answered)
        else { return model.say("No result to count.") }
        let columns = answer.columns
        var list = SearchList.counting(by: columns.map { SearchList.Item(text: $0.title) }) { model, number in
            let column = columns[number]
            return count(
                &model, pipeline, by: column.property ?? property(column.title, in: answer.plan.pipeline))
        } typed: { model, property in
            count(&model, pipeline, by: property)
        }
        list.selected = query.view.order?.column ?? min(1, columns.count - 1)
        model.overlay = list
    }

    private static func property(_ title: String, in pipeline: QueryPipeline) -> QueryProperty {
        let asked = pipeline.stages.flatMap(\.properties)
        if let known = asked.first(where: { ExactText($0.columnName) == ExactText(title) }) { return known }
        return .named(title)
    }

    /// Maximum number of filtered rows that are counted: their keys are written into the query.
    private static let maximumFiltered = 200

    /// The query to count: `rows`, or for a filtered result one that finds the shown entries by their keys, with the same columns.
    /// Warns if it can't leave out the hidden rows.
    private static func shownRows(of rows: QueryPipeline, _ model: inout Model) -> QueryPipeline {
        guard let query = model.query, let answer = query.answer, !query.view.filter.isEmpty else {
            return rows
        }
        let shown = (0..<query.view.count(of: answer)).map { answer.rows[query.view.row($0)] }
        let keys = shown.compactMap { $0.key ?? $0.target?.key }
        guard keys.count == shown.count, (1...maximumFiltered).contains(keys.count) else {
            model.say("Counts all rows, also those that the filter hides.", role: .warning)
            return rows
        }
        let columns = rows.stages.filter { if case .select = $0 { true } else { false } }
        return QueryPipeline([.find(.isIn(.metadata(.key), keys.map { .text($0) }))] + columns)
    }

    /// Runs a query that counts the values of a property in the shown rows, the most frequent first, with the bytes of their
    /// entries.
    private static func count(
        _ model: inout Model, _ rows: QueryPipeline, by property: QueryProperty
    ) -> [Effect] {
        let rows = shownRows(of: rows, &model)
        var figures = [QueryFigure(.count)]
        let hasEntries = model.query?.answer?.targets.isEmpty == false
        if hasEntries { figures.append(QueryFigure(.sum(.metadata(.size)), as: "bytes")) }
        let counting = QueryPipeline(
            rows.stages + [
                .group(by: [QueryColumn(property)], figures),
                .sort([QuerySortKey(.named("count"), isDescending: true)]),
            ])
        let total = model.query?.answer?.count ?? 0
        let effects = openResult(of: counting, &model)
        model.query?.counted = QueryState.Counted(text: counting.description, total: total)
        return effects
    }

    /// Runs a query whose result leads back to the current one.
    private static func openResult(of pipeline: QueryPipeline, _ model: inout Model) -> [Effect] {
        guard let query = model.query else { return [] }
        model.query?.outer = QueryState.Outer(
            opened: pipeline.description, writes: model.cost.writes, query: [query])
        // The marks stay in the current result.
        model.query?.marks = Marks()
        model.query?.field.text = pipeline.description
        retyped(&model)
        return ask(&model)
    }

    /// Returns to the result from which the current one was opened, and refreshes it if the browser has changed entries since.
    /// Nil without an outer result.
    static func returnToOuter(_ model: inout Model) -> [Effect]? {
        guard let query = model.query, let outer = query.outer, var before = outer.query.first else {
            return nil
        }
        if let ticket = query.ticket { model.ends(ticket) }
        // Its requests have ended.
        (before.ticket, before.marking, before.view.isChecking) = (nil, nil, false)
        model.query = before
        let again = outer.writes == model.cost.writes ? [] : askAgain(&model)
        return (query.ticket.map { [.stop(ticket: $0)] } ?? []) + again
    }

    /// The query of the rows before the last `group` stage, and the columns of the groups; nil if the result's rows aren't groups.
    static func grouping(_ query: QueryState) -> (rows: [PipelineStage], columns: [QueryColumn])? {
        let stages = query.answer?.plan.pipeline.stages ?? []
        let place = stages.lastIndex { stage in
            switch stage {
            case .find, .sort, .limit, .skip: false
            case .select, .distinct, .aggregate, .group: true
            }
        }
        guard let place, case .group(let columns, _) = stages[place] else { return nil }
        return (Array(stages[..<place]), columns)
    }

    /// Runs a query that lists the rows of the selected group; nil if the row isn't a group.
    static func openGroup(_ model: inout Model) -> [Effect]? {
        guard let query = model.query, let row = query.row, let (rows, columns) = grouping(query) else {
            return nil
        }
        var stages = rows
        for (column, literal) in zip(columns, row.literals) {
            guard let literal else {
                return model.reply("Can't open: no condition can express this value.", role: .warning)
            }
            stages.append(
                .find(
                    literal == .null
                        ? .presence(column.property, .null) : .compare(column.property, .equal, literal)))
        }
        return openResult(of: QueryPipeline(stages), &model)
    }

    /// The total of a result that counts; nil for others.
    static func countedRows(_ query: QueryState) -> Int? {
        guard let counted = query.counted, counted.text == query.answered, counted.total > 0 else {
            return nil
        }
        return counted.total
    }

    static func count(in row: QueryResult.Row) -> Int {
        guard row.values.count > 1, case .number(.integer(let count)) = row.values[1] else { return 0 }
        return Int(clamping: count)
    }
}
