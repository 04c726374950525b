import StorageEngine
import StoreInspection
import TerminalKit

extension EntriesScreen {
    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard let entries = model.entries else { return [] }
        switch id {
        case .filter:
            model.prompt = Prompt(
                label: "filter: ",
                field: TextField(
                    entries.filter, placeholder: "part of a key or regular expression; ! inverts"),
                keys: [("enter", "Keep"), ("tab", "Condition"), ("esc", "Clear"), ("up/down", "Move")])
        case .condition: return writeCondition(&model)
        case .frequency: return chooseFrequency(&model)
        case .sort: return sort(&model, by: EntriesView.bases(model).next(after: entries.order.basis))
        case .reverse: return arrange(&model, by: entries.order.reversed)
        case .sortByProperty:
            let bases = (entries.properties ?? []).map(EntryOrder.Basis.property)
            if let first = bases.first {
                let isSorted = bases.contains(entries.order.basis)
                return sort(&model, by: isSorted ? bases.next(after: entries.order.basis) : first)
            }
            model.say("No property has a column; \(Browser.keyName(model, .columns)) chooses columns.")
        case .mark:
            toggleMark(&model)
            return Browser.move(&model, by: 1)
        case .markAll: return markAll(&model)
        case .unmarkAll:
            if entries.marks.isEmpty { model.say("Nothing is marked.", seconds: 3) }
            model.entries?.marks = Marks()
        case .follow:
            model.entries?.follows.toggle()
            model.touched = nil
            let follows = model.entries?.follows == true
            model.say(follows ? "Following the top row." : "No longer following.", seconds: 3)
        case .preview: model.entries?.showsPreview.toggle()
        case .events:
            model.entries?.showsEvents.toggle()
            if model.entries?.showsEvents == true { Browser.missEvents(&model) }
        case .history: return entries.askedKey.map { Browser.showHistory(of: $0, in: entries.archive) } ?? []
        case .findNext:
            if entries.cursor + 1 < entries.count { return move(&model, to: entries.cursor + 1) }
            model.say(
                entries.count == 0
                    ? "Nothing matches the filter." : "No further match: the list has only matching entries.")
        case .nextVictim:
            if let effects = showLikelyVictims(&model) { return effects }
            let effects = Browser.refresh(&model, isForced: true)
            let ticket = model.entries?.ticket
            model.entries?.victimTicket = ticket
            return effects
        default: break
        }
        return []
    }

    static func isOlder(_ entries: EntriesState, _ seconds: Double, _ model: Model) -> Bool {
        entries.arrangement.map { model.now.seconds(since: $0.made) >= seconds } ?? true
    }

    static func toTop(_ model: inout Model) {
        model.entries?.cursor = 0
        model.entries?.top = 0
        model.entries?.key = nil
        model.entries?.isMoved = false
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        guard let entries = model.entries, entries.count > 0 else { return [] }
        let row = min(row, entries.count - 1)
        model.entries?.cursor = row
        model.entries?.key = entries.rows[row]?.key
        model.entries?.follows = false
        model.entries?.isMoved = true
        model.touched = model.now
        return []
    }

    // MARK: Own deletions

    /// Updates a server's list after a deletion or its undo without listing all keys; nil: all must be listed.
    /// - Parameters:
    ///   - keys: the deleted keys.
    ///   - count: the change of the number of keys.
    static func keepListing(
        without keys: [String] = [], changedBy count: Int, by action: ReversibleAction?,
        of archive: ArchiveAddress, _ model: inout Model
    ) -> [Effect]? {
        guard model.isOfServer, model.screen == .entries, let entries = model.entries, let action,
            entries.archive == archive, entries.ticket == nil, let listed = entries.arrangement,
            !listed.isPart
        else { return nil }
        let before = entries.deletion.flatMap { $0.id == action.id ? $0.before : nil }
        if keys.isEmpty, before == nil { return nil }
        model.entries?.deletion = keys.isEmpty ? nil : (action.id, listed)
        model.entries?.listedFigures?.entries += count
        model.entries?.shownFigures?.entries += count
        return ArchivesScreen.loadFigures(&model)
            + rearrange(&model, takingListing: false, isForced: true, base: before, removing: keys)
    }

    // MARK: Order and filter

    static func sort(_ model: inout Model, by basis: EntryOrder.Basis) -> [Effect] {
        guard let old = model.entries?.order else { return [] }
        let order = old.basis == basis ? old.reversed : EntryOrder(basis)
        return Browser.readingValues(&model, for: "The sort", isNeeded: order.property?.isMetadata == false) {
            readingMetadata(&$0, for: "Sorting by \(order.name)", isNeeded: order.needsFigures) {
                arrange(&$0, by: order)
            }
        }
    }

    /// Runs an action that reads the metadata of a server's keys. If there are many, asks first, once for each list.
    static func readingMetadata(
        _ model: inout Model, for purpose: String, isNeeded: Bool = true, ofNewList isNew: Bool = false,
        _ action: @escaping @Sendable (inout Model) -> [Effect]
    ) -> [Effect] {
        guard isNeeded, let entries = model.entries, !entries.allowsMetadata,
            !model.archives.allowsReadingAll,
            let keys = keysToRead(model, ofNewList: isNew), keys > maximumUnconfirmedKeys
        else { return action(&model) }
        model.overlay = Choice(
            title: "Read the metadata of all keys?",
            lines: [
                "\(purpose) reads the metadata of \(Figures.count(keys, "key", "keys")), "
                    + "about \(Figures.count(4 * keys)) lookups on the server."
            ], button: "Read"
        ) { model in
            guard model.entries?.archive == entries.archive else { return [] }
            model.entries?.allowsMetadata = true
            return action(&model)
        }
        return []
    }

    /// Sorts by a column of a server's list, counted from 0.
    static func sort(_ model: inout Model, byColumn place: Int) -> [Effect] {
        let bases = EntriesView.bases(model)
        if bases.indices.contains(place) { return sort(&model, by: bases[place]) }
        return model.reply("The list has \(Figures.count(bases.count, "column", "columns")).", seconds: 3)
    }

    /// Maximum number of keys whose metadata is read without confirmation; each takes four lookups.
    private static let maximumUnconfirmedKeys = 1_000

    /// Upper bound of the number of a server's keys with unknown metadata; nil: all is known.
    private static func keysToRead(_ model: Model, ofNewList isNew: Bool) -> Int? {
        guard model.isOfServer, let entries = model.entries,
            let arrangement = entries.arrangement, isNew || !arrangement.listing.knowsFigures
        else { return nil }
        let isFiltered = !arrangement.filter.isEmpty && entries.showsRequestedRows
        return isFiltered ? arrangement.count : model.sample(entries.archive)?.entries ?? arrangement.count
    }

    static func arrange(_ model: inout Model, by order: EntryOrder) -> [Effect] {
        model.entries?.order = order
        if let entries = model.entries, let victims = entries.victims, victims.order.basis != order.basis {
            model.entries?.condition = entries.ownCondition
            model.entries?.victims = nil
        }
        // The cursor stays with a key that it was moved to.
        if model.entries?.isMoved != true || model.entries?.cursor == 0 { toTop(&model) }
        model.entries?.isMoved = false
        return rearrange(&model, takingListing: model.pausedSince == nil && isOutdated(model), isForced: true)
    }

    static func promptNote(_ model: Model) -> String { "  " + EntriesView.countText(model) }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        guard case .condition? = model.prompt?.purpose else { return filter(&model, text) }
        model.entries?.cycle = nil
        return conditionTyped(&model, text)
    }

    static func promptEnded(_ model: inout Model, _ prompt: Prompt, isKept: Bool) -> [Effect] {
        guard case .condition = prompt.purpose else { return isKept ? [] : filter(&model, "") }
        return conditionEnded(&model, prompt, isKept: isKept)
    }

    static func promptTab(_ model: inout Model, backwards: Bool) -> [Effect] {
        guard case .condition? = model.prompt?.purpose else { return writeCondition(&model) }
        return completeCondition(&model, step: backwards ? -1 : 1)
    }

    static func filter(_ model: inout Model, _ text: String) -> [Effect] {
        model.touched = model.now
        guard model.entries?.filter != text else { return [] }
        model.entries?.filter = text
        let effects = rearrange(&model, takingListing: isOutdated(model), isForced: true)
        let isOfKeys = model.isOfServer && !text.isEmpty
        let ticket = model.entries?.ticket
        model.entries?.filterTicket = isOfKeys ? ticket : nil
        return effects
    }

    /// Whether a store's archive may have changed since the listing: a filter would miss entries stored since then.
    static func isOutdated(_ model: Model) -> Bool {
        guard let entries = model.entries, !model.isOfServer else { return false }
        let rates = model.archives.histories[ExactText(entries.archive.name)]?.now
        return model.pausedSince != nil || entries.shownFigures != model.sample(entries.archive)
            || rates.map { $0.records + $0.deletes + $0.evictions + $0.expirations > 0 } ?? false
    }

    /// Requests the rows again. A forced request replaces a running one.
    /// - Parameter base: the arrangement whose listing is reused; nil: the shown one, unless `takingListing`.
    static func rearrange(
        _ model: inout Model, takingListing: Bool, isForced: Bool, base: Arrangement? = nil,
        removing keys: [String] = []
    ) -> [Effect] {
        guard var entries = model.entries else { return [] }
        var effects: [Effect] = []
        if let ticket = entries.ticket {
            guard isForced else { return [] }
            effects.append(.stop(ticket: ticket))
        }
        let ticket = model.ticket()
        var request = request(entries, model)
        request.base =
            base ?? (takingListing || entries.arrangement?.isPart == true ? nil : entries.arrangement)
        request.removed = keys
        // Rows that another filter hides are not removed.
        if !isForced, entries.vanished.isEmpty, entries.showsRequestedRows {
            request.shown = (entries.top..<entries.top + request.visible).compactMap { entries.rows[$0]?.key }
        }
        if request.base == nil { entries.listedFigures = model.sample(entries.archive) }
        if takingListing, model.pausedSince != nil {
            model.pausedSince = model.now
            effects += ArchivesScreen.loadFigures(&model)
        }
        entries.ticket = ticket
        entries.growsList =
            model.isOfServer && isForced && request.base == nil && request.needsFigures
            && !entries.readsValues && (entries.arrangement?.isPart ?? true || entries.victims != nil)
        model.entries = entries
        if isForced {
            let isReading = entries.arrangement?.isPart ?? true || entries.showsRequestedRows
            var title = isReading ? "reading" : "filtering"
            if let shown = entries.arrangement, shown.order != entries.order {
                title = "sorting by \(entries.order.name)"
            }
            model.begin(Job(ticket: ticket, title: title, since: model.now))
        }
        let large = model.isOfServer ? ListBuilder.largeOfServer : ListBuilder.large
        if base == nil, entries.arrangement.map(\.isPart) ?? (request.expected >= large) {
            effects += showFirst(model)
        }
        return effects + [arrange(request, ticket: ticket)]
    }

    private static func request(_ entries: EntriesState, _ model: Model) -> ArrangementRequest {
        var request = ArrangementRequest(in: entries.archive, order: entries.order, filter: entries.filter)
        request.group = entries.group
        request.condition = entries.condition
        request.isOfMetadata = entries.condition != nil && entries.victims?.condition == entries.condition
        request.isGrowing = entries.growsList
        request.columns = entries.properties
        request.marks = entries.marks
        request.allowsAccesses = model.archives.allowsReadingAll
        request.expected = model.sample(entries.archive)?.entries ?? 0
        request.anchor = entries.follows ? nil : entries.key
        request.anchorRow = entries.follows ? 0 : entries.cursor
        request.visible = model.layout.page
        request.anchorOffset = entries.follows ? 0 : entries.cursor - entries.top
        return request
    }

    /// Shows the first rows of a large archive, with the filter, until the request ends.
    static func showFirst(_ model: Model) -> [Effect] {
        guard let entries = model.entries, let ticket = entries.ticket,
            case let request = request(entries, model), request.isInOrder || entries.growsList
        else { return [] }
        return .ask("first rows of \(request.archive.name)") { (context) throws(SourceError) in
            try ListBuilder(source: context.source, clock: context.clock).arrange(request, isFirst: true)
        } done: { model, result in
            // The request for the whole list reports errors.
            guard var entries = model.entries, entries.ticket == ticket,
                case .success(let arranged?) = result, arranged.arrangement.count > 0 || !entries.growsList
            else { return }
            take(arranged.remembered, in: &entries, &model)
            show(arranged, in: &entries, now: model.now)
            model.entries = entries
        }
    }

    package static func arrange(_ request: ArrangementRequest, ticket: Int) -> Effect {
        .ask("arrange \(request)", ticket: ticket) { (context) throws(SourceError) in
            try ListBuilder(source: context.source, clock: context.clock, progress: context.progress)
                .arrange(request)
        } then: { model, result in
            arranged(&model, ticket, result, anchor: request.anchor)
        }
    }

    private static func arranged(
        _ model: inout Model, _ ticket: Int, _ result: Result<Arranged?, SourceError>, anchor: String?
    ) -> [Effect] {
        guard var entries = model.entries, entries.ticket == ticket else { return [] }
        entries.ticket = nil
        model.ends(ticket)
        switch result {
        case .failure(let error):
            entries.problem = error.description
            entries.listedFigures = nil
            // Errors aren't retried with every tick.
            entries.notBefore = model.now.adding(seconds: 1)
        case .success(nil): break
        case .success(let arranged?):
            guard arranged.vanished.isEmpty else {
                // Removed rows stay visible for a moment.
                entries.vanished = arranged.vanished
                entries.listedFigures = nil
                entries.notBefore = model.now.adding(seconds: EntriesState.vanishedSeconds)
                break
            }
            take(arranged.remembered, in: &entries, &model)
            if entries.arrangement?.isPart == true, model.touched != nil, !entries.follows,
                !entries.showsLikelyVictims, entries.key != anchor
            {
                // A key among the first rows was selected during the request.
                model.entries = entries
                return rearrange(&model, takingListing: false, isForced: false, base: arranged.arrangement)
            }
            show(arranged, in: &entries, now: model.now)
            model.entries = entries
            if entries.victimTicket == ticket { return moveToVictim(&model) }
            let isOutdated = arranged.isOutdated
            let age = isOutdated ? EntriesState.oldList.removed : EntriesState.oldList.filter
            return listAgain(&model, if: isOutdated || entries.filterTicket == ticket, ofAge: age)
        }
        model.entries = entries
        return []
    }

    /// Lists the keys again, unless the list is younger than some seconds, updates are paused, or that counts as accesses.
    private static func listAgain(
        _ model: inout Model, if isNeeded: Bool, ofAge seconds: Double = EntriesState.oldList.removed
    ) -> [Effect] {
        guard isNeeded, let entries = model.entries, isOlder(entries, seconds, model),
            model.pausedSince == nil, !(entries.readsValues && model.countsReads)
        else { return [] }
        return rearrange(&model, takingListing: true, isForced: false)
    }

    private static func take(
        _ remembered: Result<ChosenColumns?, SourceError>?, in entries: inout EntriesState,
        _ model: inout Model
    ) {
        guard let remembered, entries.properties == nil else { return }
        entries.properties = []
        switch remembered {
        case .success(nil): break
        case .success(let chosen?):
            entries.properties = chosen.properties
            entries.hiddenColumns = Set(chosen.hidden)
        case .failure(let error):
            model.say("Can't read the chosen columns: \(error.description)", role: .warning, seconds: 10)
        }
    }

    static let longestWait = 300.0

    private static func show(_ arranged: Arranged, in entries: inout EntriesState, now: Timestamp) {
        let old = entries.arrangement
        let isSameFilter =
            old?.filter == arranged.arrangement.filter && old?.condition == arranged.arrangement.condition
        flash(arranged.rows.entries.values, in: &entries, isFirst: old == nil, now: now)
        let offset = entries.cursor - entries.top
        entries.arrangement = arranged.arrangement
        (entries.hiddenMarks, entries.removedMarks) = (arranged.hiddenMarks, arranged.removedMarks)
        entries.vanished = []
        entries.problem = nil
        entries.rowsTicket = nil
        if arranged.isNew { (entries.shownFigures, entries.deletion) = (entries.listedFigures, nil) }
        // Limits the cost of refreshing to about 1 % of a core, and the interval to five minutes.
        let next = now.adding(seconds: min(100 * arranged.cost, longestWait))
        entries.notBefore = arranged.isNew ? next : max(next, entries.notBefore ?? next)
        let count = arranged.arrangement.count
        if entries.follows {
            (entries.cursor, entries.top) = (0, 0)
        } else if let row = arranged.anchorRow {
            entries.cursor = row
            if !entries.keepsTop { entries.top = max(0, row - offset) }
        } else {
            entries.cursor = isSameFilter ? max(0, min(entries.cursor, count - 1)) : 0
            entries.top = max(0, entries.cursor - offset)
            entries.key = nil
        }
        entries.keepsTop = false
        entries.replaceRows(arranged.rows)
        // An entry that was removed may be present again with the same sequence number.
        if entries.preview.problem != nil, !entries.preview.isPending { entries.preview = Preview() }
    }

    /// Highlights rows that appeared or were replaced since the last listing.
    private static func flash(
        _ shown: some Sequence<EntryMetadata>, in entries: inout EntriesState, isFirst: Bool, now: Timestamp
    ) {
        guard !isFirst else { return }
        let before = Dictionary(
            entries.rows.values.map { (ExactText($0.key), $0.sequence) },
            uniquingKeysWith: { first, _ in first })
        let until = now.adding(seconds: Flash.seconds)
        for entry in shown {
            if let sequence = before[ExactText(entry.key)] {
                if sequence != entry.sequence {
                    entries.flashes[ExactText(entry.key)] = Flash(role: .changed, until: until)
                }
            } else if now.seconds(since: entry.created) < Flash.seconds {
                entries.flashes[ExactText(entry.key)] = Flash(role: .new, until: until)
            }
        }
    }

    // MARK: Rows in view

    static let removedText = "The entry was removed."

    /// Reads rows. Removed ones that weren't visible are replaced by the next.
    private static func loadRows(
        _ range: Range<Int>, of arrangement: Arrangement, _ entries: EntriesState, ticket: Int
    ) -> Effect {
        let (seen, properties) = (entries.rows, entries.properties ?? [])
        let isAgain = entries.read.holds(range, properties)
        return .ask("\(isAgain ? "refresh" : "load") rows \(range)") { context in
            PresentRows(of: arrangement, in: range, showing: properties, now: context.clock(), seen: seen)
        } then: { model, result in
            guard var entries = model.entries, entries.rowsTicket == ticket,
                case .success(let present) = result
            else { return [] }
            entries.rowsTicket = nil
            if isAgain, !present.rows.problems.isEmpty {
                // An unreachable server's last rows stay.
                entries.read.made = present.rows.made
                model.entries = entries
                return listAgain(&model, if: present.isOutdated)
            }
            entries.arrangement = present.arrangement
            // The cursor stays with its key or moves to the next row.
            (entries.cursor, entries.top) = (present.row(entries.cursor), present.row(entries.top))
            entries.vanished.formUnion(present.rows.vanished)
            if isAgain, present.rows.range == range {
                entries.read.update(present.rows)
            } else {
                entries.replaceRows(present.rows)
            }
            model.entries = entries
            return listAgain(&model, if: present.isOutdated)
        }
    }

    /// Whether visible rows and their value are read again: each second of a server, which doesn't report changes of its keys.
    private static func isOutdated(_ read: Timestamp?, _ model: Model) -> Bool {
        guard model.isOfServer, model.pausedSince == nil, model.archives.problem == nil, let read
        else { return false }
        return model.now.seconds(since: read) >= 1
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard var entries = model.entries, let arrangement = entries.arrangement else { return [] }
        defer { model.entries = entries }
        entries.unreported = EntriesView.unreported(model)
        let page = layout.page
        let count = arrangement.count
        entries.cursor = max(0, min(entries.cursor, count - 1))
        entries.top = Table.firstRow(showing: entries.cursor, of: count, in: page, from: entries.top)
        var effects: [Effect] = []
        let visible = entries.top..<min(count, entries.top + page)
        let isRead = entries.read.holds(visible, entries.properties ?? [])
        let isOld = !entries.read.range.isEmpty && isOutdated(entries.read.made, model)
        if !isRead || isOld, entries.rowsTicket == nil {
            let margin = isRead ? 0 : page
            let range = max(0, visible.lowerBound - margin)..<min(count, visible.upperBound + margin)
            let ticket = model.ticket()
            entries.rowsTicket = ticket
            effects.append(loadRows(range, of: arrangement, entries, ticket: ticket))
        }
        if count == 0 {
            entries.key = nil
            if !entries.preview.isPending { entries.preview = Preview() }
        } else if let entry = entries.rows[entries.cursor] {
            entries.key = entry.key
        } else if let problem = entries.read.problems[entries.cursor], !entries.preview.isPending {
            entries.preview = Preview(problem: problem)
        } else if entries.read.range.contains(entries.cursor), !entries.preview.isPending {
            entries.key = nil
            entries.preview = Preview(problem: removedText)
        }
        if let effect = preview(&entries, layout, model) { effects.append(effect) }
        return effects
    }

    private static func preview(
        _ entries: inout EntriesState, _ layout: ScreenLayout, _ model: Model
    ) -> Effect? {
        let shown = entries.preview
        guard !layout.pane.isEmpty, !shown.isPending, !model.withholdsValues,
            let entry = entries.rows[entries.cursor]
        else { return nil }
        let isSameKey = shown.key.map(ExactText.init) == ExactText(entry.key)
        let isSame = isSameKey && shown.sequence == entry.sequence
        // Without a request, the value isn't read again if that counts as an access.
        let isDue =
            shown.failed.map { model.now.seconds(since: $0) >= 1 }
            ?? (!model.countsReads && isOutdated(shown.read, model))
        guard !isSame || isDue else { return nil }
        let isShown = shown.load.map { ExactText($0.entry.key) } == ExactText(entry.key)
        let allowsUse = model.archives.allowsUse
        entries.preview.failed = nil
        entries.preview.isPending = true
        entries.preview.key = entry.key
        entries.preview.sequence = entry.sequence
        entries.preview.since = isSame && isShown ? nil : model.now
        let (key, archive) = (entry.key, entries.archive)
        return .ask("load value \(archive.name)/\(key) for preview") { (context) throws(SourceError) in
            if allowsUse { context.source.allowUse(of: nil, in: archive) }
            return try ValueLoad.load(key, limit: ValueLoad.previewLimit, in: archive, from: context.source)
        } done: { model, result in
            guard model.entries?.archive == archive,
                model.entries?.preview.key.map(ExactText.init) == ExactText(key)
            else { return }
            model.entries?.preview.isPending = false
            switch result {
            case .success(let load):
                if let load { model.entries?.restoreRow(load.entry) }
                model.entries?.preview.load = load
                model.entries?.preview.read = model.now
                model.entries?.preview.problem = load == nil ? removedText : nil
                model.entries?.preview.failed = load == nil ? model.now : nil
                // The removed row stays visible for a moment.
                if load == nil { model.entries?.vanished.insert(ExactText(key)) }
            case .failure(let error):
                model.entries?.preview.failed = model.now
                // The last value stays, with its age.
                if model.entries?.preview.since == nil { return }
                model.entries?.preview.load = nil
                model.entries?.preview.problem = error.description
            }
        }
    }
}
