import CacheSimulation
import StorageEngine
import StoreInspection
import TerminalKit

/// Simulated hit ratios of an archive at other limits and under other policies.
enum AdviseScreen: ScreenParts {
    /// Minimum seconds between two requests: each simulates all policies at all limits.
    private static let interval = 2.0

    static func path(_ model: Model) -> [String] {
        [TitleView.storeName(model), model.advise?.archive.name ?? "", "advise"]
    }

    static func archive(_ model: Model) -> ArchiveAddress? { model.advise?.archive }

    static func command(_ model: Model) -> CommandLine.Words {
        .init("advise", [model.advise?.archive].compactMap { $0?.name })
    }

    // MARK: View

    static func divide(_ rest: Rect, _ model: Model, isTall: Bool) -> ScreenLayout.Parts {
        var parts = ScreenLayout.Parts(rest, infoRows: 0)
        guard let advice = model.advise?.advice else { return parts }
        let lines = AdviseView.lines(advice, columns: rest.columns)
        (parts.info, parts.list) = rest.split(top: isTall ? min(lines.count, max(2, rest.rows / 4)) : 0)
        let hasExpired = advice.expiredWords != nil && parts.list.rows >= 14
        (parts.list, parts.events) = parts.list.split(bottom: hasExpired ? 1 : 0)
        let hasGroups = !advice.groups.isEmpty && parts.list.rows >= 12
        let rows = hasGroups ? min(advice.groups.count + 1, max(4, parts.list.rows / 3)) : 0
        (parts.pane, parts.list) = parts.list.split(bottom: rows)
        return parts
    }

    static func cursor(_ model: Model) -> Int { model.advise?.row ?? 0 }
    static func firstRow(_ model: Model) -> Int { model.advise?.top ?? 0 }
    static func table(_ model: Model) -> Table? { model.advise?.advice.map { AdviseView.table(model, $0) } }

    static func problem(_ model: Model) -> String? {
        guard let state = model.advise, state.advice != nil || state.problem == nil else { return nil }
        return state.problem ?? model.archives.problem
    }

    static func place(_ model: Model) -> StatusView.Content? {
        guard let state = model.advise, let groups = state.advice?.groups, groups.indices.contains(state.row)
        else { return nil }
        return .line(
            [Span(groups[state.row].name, model.look[.dim])],
            right: Figures.position(state.row, of: groups.count))
    }

    static func hasEffect(_ id: ActionID, _ model: Model) -> Bool {
        let ofLimits: Set<ActionID> = [.smallerLimit, .largerLimit, .resizeToMarked]
        return !ofLimits.contains(id) || model.advise?.advice?.points.isEmpty == false
    }

    // MARK: Actions

    static func show(_ model: inout Model) -> [Effect] {
        guard let archive = model.archiveInView else { return [] }
        guard model.sample(archive)?.kind != .log else {
            return model.reply("Logs can't be simulated: messages have no keys.")
        }
        model.advise = AdviseState(archive: archive, origin: model.screen)
        model.screen = .advise
        return refresh(&model, isForced: true)
    }

    static func refresh(_ model: inout Model, isForced: Bool) -> [Effect] {
        let now = model.now
        guard let state = model.advise, !state.isPending,
            isForced || state.asked.map({ abs(now.seconds(since: $0)) >= interval }) ?? true
        else { return [] }
        model.advise?.isPending = true
        model.advise?.asked = now
        let (archive, advisor) = (state.archive, state.advisor)
        // With a ticket it runs on the queue of long work, and doesn't delay figures and events.
        return .ask("simulate \(archive.name)", ticket: model.ticket()) { (context) throws(SourceError) in
            try context.source.advice(in: archive, by: advisor)
        } done: { model, result in
            guard var state = model.advise, state.archive == archive else { return }
            state.isPending = false
            // A paused screen keeps what it shows.
            if let pause = model.pausedSince, now < pause, state.isLoaded { return model.advise = state }
            state.isLoaded = true
            switch result {
            case .success(let advice): (state.advice, state.problem) = (advice, nil)
            case .failure(let error): state.problem = error.description
            }
            model.advise = state
        }
    }

    static func open(_ model: inout Model) -> [Effect] { [] }

    static func back(_ model: inout Model) -> [Effect] {
        let origin = model.advise?.origin ?? .archives
        model.advise = nil
        model.goBack(to: origin)
        return []
    }

    static func perform(_ model: inout Model, _ id: ActionID) -> [Effect] {
        guard let state = model.advise, let advice = state.advice else { return [] }
        let limits = advice.limits
        guard let marked = state.marked(among: limits) else { return [] }
        switch id {
        case .smallerLimit, .largerLimit:
            let next = marked + (id == .largerLimit ? 1 : -1)
            guard limits.indices.contains(next) else {
                return model.reply("No limit beyond this one is simulated.", seconds: 3)
            }
            mark(limits[next], &model)
        case .resizeToMarked:
            let limit = limits[marked]
            let policy = limit == Int(clamping: advice.limit) ? advice.recommendedPolicy : nil
            let ratio = advice.hitRatio(policy.map(CachePolicy.init) ?? advice.policy, limit: limit)
            let reason = ratio.map { "simulated hit ratio \(Figures.percent($0))" } ?? ""
            ArchivesScreen.ask(
                id, of: state.archive, proposing: (UInt64(clamping: limit), reason), policy: policy, &model)
        default: break
        }
        return []
    }

    private static func mark(_ limit: Int, _ model: inout Model) {
        model.advise?.limit = limit
        model.advise?.isInGroups = false
    }

    /// Marks the first or last limit.
    static func move(_ model: inout Model, to row: Int) -> [Effect] {
        let limits = model.advise?.advice?.limits
        if let limit = row == 0 ? limits?.first : limits?.last { mark(limit, &model) }
        return []
    }

    /// Selects another group.
    static func move(_ model: inout Model, by rows: Int) -> [Effect] {
        select(cursor(model) + rows, &model)
        return []
    }

    private static func select(_ row: Int, _ model: inout Model) {
        guard let groups = model.advise?.advice?.groups, !groups.isEmpty, !model.layout.list.isEmpty else {
            return
        }
        model.advise?.group = groups[max(0, min(row, groups.count - 1))].name
        model.advise?.isInGroups = true
    }

    static func click(_ model: inout Model, _ point: Point, _ layout: ScreenLayout) -> [Effect] {
        if let row = row(at: point, model, layout) { select(row, &model) }
        return []
    }

    static func settle(_ model: inout Model, _ layout: ScreenLayout) -> [Effect] {
        guard let state = model.advise, let groups = state.advice?.groups else { return [] }
        model.advise?.top = Table.firstRow(
            showing: state.row, of: groups.count, in: layout.page, from: state.top)
        return []
    }
}
