import ArchiveQuery
import StorageEngine
import TerminalKit

extension QueryScreen {
    static func chooseFrequency(_ model: inout Model) {
        guard let query = model.query, let answer = query.answer,
            case .pipeline(let pipeline) = QueryPipeline.parse(query.answered)
        else { return model.say("No result to count.") }
        let columns = answer.columns
        var list = SearchList(
            title: "Count by", columns.map { SearchList.Item(text: $0.title) },
            placeholder: "part of a name, or another property",
            nothing: "No match; enter counts by the typed property."
        ) { model, number in
            let column = columns[number]
            return count(
                &model, pipeline, by: column.property ?? property(column.title, in: answer.plan.pipeline))
        }
        list.keys[0] = ("enter", "Count")
        list.typed = { model, text in
            Browser.property(text, &model).map { count(&model, pipeline, by: $0) } ?? []
        }
        list.selected = query.view.order?.column ?? min(1, columns.count - 1)
        model.overlay = .search(list)
    }

    private static func property(_ title: String, in pipeline: QueryPipeline) -> QueryProperty {
        let asked = pipeline.stages.flatMap(\.properties)
        if let known = asked.first(where: { ExactText($0.columnName) == ExactText(title) }) { return known }
        return .named(title)
    }

    /// Runs a query that counts the values of a property, the most frequent first, with the bytes of their entries.
    private static func count(
        _ model: inout Model, _ rows: QueryPipeline, by property: QueryProperty
    ) -> [Effect] {
        var figures = [QueryFigure(.count)]
        let hasEntries = model.query?.answer?.targets.isEmpty == false
        if hasEntries { figures.append(QueryFigure(.sum(.metadata(.size)), as: "bytes")) }
        let counting = QueryPipeline(
            rows.stages + [
                .group(by: [QueryColumn(property)], figures),
                .sort([QuerySortKey(.named("count"), isDescending: true)]),
            ])
        let text = counting.description
        let total = model.query?.answer?.count ?? 0
        model.query?.counted = QueryState.Counted(rows: rows, text: text, property: property, total: total)
        model.query?.field.text = text
        retyped(&model)
        return ask(&model)
    }

    /// Runs a query for the entries that the selected row counts.
    static func openCounted(_ model: inout Model, _ counted: QueryState.Counted) -> [Effect] {
        guard let row = model.query?.row else { return [] }
        guard let literal = row.literal else {
            model.say("Can't open: no condition can express this value.", role: .warning)
            return []
        }
        let predicate: QueryPredicate =
            literal == .null
            ? .presence(counted.property, .null) : .compare(counted.property, .equal, literal)
        model.query?.field.text = QueryPipeline(counted.rows.stages + [.find(predicate)]).description
        retyped(&model)
        return ask(&model)
    }

    /// The total of a result that counts; nil for others.
    static func countedRows(_ query: QueryState) -> Int? {
        guard let counted = query.counted, counted.text == query.answered, counted.total > 0 else {
            return nil
        }
        return counted.total
    }

    static func count(in row: QueryAnswer.Row) -> Int {
        guard row.values.count > 1, case .number(.integer(let count)) = row.values[1] else { return 0 }
        return Int(clamping: count)
    }
}
