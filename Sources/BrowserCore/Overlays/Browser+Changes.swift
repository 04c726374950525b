import ArchiveQuery
import StorageEngine
import StoreInspection
import TerminalKit

/// Deleting and expiring: from the key to what is said when it is done.
extension Browser {
    /// The marked entries, or else the one under the cursor, as they are seen now.
    private static func targets(_ model: Model) -> (archive: String, targets: [Target])? {
        if model.screen == .value {
            guard let value = model.value, let entry = value.load?.entry else { return nil }
            return (value.archive, [entry.target])
        }
        if model.screen == .query {
            return model.query.map { ($0.archive, $0.answer?.targets ?? []) }
        }
        guard let entries = model.entries else { return nil }
        var targets = entries.marks.list
        if targets.isEmpty, let entry = entries.rows[entries.cursor] { targets = [entry.target] }
        return (entries.archive, targets)
    }

    /// Opens the plan of a delete.
    static func planDelete(_ model: inout Model) {
        guard let (archive, targets) = targets(model) else { return }
        guard !targets.isEmpty else {
            model.say("There is no entry to delete.\(noTargets(model))")
            return
        }
        model.overlay = .plan(Plan(.delete, archive: archive, targets: targets))
    }

    /// Why rows can be seen and nothing be done to them.
    private static func noTargets(_ model: Model) -> String {
        guard model.screen == .query, model.query?.answer?.rows.isEmpty == false else { return "" }
        return " These rows are made of several."
    }

    /// Asks how entries are to expire.
    static func askExpiry(_ model: inout Model) {
        guard let (archive, targets) = targets(model) else { return }
        if model.screen == .query, targets.isEmpty {
            model.say("There is no entry to expire.\(noTargets(model))")
            return
        }
        model.overlay = .expire(ExpireForm(archive: archive, targets: targets))
    }

    static func planClearing(_ model: inout Model) {
        guard let log = model.log, let summary = model.archives.summary(log.archive) else { return }
        guard summary.entries > 0 else {
            model.say("There is no message to delete.")
            return
        }
        model.overlay = .plan(Plan(clearing: summary))
    }

    // MARK: The form

    static func press(_ model: inout Model, _ key: Key, in old: ExpireForm) -> [Effect] {
        var form = old
        let choices = ExpireForm.Choice.allCases
        // Without entries under the cursor only those of the whole archive can be chosen.
        let step = form.targets.isEmpty ? 0 : 1
        switch key.code {
        case .escape:
            model.overlay = nil
            model.say("Nothing was changed.", seconds: 3)
            return []
        case .enter:
            guard form.button == 1 else {
                model.overlay = nil
                model.say("Nothing was changed.", seconds: 3)
                return []
            }
            return plan(&model, form)
        case .up:
            form.choice = choices[(form.choice.rawValue + choices.count - step) % choices.count]
            form.problem = nil
        case .down:
            form.choice = choices[(form.choice.rawValue + step) % choices.count]
            form.problem = nil
        case .tab, .backTab: form.button = 1 - form.button
        default:
            switch form.choice {
            case .after: if form.after.handle(key) { form.problem = nil }
            case .idle: if form.idle.handle(key) { form.problem = nil }
            case .now, .never: break
            }
        }
        model.overlay = .expire(form)
        return []
    }

    /// Makes the plan that the form asks for; that of idle entries has to look for them first.
    private static func plan(_ model: inout Model, _ old: ExpireForm) -> [Effect] {
        var form = old
        let change: PlannedAction
        switch form.choice {
        case .now: change = .expireNow
        case .never: return planNever(&model, form)
        case .after:
            guard let lifetime = duration(form.after.text, &form) else { return refuse(&model, form) }
            change = .setLifetime(lifetime)
        case .idle:
            guard let idle = duration(form.idle.text, &form) else { return refuse(&model, form) }
            guard let store = model.store else { return [] }
            let before = model.now.adding(seconds: -(idle / .seconds(1)))
            let ticket = model.ticket()
            model.overlay = nil
            model.job = Job(ticket: ticket, title: "looking for idle entries", since: model.now)
            model.pendingIdle = PendingIdle(
                ticket: ticket, archive: form.archive, idle: idle, before: before)
            return [.collectIdle(ticket: ticket, before: before, in: ArchiveAddress(form.archive, in: store))]
        }
        model.overlay = .plan(Plan(change, archive: form.archive, targets: form.targets))
        return []
    }

    /// Only what has a deadline has one to lose.
    private static func planNever(_ model: inout Model, _ form: ExpireForm) -> [Effect] {
        let targets = form.targets.filter(\.hasDeadline)
        guard !targets.isEmpty else {
            model.overlay = nil
            let which = form.targets.count == 1 ? "The entry has no" : "None of the entries has a"
            model.say("\(which) deadline; nothing was changed.")
            return []
        }
        model.overlay = .plan(Plan(.setLifetime(nil), archive: form.archive, targets: targets))
        return []
    }

    /// What was typed; otherwise the form has the problem.
    private static func duration(_ text: String, _ form: inout ExpireForm) -> Duration? {
        do throws(DurationFault) {
            return try DurationText.interval(text)
        } catch {
            form.problem = "\(error)."
            return nil
        }
    }

    private static func refuse(_ model: inout Model, _ form: ExpireForm) -> [Effect] {
        model.overlay = .expire(form)
        return []
    }

    static func collected(
        _ model: inout Model, _ ticket: Int, idle result: Result<Collected<[Target]>?, SourceError>
    ) -> [Effect] {
        if model.job?.ticket == ticket { model.job = nil }
        guard let pending = model.pendingIdle, pending.ticket == ticket else { return [] }
        model.pendingIdle = nil
        switch result {
        case .failure(let error): model.say(error.description, role: .error)
        case .success(nil): break
        case .success(let collected?):
            let targets = collected.entries
            if let omission = collected.omission { model.say(omission, role: .warning) }
            let duration = DurationText.text(pending.idle)
            guard !targets.isEmpty else {
                if collected.omission == nil {
                    model.say("No entry of \(pending.archive) is idle longer than \(duration).")
                }
                return []
            }
            model.overlay = .plan(
                Plan(
                    .expireIdle(before: pending.before), archive: pending.archive, targets: targets,
                    idle: pending.idle))
        }
        return []
    }

    // MARK: Carrying out

    static func carryOut(_ model: inout Model, _ plan: Plan) -> [Effect] {
        model.overlay = nil
        guard !model.isReadOnly, let store = model.store else { return [] }
        let ticket = model.ticket()
        var job = Job(ticket: ticket, title: "", since: model.now)
        defer { model.job = job }
        switch plan.act {
        case .change(let change):
            job.title = change == .delete ? "deleting" : "expiring"
            return [
                .change(ticket: ticket, change, plan.targets, in: ArchiveAddress(plan.archive, in: store))
            ]
        case .undo(let action):
            job.title = "undoing"
            // What was removed comes back by one word, at once.
            job.isStoppable = action.kind == .deadline
            return [.undo(ticket: ticket, action, in: ArchiveAddress(plan.archive, in: store))]
        case .clearLog:
            job.title = "deleting"
            job.isStoppable = false
            return [.clearLog(ticket: ticket, in: ArchiveAddress(plan.archive, in: store))]
        }
    }

    static func changed(
        _ model: inout Model, _ ticket: Int, _ change: PlannedAction, _ archive: String,
        _ result: Result<Carried<PlanOutcome>, SourceError>
    ) -> [Effect] {
        if model.job?.ticket == ticket { model.job = nil }
        switch result {
        case .failure(let error):
            model.overlay = .message(MessageBox(title: nothing(change), lines: [error.description]))
            return []
        case .success(let carried):
            let outcome = carried.outcome
            model.cost.note(writes: outcome.entries, longestCall: carried.longestCall)
            var figures =
                outcome.entries == 0
                ? nothing(change) : "\(done(change, outcome.entries)), \(Figures.bytes(outcome.bytes))"
            if outcome.action != nil { figures += "; \(keyName(model, .undo)) undoes" }
            model.entries?.marks = Marks()
            let report = lines(of: outcome, carried.stopped)
            if report.isEmpty {
                model.say("\(figures).", role: .good, seconds: 10)
            } else {
                model.overlay = .message(
                    MessageBox(title: "Plan carried out", lines: [figures + "."] + report))
            }
            var effects: [Effect] = []
            let isGone = if case .setLifetime = change { false } else { true }
            if model.screen == .value, outcome.entries > 0, isGone { effects += ValueScreen.leave(&model) }
            return effects + refresh(&model, isForced: true)
        }
    }

    /// `3 entries deleted`
    private static func done(_ change: PlannedAction, _ count: Int) -> String {
        let entries = Figures.count(count, "entry", "entries")
        switch change {
        case .delete: return "\(entries) deleted"
        case .expireNow, .expireIdle: return "\(entries) expired"
        case .setLifetime(let lifetime?):
            return "\(entries) \(count == 1 ? "expires" : "expire") in \(DurationText.text(lifetime))"
        case .setLifetime(nil): return "\(entries) \(count == 1 ? "expires" : "expire") no more"
        }
    }

    private static func nothing(_ change: PlannedAction) -> String { "N" + change.refusal.dropFirst() }

    /// What was planned and didn't happen.
    private static func lines(of outcome: PlanOutcome, _ stopped: String?) -> [String] {
        var lines: [String] = []
        func list(_ reason: PlanSkip.Reason) {
            let keys = outcome.skips.filter { $0.reason == reason }.map(\.key)
            guard !keys.isEmpty else { return }
            lines.append("Left alone, because they \(reason.past.many):")
            lines += keys.prefix(100).map { "- \(TerminalText.sanitized($0))" }
            if keys.count > 100 { lines.append("and \(Figures.count(keys.count - 100)) more") }
        }
        list(.changed)
        list(.used)
        let absent = outcome.skips.count { $0.reason == .absent }
        if absent > 0 { lines.append("Gone already: \(Figures.count(absent, "entry", "entries")).") }
        if outcome.entries > 0, outcome.action == nil {
            lines.append("This can't be undone: what was before is not kept.")
        }
        if outcome.unchanged > 0 {
            let entries = Figures.count(outcome.unchanged, "entry", "entries")
            lines.append("Left alone, because there was no deadline to take away: \(entries).")
        }
        if let stopped { lines.append(stopped) }
        return lines
    }

    static func cleared(
        _ model: inout Model, _ ticket: Int, _ archive: String,
        _ result: Result<Carried<Removal>, SourceError>
    ) -> [Effect] {
        if model.job?.ticket == ticket { model.job = nil }
        switch result {
        case .failure(let error):
            model.overlay = .message(MessageBox(title: "Nothing was deleted", lines: [error.description]))
            return []
        case .success(let carried):
            let outcome = carried.outcome
            model.cost.note(writes: outcome.entries, longestCall: carried.longestCall)
            let messages = Figures.count(outcome.entries, "message", "messages")
            model.say("\(messages) deleted, \(Figures.bytes(outcome.bytes)).", role: .good)
            model.log?.forget()
            return refresh(&model, isForced: true)
        }
    }
}
