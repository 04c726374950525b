import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

extension Browser {
    static func planDelete(_ model: inout Model) -> [Effect] {
        withChosen(&model) { plan(&$0, .delete, $1) }
    }

    private static func plan(
        _ model: inout Model, _ action: PlannedAction, _ chosen: ChosenEntries, idle: Duration? = nil
    ) {
        guard !chosen.targets.isEmpty else {
            return model.say("No entry to \(action.verb).\(chosen.reason)")
        }
        model.overlay = Plan(action, of: chosen, idle: idle)
    }

    static func askExpiry(_ model: inout Model) -> [Effect] {
        withChosen(&model) { model, chosen in
            guard !chosen.targets.isEmpty || chosen.canBeOthers && chosen.removed.isEmpty else {
                return model.say("No entry to expire.\(chosen.reason)")
            }
            model.overlay = ExpireForm(chosen)
        }
    }

    static let stillMarking = "Still marking. Try again when it is done."
    static let nowMarked = "The entries are marked now. Press the key again."
    static let notRead = "The row is still loading. Try again."

    private static func withChosen(
        _ model: inout Model, _ body: @escaping @Sendable (inout Model, ChosenEntries) -> Void
    ) -> [Effect] {
        guard let chosen = model.parts.targets(model) else { return [] }
        if let reason = chosen.incompleteReason { return model.reply(reason, role: .warning) }
        return collect(&model, chosen, body)
    }

    /// Collects entries that are unknown and drops those that were removed, then calls `body` with the chosen entries.
    private static func collect(
        _ model: inout Model, _ chosen: ChosenEntries,
        _ body: @escaping @Sendable (inout Model, ChosenEntries) -> Void
    ) -> [Effect] {
        guard let complete = chosen.complete else {
            body(&model, chosen)
            return []
        }
        let ticket = model.begin("collecting the entries", aim: .dialog)
        let (archive, screen) = (chosen.archive, model.screen)
        return .ask("collect the targets of \(archive.name)", ticket: chosen.isSlow ? ticket : nil) {
            (context) throws(SourceError) in
            try complete(chosen, context)
        } done: { model, result in
            guard model.ends(ticket), case let chosen?? = model.take(result) else { return }
            model.unmark(chosen.removed, of: archive)
            if !chosen.removed.isEmpty { model.entries?.removedMarks = 0 }
            // Another screen may have been opened since the request.
            guard model.archiveInView == archive, model.screen == screen, model.overlay == nil,
                model.prompt == nil
            else { return }
            body(&model, chosen)
        }
    }

    static func collectIdle(_ model: inout Model, _ idle: Duration, in archive: ArchiveAddress) -> [Effect] {
        let before = model.now.adding(seconds: -(idle / .seconds(1)))
        var chosen = ChosenEntries(
            archive: archive, targets: [], absence: " None has been idle over \(DurationText.text(idle)).")
        chosen.isSlow = true
        chosen.complete = { (chosen, context) throws(SourceError) in
            let listing = try context.source.listing(in: archive)
            return CollectedTargets(listing, listing.idle(before: before), context.progress)
                .map(chosen.taking)
        }
        return collect(&model, chosen) { plan(&$0, .expireIdle(before: before), $1, idle: idle) }
    }

    // MARK: Carrying out

    static func carryOut(_ model: inout Model, _ plan: Plan) -> [Effect] {
        model.overlay = nil
        if case .replaceFile(let path, let entry) = plan.act {
            return entry.map { write(&model, $0, to: path, replaces: true) }
                ?? export(&model, to: path, replaces: true)
        }
        guard !model.isReadOnly else { return [] }
        let ticket = model.ticket()
        var job = Job(ticket: ticket, title: "", since: model.now)
        job.isChange = true
        let effect: Effect
        switch plan.act {
        case .change(let change):
            job.title = change.progress
            job.total = plan.targets.count
            effect = carryOut(change, plan, ticket)
        case .undo(let action):
            job.title = "undoing"
            job.total = action.entries
            // Undoing a removal is a single step.
            job.isStoppable = action.kind == .deadline
            effect = undo(action, in: plan.archive, ticket)
        case .archive(let change, let sample, _):
            job.title = "changing \(plan.archive.name)"
            job.isStoppable = change != .clear
            effect = ArchivesScreen.carryOut(change, sample, plan.archive, ticket)
        case .replaceFile: return []
        }
        // The ring holds 2,048 events, and other processes also add some.
        if job.total ?? 0 >= 500, !model.isOfServer { job.eventful = plan.archive }
        model.begin(job)
        guard job.eventful != nil else { return [effect] }
        // Stop the running read: the next one repeats more often.
        let reading = model.events.pending.map { [Effect.stop(ticket: $0)] }
        return (reading ?? loadEvents(&model, of: model.archives.archives)) + [effect]
    }

    private static func carryOut(_ change: PlannedAction, _ plan: Plan, _ ticket: Int) -> Effect {
        let (targets, archive) = (plan.targets, plan.archive)
        return .ask("\(change.trace) \(targets.count) of \(archive.name)", ticket: ticket) {
            (context) throws(SourceError) in
            try context.source.carryOut(change, on: targets, in: archive) { done in
                context.progress(Double(done) / Double(max(1, targets.count)))
            }
        } then: { model, result in
            model.ends(ticket)
            switch result {
            case .failure(let error):
                model.overlay = MessageBox(change.refusal.firstUppercased, [error.description])
                return []
            case .success(let carried): return report(&model, change, plan, carried)
            }
        }
    }

    private static func report(
        _ model: inout Model, _ change: PlannedAction, _ plan: Plan, _ carried: Carried<PlanOutcome>
    ) -> [Effect] {
        let outcome = carried.outcome
        model.cost.note(writes: outcome.entries, longestCall: carried.longestCall)
        model.unmark(plan.targets.map(\.key), of: plan.archive)
        var summary = change.summary(of: outcome)
        if let group = plan.group, outcome.entries > 0 { summary += " (group \(group))" }
        if let action = outcome.action {
            let undone = action.entries < outcome.entries ? "\(Figures.count(action.entries)) of them" : "it"
            if !model.isInBackground { summary += "; \(keyName(model, .undo)) undoes \(undone)" }
            model.undoWatch = UndoWatch(action, in: plan.archive)
        }
        let rest = [outcome.finality, carried.stopped].compactMap { $0 }
        let skipped = outcome.skips.filter { $0.reason != .absent }.map(\.key)
        if skipped.isEmpty, rest.isEmpty {
            let absent = outcome.skips.count
            if absent > 0 { summary += "; \(Figures.count(absent, "was", "were")) already absent" }
            if outcome.unchanged > 0 { summary += "; \(Figures.count(outcome.unchanged)) had no expiry time" }
            model.say(summary.asSentence, role: .good, seconds: 10)
        } else {
            model.overlay = reportOverlay(
                outcome.entries == 0 ? nil : summary.asSentence, outcome.remarks(listing: 100) + rest, change,
                skipped, plan.archive,
                offersUndo: outcome.action != nil && plan.archive == model.archiveInView)
        }
        let isRemoved = if case .setLifetime = change { false } else { outcome.entries > 0 }
        let effects = isRemoved ? model.parts.targetsRemoved(&model) : []
        if isRemoved, outcome.entries + outcome.skips.count == plan.targets.count {
            let kept = Set(skipped.map(ExactText.init))
            let keys = plan.targets.map(\.key).filter { !kept.contains(ExactText($0)) }
            if let shown = EntriesScreen.keepListing(
                without: keys, changedBy: -keys.count, by: outcome.action, of: plan.archive, &model)
            {
                return effects + shown
            }
        }
        return effects + refresh(&model, isForced: true)
    }
}

extension Browser {
    /// The report of a plan, with a button that plans the skipped entries again.
    /// - Parameter summary: nil if nothing was changed.
    private static func reportOverlay(
        _ summary: String?, _ remarks: [String], _ change: PlannedAction, _ skipped: [String],
        _ archive: ArchiveAddress, offersUndo: Bool
    ) -> any Overlay {
        let done = change == .delete ? "Deleted" : change.changesExpiryTimes ? "Expiry changed" : "Expired"
        // A server's action without a known change may have changed keys.
        let title = summary != nil ? done : offersUndo ? "Stopped" : change.refusal.firstUppercased
        let lines = [summary].compactMap { $0 } + remarks
        guard !skipped.isEmpty else { return MessageBox(title, lines, offersUndo: offersUndo) }
        var choice = Choice(
            title: title, lines: lines, leave: "Close",
            button: "\(change.button) \(Figures.count(skipped.count)) "
                + (summary == nil ? "anyway" : "too")
        ) { model in [planAgain(change, skipped, in: archive)] }
        choice.offersUndo = offersUndo
        return choice
    }

    private static func planAgain(
        _ change: PlannedAction, _ keys: [String], in archive: ArchiveAddress
    ) -> Effect {
        .ask("load \(keys.count) skipped entries of \(archive.name)") { (context) throws(SourceError) in
            try context.source.targets(keys, in: archive)
        } done: { model, result in
            guard model.overlay == nil, model.prompt == nil, model.archiveInView == archive,
                let targets = model.take(result)
            else { return }
            guard !targets.isEmpty else { return model.say("The entries no longer exist.") }
            // They were accessed since, so they are no longer idle.
            let again = if case .expireIdle = change { PlannedAction.expireNow } else { change }
            model.overlay = Plan(again, of: ChosenEntries(archive: archive, targets: targets))
        }
    }
}

extension Model {
    fileprivate mutating func unmark(_ keys: [String], of archive: ArchiveAddress) {
        if entries?.archive == archive { entries?.marks.remove(keys) }
        if query?.archive == archive { query?.marks.remove(keys) }
    }
}

extension PlannedAction {
    fileprivate var trace: String {
        switch self {
        case .delete: "delete"
        case .expireNow: "expire now"
        case .expireIdle: "expire idle"
        case .setLifetime(let lifetime?): "expire in \(DurationText.text(lifetime))"
        case .setLifetime(nil): "expire never"
        }
    }
}
