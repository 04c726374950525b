import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

extension QueryScreen {
    /// Opens the query screen of the archive in view; its last query and result are kept.
    static func show(_ model: inout Model) -> [Effect] {
        guard let archive = model.archiveInView else {
            return model.reply("A query needs an archive; select one first.")
        }
        guard model.sample(archive)?.kind != .log else {
            return model.reply("Logs can't be queried: they have messages, not entries.")
        }
        let origin = model.origin(opening: .query)
        model.screen = .query
        if model.query?.archive == archive {
            model.query?.origin = origin
            model.query?.isTyping = true
            model.query?.field.moveCursor(to: .max)
            return []
        }
        var query = QueryState(archive: archive, origin: origin)
        if let filter = model.entries?.filter, !filter.isEmpty {
            query.field.text = QueryPipeline([.find(EntriesScreen.matching(filter))]).description
        }
        if let condition = model.entries?.condition {
            let stage = PipelineStage.find(condition.predicate)
            let before = QueryPipeline.parse(query.field.text)
            let stages: [PipelineStage] = if case .pipeline(let before) = before { before.stages } else { [] }
            query.field.text = QueryPipeline(stages + [stage]).description
        }
        if !query.field.text.isEmpty { query.field.text += " | " }
        model.query = query
        retyped(&model)
        return [loadProperties(of: archive)] + loadEarlierQueries(&model) + loadSavedQueries()
    }

    private static func loadProperties(of archive: ArchiveAddress) -> Effect {
        .ask("load properties of \(archive.name)") { (context) throws(SourceError) in
            try context.source.properties(in: archive)
        } done: { model, result in
            guard model.query?.archive == archive, case .success(let sample) = result else { return }
            model.query?.sample = sample
            model.query?.field.placeholder = QueryState.example(sample)
            retyped(&model)
        }
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard let query = model.query else { return [] }
        switch id {
        case .edit: model.query?.isTyping = true
        case .explain: explain(&model)
        case .frequency: chooseFrequency(&model)
        case .saveQuery: askName(&model)
        case .savedQueries: return askSaved(&model)
        case .copySwift: showSwift(&model)
        case .mark: return toggleMark(&model)
        case .markAll: return markAll(&model)
        case .unmarkAll:
            if query.marks.isEmpty { model.say("Nothing is marked.", seconds: 3) }
            model.query?.marks = Marks()
        case .sort: sortByNext(&model)
        case .reverse: reverse(&model)
        case .askEvery: askEvery(&model)
        case .filter:
            guard query.answer != nil else {
                model.say("No result to filter.")
                break
            }
            model.prompt = .filtering(query.view.filter, placeholder: "part of a cell")
        default: break
        }
        return []
    }

    static func copyable(_ model: Model) -> [CopyItem] {
        guard let query = model.query else { return [] }
        let address = query.row?.key.map { EntryAddress($0, in: query.archive) }
        var items = address.map { CopyItem.items(of: $0).filter { "kv".contains($0.letter) } } ?? []
        if let row = query.row {
            let tooMany = "not kept: too many rows; vellum query --json prints them"
            items.append(
                CopyItem(
                    "j", "the row as JSON",
                    query.answer?.json(of: row).map(CopyItem.Content.ready) ?? .absent(tooMany)))
        }
        items.append(CopyItem("c", "the shell command", CommandLine.words(for: model)))
        items.append(CopyItem("s", "the Swift code", swift(query)))
        return items + [CopyItem.path(query.archive)]
    }

    private static func swift(_ query: QueryState) -> CopyItem.Content {
        guard let pipeline = query.pipeline else { return .absent("the query has an error") }
        do { return .ready(try pipeline.swiftSource(archives: "archives")) } catch {
            return .absent("\(error)")
        }
    }

    static func promptNote(_ model: Model) -> String {
        guard let query = model.query, let answer = query.answer else { return "" }
        return "  \(Figures.count(query.view.count(of: answer))) of \(Figures.count(answer.count))"
    }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        guard var query = model.query, let answer = query.answer else { return [] }
        let row = query.view.row(query.cursor)
        query.view.filter(answer, by: text)
        if row >= 0 { query.cursor = query.view.place(of: row) }
        model.query = query
        return []
    }

    static func back(_ model: inout Model) -> [Effect] {
        if let effects = returnToOuter(&model) { return effects }
        guard let query = model.query else { return [] }
        let ticket = query.ticket
        model.query?.ticket = nil
        if let ticket { model.ends(ticket) }
        model.goBack(to: query.origin)
        return ticket.map { [.stop(ticket: $0)] } ?? []
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        guard let query = model.query, let answer = query.answer else { return [] }
        let count = query.view.count(of: answer)
        model.query?.cursor = max(0, min(row, count - 1))
        return []
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard var query = model.query else { return [] }
        let count = query.answer.map(query.view.count) ?? 0
        query.cursor = max(0, min(query.cursor, count - 1))
        query.top = Table.firstRow(showing: query.cursor, of: count, in: layout.page, from: query.top)
        model.query = query
        return []
    }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        guard let query = model.query, query.row?.key == nil else { return true }
        switch id {
        case .filter, .explain, .export, .frequency: return query.answer != nil
        case .open: return query.row != nil && grouping(query) != nil
        case .delete, .expire: return !query.marks.isEmpty
        case .mark, .editValue, .pager, .pipe: return false
        default: return true
        }
    }

    static func open(_ model: inout Model) -> [Effect] {
        guard let query = model.query else { return [] }
        guard let key = query.row?.key else {
            if let effects = openGroup(&model) { return effects }
            if query.row != nil { model.say("No value to open: the row combines several entries.") }
            return []
        }
        return ValueScreen.show(ValueState(archive: query.archive, key: key, origin: .query), &model)
    }

    private static func askEvery(_ model: inout Model) {
        guard let query = model.query else { return }
        let every = QueryState.refreshIntervals.next(after: query.every)
        model.query?.every = every
        let how =
            every.map { "Refreshing every \(Figures.interval($0))." }
            ?? "Automatic refresh is off; \(Browser.keyName(model, .refresh)) refreshes."
        model.say(how, seconds: 3)
    }

    // MARK: Running

    /// Runs the query of the line.
    /// - Parameter isAutomatic: whether it is an automatic refresh.
    static func ask(_ model: inout Model, isAutomatic: Bool = false) -> [Effect] {
        guard var query = model.query else { return [] }
        let text = query.text
        guard let pipeline = query.pipeline else {
            query.isTyping = true
            if let error = query.errors.first {
                query.field.moveCursor(to: query.field.place(ofByte: error.position))
                model.query = query
                retyped(&model)
                model.query?.problem = error.description(in: text)
            }
            return []
        }
        var effects: [Effect] = query.ticket.map { [.stop(ticket: $0)] } ?? []
        let ticket = model.begin("running the query")
        query.ticket = ticket
        // Another query may be expensive.
        if text != query.asked { query.every = nil }
        if query.outer?.opened != text { query.outer = nil }
        query.asked = text
        if query.field.text != text { query.field.text = text }
        query.field.placeholder = text.isEmpty ? "all entries" : QueryState.example(query.sample)
        query.problem = nil
        query.completions = []
        query.cycle = nil
        model.query = query
        let request = QueryRequest(
            archive: query.archive, pipeline: pipeline, allowsAccesses: query.allowsAccesses == text)
        let (marks, isSame, time) = (query.marks, query.answered == text, model.now)
        effects.append(
            .ask("query \(query.archive.name): \(pipeline)", ticket: ticket) {
                (context) throws(SourceError) in
                let answer = try context.source.query(request, progress: context.progress)
                return (answer, isSame ? answer.map { marks.missing(in: $0.targets) } ?? [] : [])
            } then: { model, result in
                if case .success(let (_, unmarked)) = result, model.query?.ticket == ticket {
                    unmark(&model, unmarked)
                }
                return answered(&model, ticket, result.map(\.0), askedAt: time, isAutomatic: isAutomatic)
            })
        return effects
    }

    /// `nil`: it was stopped.
    private static func answered(
        _ model: inout Model, _ ticket: Int, _ result: Result<QueryResult?, SourceError>, askedAt: Timestamp,
        isAutomatic: Bool
    ) -> [Effect] {
        model.ends(ticket)
        guard var query = model.query, query.ticket == ticket else { return [] }
        query.ticket = nil
        var isRefused = false
        let outcome: String
        switch result {
        case .success(nil): outcome = "stopped"
        case .success(let answer?):
            outcome = answer.summary
            let isSame = query.answered == query.asked
            let key = isSame ? query.row?.key : nil
            var answer = answer
            if isSame, let old = query.answer { answer.keepColumns(of: old) }
            if isSame {
                query.view.renew(for: answer)
            } else {
                if !query.marks.isEmpty {
                    let marks = Figures.count(query.marks.count, "mark", "marks")
                    model.say("Removed \(marks) of the previous result.", seconds: 10)
                }
                (query.marks, query.view, query.top) = (Marks(), QueryRows(), 0)
            }
            query.answer = answer
            query.answered = query.asked
            if query.counted?.text == query.asked, answer.count == answer.rows.count {
                query.counted?.total = answer.rows.reduce(0) { $0 + count(in: $1) }
            }
            query.askedAt = askedAt
            // The same query keeps the selected key or else the row.
            let row = key.flatMap { key in
                answer.rows.firstIndex { $0.key.map(ExactText.init) == ExactText(key) }
            }
            query.cursor = row.map { query.view.place(of: $0) } ?? (isSame ? query.cursor : 0)
            // The next query is being typed; its letters must not act on the rows.
            let isEdited = query.field.text != query.asked
            query.isTyping = query.isTyping && isEdited
        case .failure(let error):
            query.problem = error.description
            outcome = error.description
            isRefused = error.isAccessRefusal && model.overlay == nil && model.prompt == nil && !isAutomatic
        }
        query.recalled = nil
        model.query = query
        if isRefused {
            let text = query.asked
            let effects = Browser.readingValues(&model, for: "The query") { model in
                guard model.query?.asked == text else { return [] }
                model.query?.allowsAccesses = text
                return ask(&model)
            }
            // Without a confirmation dialog the query runs again immediately.
            if !effects.isEmpty { return effects }
        }
        if isAutomatic { return [] }
        let past = PastQuery(
            archive: query.archive.name, text: query.asked, outcome: outcome, time: model.now)
        model.queryHistory.remember(past)
        return [keep(past)]
    }

    private static func unmark(_ model: inout Model, _ keys: [String]) {
        guard !keys.isEmpty else { return }
        model.query?.marks.remove(keys)
        let entries = Figures.count(keys.count, "entry", "entries")
        model.say("Unmarked \(entries): no longer in the result.", seconds: 10)
    }

    /// Runs the query of the result again, unless another one is being edited.
    static func askAgain(_ model: inout Model, isAutomatic: Bool = false) -> [Effect] {
        guard let query = model.query, query.answer != nil, query.field.text == query.answered else {
            return []
        }
        return ask(&model, isAutomatic: isAutomatic)
    }

    /// The marked rows or, without marks, all as shown. Rows that are not in memory are read again: marked ones as whole entries, all
    /// by running the query again.
    static func export(_ model: Model) -> RowExport? {
        guard let query = model.query, let answer = query.answer,
            case .pipeline(let pipeline) = QueryPipeline.parse(query.answered)
        else { return nil }
        let allowsAccesses = query.allowsAccesses == query.answered
        var shown = (0..<query.view.count(of: answer)).map(query.view.row)
        guard query.marks.isEmpty else {
            shown += Set(answer.rows.indices).subtracting(shown).sorted()
            shown = shown.filter { answer.rows[$0].target.map { query.marks.contains($0.key) } ?? false }
            guard shown.count == query.marks.count, let kept = answer.export(shown) else {
                return .entries(
                    query.marks, hidden: query.hiddenMarks, of: query.archive, allowsAccesses: allowsAccesses)
            }
            return .marked(query.marks, hidden: query.hiddenMarks) {
                (_, file) throws(SourceError) in
                try kept(file)
            }
        }
        let amount = Figures.count(shown.count, "row", "rows")
        if answer.count == answer.rows.count, let kept = answer.export(shown) {
            return RowExport(amount: amount) { (_, file) throws(SourceError) in
                try kept(file)
            }
        }
        let request = QueryRequest(archive: query.archive, pipeline: pipeline, allowsAccesses: allowsAccesses)
        var export = RowExport(amount: "all rows") { (context, file) throws(SourceError) in
            try context.source.export(request, to: file, progress: context.progress)
        }
        export.remark = "the query was run again, so rows may differ from those shown"
        return export
    }

    // MARK: Explain

    private static func explain(_ model: inout Model) {
        guard let answer = model.query?.answer else { return model.say("No result to explain.") }
        let picture = answer.explanation.picture(
            model.look.glyphs, columns: OverlayPlaces.messageColumns(model))
        model.overlay = MessageBox("Query plan and timing", picture.map(\.keepingIndent))
    }

    private static func showSwift(_ model: inout Model) {
        guard let query = model.query, let pipeline = query.pipeline else {
            return model.say("The query has an error.", role: .warning)
        }
        let lines: [String]
        do {
            lines = try pipeline.swiftSource(archives: "archives").split(separator: "\n").map {
                String($0).keepingIndent
            }
        } catch {
            lines = ["\(error)"]
        }
        model.overlay = MessageBox("Query in Swift", lines)
    }
}

extension String {
    /// With leading spaces that a wrapping dialog keeps.
    var keepingIndent: String {
        let rest = drop { $0 == " " }
        return String(repeating: "\u{a0}", count: count - rest.count) + rest
    }
}
