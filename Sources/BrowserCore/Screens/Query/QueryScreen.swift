import StorageEngine
import StoreInspection
import TerminalKit

enum QueryScreen: ScreenParts {
    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.query?.archive.name ?? "", "query"]
    }

    static func archive(_ model: Model) -> ArchiveAddress? { model.query?.archive }

    static func key(_ model: Model) -> String? { model.query?.row?.key }

    static func command(_ model: Model) -> CommandLine.Words {
        guard let query = model.query else { return .init("ls") }
        guard query.marks.isEmpty else { return .removing(query.marks, from: query.archive) }
        let shown = query.answer == nil ? nil : query.answered
        var words = CommandLine.Words("query", [query.archive.name, shown ?? query.text])
        if let shown, ExactText(shown) != ExactText(query.text) {
            words.remark = "Runs the query of the result; the one being edited wasn't run yet."
        } else if query.answer != nil, query.view.order != nil {
            words.remark = "Prints the rows in the query's order, not as sorted on the screen."
        }
        return words
    }

    // MARK: View

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        .init(rest, infoRows: lines(model) + (isTall ? QueryView.remarks(model).count : 0))
    }

    static func lines(_ model: Model) -> Int {
        max(1, min(model.query?.field.lineCount ?? 1, QueryState.shownLines, model.size.rows / 3))
    }

    static func cursor(_ model: Model) -> Int { model.query?.cursor ?? 0 }
    static func firstRow(_ model: Model) -> Int { model.query?.top ?? 0 }

    static func table(_ model: Model) -> Table? { QueryView.table(model) }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let query = model.query, let row = query.row, let answer = query.answer else { return nil }
        var spans = [Span(row.key ?? "", model.look[.dim])]
        if let changes = QueryView.changes(query) {
            let refresh = Browser.keyName(model, .refresh)
            spans.append(Span("  \(changes) since; \(refresh) runs the query again", model.look[.warning]))
        }
        let count = query.view.filter.isEmpty ? answer.count : query.view.count(of: answer)
        return .line(spans, right: Figures.position(query.cursor, of: count))
    }

    static func problem(_ model: Model) -> String? {
        let isSmall = model.size.rows < 9
        return model.archives.problem ?? (isSmall ? model.query.flatMap(QueryView.trouble) : nil)
    }

    static func age(_ model: Model) -> ScreenAge? {
        model.query?.askedAt.map { ScreenAge(.updated, since: $0, at: model.shownNow) }
    }

    // MARK: Actions

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        if isForced { return askAgain(&model) }
        guard let query = model.query, let every = query.every, let asked = query.askedAt,
            query.ticket == nil, !query.isTyping, model.overlay == nil, model.prompt == nil,
            model.now.seconds(since: asked) >= every
        else { return [] }
        return askAgain(&model, isAutomatic: true)
    }

    static func clear(_ model: inout Model) -> [Effect] {
        if model.query?.view.filter.isEmpty == false { return promptChanged(&model, "") }
        guard model.query?.marks.isEmpty == false else { return back(&model) }
        model.query?.marks = Marks()
        return []
    }

    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        let line = layout.info.split(top: lines(model)).top
        model.query?.isTyping = line.contains(point)
        return clickTable(&model, point, layout)
    }

    static func sort(_ model: inout Model, byHeader header: Int) -> [Effect]? {
        guard let query = model.query, let answer = query.answer else { return nil }
        let columns = query.view.columns(of: answer)
        let place = header - (QueryView.hasSigns(answer) ? 1 : 0)
        if columns.indices.contains(place) { sort(&model, byColumn: columns[place]) }
        return []
    }
}
