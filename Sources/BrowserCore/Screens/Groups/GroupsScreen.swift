import ArchiveQuery
import CBOR
import StorageEngine
import StoreInspection
import TerminalKit

enum GroupsScreen: ScreenParts {
    static func path(_ model: Model) -> [String] {
        let below = model.groups?.level.below ?? ""
        return [TitleView.storeName(model), model.groups?.archive.name ?? "", "groups"]
            + (below.isEmpty ? [] : [below])
    }

    static func archive(_ model: Model) -> ArchiveAddress? { model.groups?.archive }

    /// The entries of the selected group, which are collected when an action needs them.
    static func targets(_ model: Model) -> ChosenEntries? {
        guard let state = model.groups else { return nil }
        var chosen = ChosenEntries(archive: state.archive, targets: [])
        if let groups = state.level.groups, let number = state.level.number {
            let places = groups.places(ofGroup: number)
            let name = TerminalText.sanitized(groups.groups[number].membership.description)
            chosen.group = model.look.cut(name, to: 40)
            chosen.isSlow = true
            chosen.complete = { (chosen, context) throws(SourceError) in
                CollectedTargets(groups.listing, places, context.progress).map { found in
                    var chosen = chosen.taking(found)
                    let removed = places.count - found.targets.count
                    if removed > 0, found.omission == nil {
                        chosen.omission =
                            "\(Figures.count(removed)) of \(Figures.count(places.count, "entry", "entries")) "
                            + "of the group \(removed == 1 ? "was" : "were") removed since it was computed."
                    }
                    return chosen
                }
            }
        }
        return chosen
    }

    static func command(_ model: Model) -> CommandLine.Words {
        guard let state = model.groups else { return .init("ls") }
        var words = command(state)
        if let scope = state.scope.words {
            words.remark = "Groups all entries; the screen groups those \(scope)."
        } else if !state.level.filter.isEmpty {
            words.remark = "Prints all groups; the filter has no command."
        }
        return words
    }

    private static func command(_ state: GroupsState) -> CommandLine.Words {
        typealias Words = CommandLine.Words
        var options: [String] = []
        switch state.level.groups?.grouping {
        case .property(let property)?:
            // Without quotes these names are keywords of the option.
            let name = property.description
            let isWord = ["prefix", "owner", "kind"].contains(name)
            options = Words.option("--by", isWord ? "\"\(name)\"" : name)
        case .kind?: options = ["--by", "kind"]
        case .owner?: options = ["--by", "owner"]
        case .prefix(let below, let separator)?:
            if !below.isEmpty { options = Words.option("--prefix", below) }
            // The default separator is the same as the screen's.
            if state.level.wanted != nil { options += ["--separator", String(UnicodeScalar(separator))] }
        case nil: break
        }
        if state.column != .bytes { options += ["--order", state.column.rawValue] }
        if state.isDescending != (state.column != .group) { options.append("--reverse") }
        return Words("groups", [state.archive.name], options: options)
    }

    static func listed(_ model: Model) -> Timestamp? { model.groups?.level.made }

    // MARK: View

    static func cursor(_ model: Model) -> Int { model.groups?.level.cursor ?? 0 }
    static func firstRow(_ model: Model) -> Int { model.groups?.level.top ?? 0 }
    static func table(_ model: Model) -> Table? { GroupsView.table(model) }

    static func problem(_ model: Model) -> String? {
        guard model.groups?.level.groups != nil else { return nil }
        return model.groups?.problem ?? model.archives.problem
    }

    static func age(_ model: Model) -> ScreenAge? {
        model.groups?.level.made.map { ScreenAge(.updated, since: $0, at: model.shownNow) }
    }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let level = model.groups?.level, let group = level.group else { return nil }
        return .line(
            [Span(group.name, model.look[.dim])],
            right: Figures.position(level.cursor, of: level.order.count))
    }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        model.groups?.level.group != nil || ![.open, .list, .sort, .delete, .expire, .export].contains(id)
    }

    static func export(_ model: Model) -> RowExport? {
        guard let level = model.groups?.level, let groups = level.groups, !level.order.isEmpty else {
            return nil
        }
        let names = ["group", "entries", "bytes", "hits", "accessed"]
        return .table(names, ("group", "groups"), count: level.order.count) { row in
            let group = groups.groups[level.order[row]]
            return [
                .text(group.name), .unsigned(UInt64(group.entries)), .unsigned(group.bytes),
                .unsigned(group.hits), group.accessed.microseconds > 0 ? .seconds(group.accessed) : nil,
            ]
        }
    }

    // MARK: Actions

    static func show(_ model: inout Model) -> [Effect] {
        guard let archive = model.archiveInView else { return [] }
        guard model.sample(archive)?.kind != .log else {
            return model.reply("Logs can't be grouped: messages have no keys.")
        }
        openGroups(of: archive, &model)
        return load(&model)
    }

    /// Opens groups of the shown entries or, from other screens, of all.
    private static func openGroups(of archive: ArchiveAddress, _ model: inout Model) {
        let entries = model.screen == .entries ? model.entries : nil
        model.groups = GroupsState(
            archive: archive, scope: entries.map(GroupsState.Scope.init) ?? GroupsState.Scope(),
            before: entries, outer: outer(model))
        model.screen = .groups
    }

    /// The groups that the shown entries were opened from.
    private static func outer(_ model: Model) -> [GroupsState] {
        guard model.screen == .entries, model.entries?.group != nil, let groups = model.groups else {
            return []
        }
        return [groups]
    }

    /// Counts the shown or grouped entries by a property.
    static func count(by grouping: Grouping, _ model: inout Model) -> [Effect] {
        if case .property(let property) = grouping, property.isMany {
            return model.reply(
                "An entry can have several \(property); use the query: count by \(property).",
                role: .warning,
                seconds: 10)
        }
        return Browser.readingValues(&model, for: "Counting", isNeeded: grouping.readsValues) { model in
            if model.screen == .entries, let entries = model.entries {
                openGroups(of: entries.archive, &model)
            }
            var level = GroupsState.Level()
            level.wanted = grouping
            model.groups?.levels = [level]
            model.groups?.column = .entries
            model.groups?.isDescending = true
            return load(&model)
        }
    }

    private static func load(_ model: inout Model) -> [Effect] {
        guard let state = model.groups else { return [] }
        var effects: [Effect] = state.ticket.map { [.stop(ticket: $0)] } ?? []
        let ticket = model.begin("grouping")
        model.groups?.ticket = ticket
        model.groups?.level.writes = model.cost.writes
        let (archive, level, scope, now) = (state.archive, state.level, state.scope, model.now)
        let allowsAccesses = model.archives.allowsReadingAll
        effects.append(
            .ask("group \(archive.name) below \"\(level.below)\"", ticket: ticket) {
                (context) throws(SourceError) in
                guard let (listing, chosen) = try entries(of: archive, scope, allowsAccesses, context)
                else { return nil }
                do throws(Stopped) {
                    return try group(
                        allowsAccesses ? listing.allowingAccesses() : listing, chosen, level, context)
                } catch {
                    return nil
                }
            } then: { model, result in
                grouped(&model, ticket, at: now, result)
            })
        return effects
    }

    private static func entries(
        of archive: ArchiveAddress, _ scope: GroupsState.Scope, _ allowsAccesses: Bool,
        _ context: QuestionContext
    ) throws(SourceError) -> (any EntryListing, Positions?)? {
        if scope.isAll {
            let listing = try context.source.listing(in: archive, holding: "", loadsMetadata: false) { _ in
                context.progress(0)
            }
            guard let listing, try listing.loadMetadata(context.progress) else { return nil }
            return (listing, nil)
        }
        var request = ArrangementRequest(in: archive, filter: scope.filter)
        (request.group, request.condition) = (scope.group, scope.condition)
        request.allowsAccesses = allowsAccesses
        let arranger = ListBuilder(source: context.source, clock: context.clock, progress: context.progress)
        guard let arrangement = try arranger.arrange(request)?.arrangement,
            try arrangement.listing.loadMetadata(of: arrangement.rows, context.progress)
        else { return nil }
        return (arrangement.listing, arrangement.rows)
    }

    private static func group(
        _ listing: any EntryListing, _ chosen: Positions?, _ level: GroupsState.Level,
        _ context: QuestionContext
    ) throws(Stopped) -> EntryGroups {
        func checkpoint(_ share: Double) throws(Stopped) {
            if !context.progress(share) { throw Stopped() }
        }
        // A level keeps its grouping when it is computed again.
        let wanted = level.wanted ?? level.groups.flatMap { $0.groups.isEmpty ? nil : $0.grouping }
        let keys =
            wanted?.needsKeys == false
            ? nil
            : try KeyIndex(listing) { index throws(Stopped) in
                try checkpoint(0.5 * Double(index) / Double(max(1, listing.count)))
            }
        let separator = keys?.separator(below: level.below)
        // Keys without a separator are grouped by owner or, on a server, by type.
        let grouping: Grouping =
            if let wanted { wanted } else if separator == nil, level.below.isEmpty {
                listing.isByRecency ? .owner : .property(.metadata(.type))
            } else {
                .prefix(below: level.below, separator: separator ?? Grouping.separators[0])
            }
        let before = keys == nil ? 0 : 0.5
        return try EntryGroups(
            listing, keys: keys, by: grouping, among: chosen, now: context.clock()
        ) { share throws(Stopped) in try checkpoint(before + (1 - before) * share) }
    }

    private static func grouped(
        _ model: inout Model, _ ticket: Int, at made: Timestamp, _ result: Result<EntryGroups?, SourceError>
    ) -> [Effect] {
        model.ends(ticket)
        guard var state = model.groups, state.ticket == ticket else { return [] }
        state.ticket = nil
        switch result {
        case .failure(let error): state.problem = error.description
        case .success(nil): break
        case .success(let groups?):
            state.problem = nil
            // A single group is skipped when a level opens: its groups or entries are shown.
            if state.level.groups == nil, state.level.wanted == nil, groups.groups.count == 1,
                groups.ungrouped == 0, groups.unmeasured == 0
            {
                if case .prefix(let beginning) = groups.groups[0].membership, groups.groups[0].entries > 1,
                    beginning.text != state.level.below
                {
                    state.level.below = beginning.text
                    model.groups = state
                    return load(&model)
                }
                if state.levels.count > 1 {
                    state.levels.removeLast()
                    model.groups = state
                    return showEntries(&model)
                }
            }
            let held = state.level.group?.membership
            let row = state.level.groups?.grouping == groups.grouping ? state.level.cursor : 0
            (state.level.groups, state.level.made) = (groups, made)
            state.level.limit = model.sample(state.archive)?.diskLimit.flatMap { $0 > 0 ? $0 : nil }
            state.level.order = []
            state.sort()
            state.level.nameColumns = state.level.order.prefix(1_000).reduce(state.level.nameColumns) {
                max($0, TextWidth.width(of: groups.groups[$1].name))
            }
            state.level.cursor = state.level.order.firstIndex { groups.groups[$0].membership == held } ?? row
        }
        model.groups = state
        return []
    }

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] { isForced ? load(&model) : [] }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard var state = model.groups else { return [] }
        let count = state.level.order.count
        state.level.cursor = max(0, min(state.level.cursor, count - 1))
        state.level.top = Table.firstRow(
            showing: state.level.cursor, of: count, in: layout.page, from: state.level.top)
        model.groups = state
        // Groups of every level are computed again after the browser's own changes.
        let isOutdated =
            state.level.groups != nil && state.level.writes != model.cost.writes
            && !(state.level.wanted?.readsValues == true && model.countsReads)
        return isOutdated && state.ticket == nil ? load(&model) : []
    }

    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        let count = model.groups?.level.order.count ?? 0
        model.groups?.level.cursor = max(0, min(row, count - 1))
        return []
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard let state = model.groups else { return [] }
        switch id {
        case .filter: model.prompt = .filtering(state.level.filter, placeholder: "part of a name")
        case .groupBy: chooseGrouping(&model, state.level)
        case .frequency: return EntriesScreen.chooseFrequency(&model)
        case .sort: sort(&model, by: GroupsView.columns(model).next(after: state.column))
        case .reverse: sort(&model, by: state.column)
        case .list: return showEntries(&model)
        default: break
        }
        return []
    }

    static func promptNote(_ model: Model) -> String {
        guard let level = model.groups?.level, let groups = level.groups else { return "" }
        return "  \(Figures.count(level.order.count)) of \(Figures.count(groups.groups.count))"
    }

    static func promptChanged(_ model: inout Model, _ text: String) -> [Effect] {
        model.groups?.level.filter = text
        model.groups?.sort()
        return []
    }

    static func clear(_ model: inout Model) -> [Effect] {
        model.groups?.level.filter.isEmpty == false ? promptChanged(&model, "") : back(&model)
    }

    private static func sort(_ model: inout Model, by column: GroupColumn) {
        guard var state = model.groups else { return }
        state.isDescending = state.column == column ? !state.isDescending : column != .group
        state.column = column
        state.sort()
        model.groups = state
    }

    private static func chooseGrouping(_ model: inout Model, _ level: GroupsState.Level) {
        let prefixes = Grouping.separators.map { Grouping.prefix(below: level.below, separator: $0) }
        // The first level has all entries, also if it skipped a common prefix.
        let isFirst = model.groups?.levels.count == 1
        let choices =
            prefixes + (!isFirst ? [] : model.isOfServer ? [.property(.metadata(.type))] : [.owner, .kind])
        var list = SearchList(
            title: "Group by", choices.map { SearchList.Item(text: $0.name) },
            placeholder: isFirst ? "a separator, owner or kind" : "a separator",
            nothing: "No grouping matches."
        ) { model, number in
            let wanted = choices[number]
            return Browser.readingValues(&model, for: "Grouping", isNeeded: wanted.readsValues) { model in
                if !wanted.needsKeys { model.groups?.level.below = "" }
                model.groups?.level.wanted = wanted
                model.groups?.level.filter = ""
                return load(&model)
            }
        }
        list.keys[0] = ("enter", "Group")
        list.selected = level.groups.flatMap { choices.firstIndex(of: $0.grouping) } ?? 0
        model.overlay = list
    }

    /// Opens the groups within the selected one, or its entries.
    static func open(_ model: inout Model) -> [Effect] {
        guard let group = model.groups?.level.group else { return [] }
        guard case .prefix(let beginning) = group.membership, group.entries > 1 else {
            return showEntries(&model)
        }
        var level = GroupsState.Level()
        level.below = beginning.text
        model.groups?.levels.append(level)
        return load(&model)
    }

    private static func showEntries(_ model: inout Model) -> [Effect] {
        guard let state = model.groups, let group = state.level.group else { return [] }
        var entries = EntriesState(archive: state.archive)
        let membership = group.membership
        entries.group = state.scope.group.map { .both($0, membership) } ?? membership
        (entries.filter, entries.condition) = (state.scope.filter, state.scope.condition)
        (entries.properties, entries.sample) = (state.before?.properties, state.before?.sample)
        entries.hiddenColumns = state.before?.hiddenColumns ?? []
        return EntriesScreen.show(entries, &model)
    }

    static func back(_ model: inout Model) -> [Effect] {
        guard let state = model.groups else { return [] }
        var effects: [Effect] = []
        if let ticket = state.ticket {
            model.groups?.ticket = nil
            model.ends(ticket)
            effects.append(.stop(ticket: ticket))
        }
        if state.levels.count > 1 {
            model.groups?.levels.removeLast()
            return effects
        }
        model.groups = state.outer.first
        model.entries = state.before
        model.screen = state.before == nil ? .archives : .entries
        return effects
    }

    static func sort(_ model: inout Model, byHeader header: Int) -> [Effect]? {
        let columns = GroupsView.columns(model)
        guard columns.indices.contains(header) else { return nil }
        sort(&model, by: columns[header])
        return []
    }
}
