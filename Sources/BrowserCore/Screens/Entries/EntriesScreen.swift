import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

enum EntriesScreen: ScreenParts {
    /// Screens of this width show the value beside the list.
    private static let besideColumns = 100

    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.entries?.archive.name ?? ""]
            + (model.entries?.group.map { [$0.name] } ?? [])
    }

    static func archive(_ model: Model) -> ArchiveAddress? { model.entries?.archive }

    static func key(_ model: Model) -> String? { model.entries?.key }

    static func targets(_ model: Model) -> ChosenEntries? {
        model.entries.map { entries in
            let (isMarked, vanished) = (!entries.marks.isEmpty, entries.vanished)
            var targets = isMarked ? entries.marks.list : []
            if !isMarked, let entry = entries.rows[entries.cursor], !vanished.contains(ExactText(entry.key)) {
                targets = [entry.target]
            }
            var chosen = ChosenEntries(
                archive: entries.archive, targets: targets, canBeOthers: entries.count > 0,
                incompleteReason: entries.marking != nil
                    ? Browser.stillMarking : !isMarked && entries.isCursorUnread ? Browser.notRead : nil,
                absence: entries.count == 0
                    ? " No entries are shown." : vanished.isEmpty ? "" : " \(removedText)")
            guard isMarked, let arrangement = entries.arrangement else { return chosen }
            let (marks, shown) = (entries.marks, entries.rows.values)
            chosen.isSlow = arrangement.isFiltered || !arrangement.listing.isByRecency
            chosen.complete = { (chosen, context) throws(SourceError) in
                var chosen = chosen
                let removed = try marks.absent(in: chosen.archive, context.source) { context.progress(0) }
                guard let removed,
                    let hidden = arrangement.missing(of: marks.keys, shown: shown, context.progress)
                else { return nil }
                chosen.hidden = hidden
                chosen.leaveOut(marks.areLookedUp ? removed : vanished)
                return chosen
            }
            return chosen
        }
    }

    static func listed(_ model: Model) -> Timestamp? { model.entries?.arrangement?.made }

    static func age(_ model: Model) -> ScreenAge? {
        guard let entries = model.entries, let arrangement = entries.arrangement, !arrangement.isPart,
            let sample = model.sample(entries.archive),
            entries.shownFigures != sample || entries.showsLikelyVictims
        else { return nil }
        let made = arrangement.made
        let age = ScreenAge(.updated, since: made, at: model.now)
        return age.seconds < 2 ? nil : age
    }

    static func follows(_ model: Model) -> Bool { model.entries?.follows == true }

    static func command(_ model: Model) -> CommandLine.Words {
        guard let entries = model.entries else { return .init("ls") }
        guard !entries.marks.isEmpty else {
            return listing(entries)
        }
        return .removing(entries.marks, from: entries.archive)
    }

    private static func listing(_ entries: EntriesState) -> CommandLine.Words {
        let order = entries.order
        let isAll = entries.condition == nil && entries.filter.isEmpty && entries.group == nil
        if let column = order.column, isAll {
            // The command sorts in the same directions by default.
            let isReversed = order.descending != column.beginsDescending
            return .init(
                "keys", [entries.archive.name],
                options: ["--order", column.rawValue] + (isReversed ? ["--reverse"] : []))
        }
        let pipeline = pipeline(entries)
        var words =
            pipeline.stages.isEmpty
            ? CommandLine.Words("keys", [entries.archive.name])
            : CommandLine.Words("query", [entries.archive.name, pipeline.description])
        if let inexpressible = entries.group, inexpressible.predicate == nil {
            words.remark =
                "Lists more entries than the screen: no condition can express \(inexpressible.description)."
        } else if entries.filter.unicodeScalars.contains(where: { !$0.isASCII }) {
            words.remark = "The command finds whole characters; the screen also parts of them."
        }
        return words
    }

    private static func pipeline(_ entries: EntriesState) -> QueryPipeline {
        let order = entries.order
        var stages: [PipelineStage] = []
        if !entries.filter.isEmpty {
            stages.append(.find(matching(entries.filter)))
        }
        if let group = entries.group?.predicate { stages.append(.find(group)) }
        if let condition = entries.condition { stages.append(.find(condition.predicate)) }
        let basis =
            order.property
            ?? order.column.flatMap { QueryMetadata(rawValue: $0.title) }
            .map(QueryProperty.metadata)
        if let basis, order != .recency, order != .found {
            stages.append(.sort([QuerySortKey(basis, isDescending: order.descending)]))
        }
        return QueryPipeline(stages)
    }

    /// The listed entries as rows of a file; nil without entries, and if no query can express them.
    static func listExport(_ model: Model) -> RowExport? {
        guard model.screen == .entries, let entries = model.entries, entries.count > 0,
            entries.group == nil || entries.group?.predicate != nil
        else { return nil }
        let request = QueryRequest(
            archive: entries.archive, pipeline: pipeline(entries),
            allowsAccesses: model.archives.allowsReadingAll)
        return RowExport(
            amount: Figures.count(total(entries, model), "entry", "entries"), noun: ("entry", "entries")
        ) { (context, file) throws(SourceError) in
            try context.source.export(request, to: file, progress: context.progress)
        }
    }

    /// The predicate of a filter: the text as typed, with its escapes decoded, or as a regular expression.
    static func matching(_ filter: String) -> QueryPredicate {
        let pattern = FilterPattern(filter)
        let text = pattern?.text ?? filter
        let texts = [text] + [TerminalText.unescaped(text)].compactMap { $0 }
        var parts = texts.map { QueryPredicate.contains(.metadata(.key), $0, caseSensitive: false) }
        if pattern?.isExpression == true { parts.append(.matches(.metadata(.key), pattern: "(?i)" + text)) }
        let predicate = parts.count == 1 ? parts[0] : .or(parts)
        return pattern?.isInverse == true ? .not(predicate) : predicate
    }

    // MARK: View

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        var parts = ScreenLayout.Parts(rest, infoRows: isTall ? 1 : 0)
        if model.entries?.showsEvents == true, parts.list.rows >= 6 + ScreenLayout.eventRows {
            (parts.list, parts.events) = parts.list.split(
                bottom: max(ScreenLayout.eventRows, min(12, parts.list.rows / 4)))
        }
        guard model.entries?.showsPreview == true, model.entries?.arrangement != nil else { return parts }
        let available = parts.list
        if available.columns >= besideColumns, available.rows >= 6 {
            let sides = available.split(right: min(60, available.columns * 2 / 5))
            (parts.list, parts.pane, parts.isBeside) = (sides.rest.inset(right: 1), sides.right, true)
        } else if available.rows >= 14 {
            (parts.list, parts.pane) = available.split(bottom: min(16, available.rows * 2 / 5))
        }
        return parts
    }

    static func cursor(_ model: Model) -> Int { model.entries?.cursor ?? 0 }
    static func firstRow(_ model: Model) -> Int { model.entries?.top ?? 0 }

    static func table(_ model: Model) -> Table? { EntriesView.table(model) }

    static func problem(_ model: Model) -> String? {
        // Without rows, the list area shows the problem in full.
        guard model.entries?.arrangement != nil else { return nil }
        return model.archives.problem ?? model.entries?.problem
    }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let entries = model.entries, entries.count > 0 else { return nil }
        let look = model.look
        var spans = [Span(entries.key ?? "", look[.dim])]
        if entries.isVictim(row: entries.cursor) {
            spans.append(Span("  evicted next", look[.disappearing]))
        }
        return .line(spans, right: Figures.position(entries.cursor, of: total(entries, model)))
    }

    /// The number of rows, with those that aren't listed yet.
    private static func total(_ entries: EntriesState, _ model: Model) -> Int {
        guard entries.arrangement?.isPart == true else { return entries.count }
        return max(entries.count, model.sample(entries.archive)?.entries ?? 0)
    }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        guard let entries = model.entries, entries.arrangement != nil else { return true }
        let changes: [ActionID] = [.mark, .markAll, .delete, .expire, .editValue, .newEntry]
        if changes.contains(id), TitleView.isArchiveRemoved(model) { return false }
        switch id {
        case .open, .mark, .markAll, .delete, .expire, .copy, .pager, .pipe, .write, .editValue, .sort,
            .frequency:
            return entries.count > 0 || !entries.marks.isEmpty
        case .filter: return entries.count > 0 || !entries.filter.isEmpty
        default: return true
        }
    }

    // MARK: Actions

    /// With a filter or condition, a key of both actions goes to the next match instead of creating an entry.
    static func action(for key: Key, _ id: ActionID, _ model: Model) -> ActionID {
        guard id == .newEntry, let entries = model.entries,
            !entries.filter.isEmpty || entries.condition != nil,
            model.keyMap.action(.findNext)?.keys.contains(key) == true
        else { return id }
        return .findNext
    }

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        guard isForced else { return [] }
        // Among likely victims the cursor stays at its row, because the key may no longer be one.
        if model.entries?.showsLikelyVictims == true { model.entries?.key = nil }
        return rearrange(&model, takingListing: true, isForced: true)
    }

    static func show(_ entries: EntriesState, _ model: inout Model) -> [Effect] {
        model.entries = entries
        if model.isOfServer { model.entries?.order = .found }
        model.touched = nil
        model.screen = .entries
        return rearrange(&model, takingListing: true, isForced: true)
    }

    static func open(_ model: inout Model) -> [Effect] {
        guard let entries = model.entries, let key = entries.key else {
            if let problem = model.entries.flatMap({ $0.read.problems[$0.cursor] }) {
                model.say(problem, role: .error)
            } else if model.entries?.count ?? 0 > 0 {
                model.say("The entry was removed; \(Browser.keyName(model, .refresh)) refreshes the list.")
            }
            return []
        }
        return ValueScreen.show(ValueState(archive: entries.archive, key: key), &model)
    }

    static func back(_ model: inout Model) -> [Effect] {
        let ticket = model.entries?.ticket
        let isOfGroup = model.entries?.group != nil && model.groups != nil
        model.entries = isOfGroup ? model.groups?.before : nil
        model.endOtherWork()
        model.screen = isOfGroup ? .groups : .archives
        return ticket.map { [.stop(ticket: $0)] } ?? []
    }

    static func clear(_ model: inout Model) -> [Effect] {
        if model.entries?.filter.isEmpty == false { return filter(&model, "") }
        if let entries = model.entries, let condition = entries.condition {
            return applyCondition(&model, condition == entries.ownCondition ? nil : entries.ownCondition)
        }
        if model.entries?.marks.isEmpty == false {
            model.entries?.marks = Marks()
            return []
        }
        return back(&model)
    }

    static func scroll(columns: Int, _ model: inout Model) {
        let first = EntriesView.scrolled(model.entries, by: columns)
        model.entries?.firstColumn = first
    }

    static func drag(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        let bar = EntriesView.table(model).layout(in: layout.list).scrollBar
        return bar.contains(point) ? click(&model, point, layout) : []
    }

    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        let table = EntriesView.table(model)
        let places = table.layout(in: layout.list)
        if places.scrollBar.contains(point) {
            let bar = ScrollBar(total: table.rowCount, first: table.firstRow, visible: places.body.rows)
            let top = bar.first(forThumbAt: point.row - places.scrollBar.row, in: places.scrollBar.rows)
            model.entries?.top = top
            return move(&model, to: top)
        }
        return clickTable(&model, point, layout)
    }

    static func sort(_ model: inout Model, byHeader header: Int) -> [Effect]? {
        EntriesView.columns(model.entries)[EntriesView.shown(model.entries)[header]].basis.map {
            sort(&model, by: $0)
        }
    }
}

extension EntriesScreen {
    /// Lists the entries again if they changed, unless the rows are frozen.
    static func figuresLoaded(_ model: inout Model) -> [Effect] {
        guard let entries = model.entries, case .live = model.pace else { return [] }
        if entries.ticket != nil {
            guard entries.arrangement?.isPart == true else {
                return entries.growsList ? showFirst(model) : []
            }
            // Sorting the part takes at most 1 % of the time.
            let isDue = entries.growsList && entries.notBefore.map { model.now >= $0 } ?? true
            return isDue || !entries.filter.isEmpty ? showFirst(model) : []
        }
        guard let sample = model.sample(entries.archive) else {
            if model.archives.figures != nil, model.archives.problem == nil {
                model.entries?.problem = "Archive \(entries.archive.name) was removed."
            }
            return []
        }
        if let problem = sample.problem {
            model.entries?.problem = problem
            return []
        }
        let isReplaced = entries.listedFigures.map { $0.identity != sample.identity } ?? false
        if isReplaced {
            // Another archive has this name now, or the server was restarted.
            model.entries?.preview = Preview()
            model.entries?.marks = Marks()
            model.entries?.listedFigures = nil
        }
        // Each new list would count as accesses; the top bar shows the age of this one.
        if entries.readsValues, model.countsReads { return [] }
        if !isReplaced, let notBefore = entries.notBefore, model.now < notBefore { return [] }
        guard entries.listedFigures != sample || entries.problem != nil || hasExpired(entries, model.now)
        else { return [] }
        return rearrange(&model, takingListing: true, isForced: false)
    }

    /// Whether a row expired since the listing was taken, which the store's figures don't show.
    private static func hasExpired(_ entries: EntriesState, _ now: Timestamp) -> Bool {
        guard let made = entries.arrangement?.made else { return false }
        return entries.rows.values.contains { entry in
            entry.expires.map { $0 <= now && $0 > made } ?? false
        }
    }
}
