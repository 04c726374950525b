import ArchiveQuery

/// A change of selected entries: plan, confirmation, execution and the undo hint.
struct PlannedChange: Sendable {
    let selection: SelectionArguments
    /// Only entries last accessed longer ago than this.
    var idle: Duration?
    let action: PlannedAction

    private static let listedKeys = 10

    private var store: StoreArguments { selection.store }

    /// The action, with the idle time as a fixed point in time, so that an access after the plan keeps the entry.
    var timedAction: PlannedAction {
        idle.map { .expireIdle(before: Timestamp.now().adding(seconds: -($0 / .seconds(1)))) } ?? action
    }

    func run() throws {
        if let server = try store.server() {
            return try ServerChange(
                database: try ServerDatabase(server, named: selection.archive), plan: self
            ).run()
        }
        if selection.dryRun { return try printPlan() }
        try Confirmation.require(unless: selection.yes)
        let store = try store.openForWriting(creating: false)
        defer { store.close() }
        let archive = try store.archive(named: selection.archive)
        if try emptiesLog(archive) { return try emptyLog(archive) }
        try archive.requireEntries()
        let plan = try makePlan(archive)
        let absence = try archive.statusOfAbsence()
        guard plan.entries > 0 else {
            try end(plan)
            throw CommandFailure(reasonForEmptyPlan(archive.name, plan), status: absence)
        }
        if !selection.yes { try warnAboutUndoLimit(plan, archive) }
        let amount = Figures.amount(plan.entries, bytes: plan.bytes)
        try Confirmation.ask(
            action.question("\(amount) of \(archive.name)", idle: idle), unless: selection.yes,
            refusal: action.refusal)
        // An interrupted change is reported with its undo command.
        Interruption.collect()
        let carried = try plan.apply(
            to: archive, isImmediate: selection.yes, while: { !Interruption.isRequested })
        try report(carried) { undoHint(for: carried.outcome, $0, in: archive.name) }
        try end(plan)
        if carried.outcome.entries == 0 || !plan.missing.isEmpty && absence == .storeFailure {
            throw CommandFailure(nil, status: absence)
        }
    }

    // MARK: Logs

    /// Whether the change deletes all messages of a log, which can't be undone.
    private func emptiesLog(_ archive: Archive) throws(StorageError) -> Bool {
        guard selection.all, action == .delete else { return false }
        return try archive.configuration().kind == .log
    }

    private func emptyLog(_ log: Archive) throws {
        _ = try log.reportLoss(withSegments: true)
        let end = try log.cursor(beforeLast: 0)
        try Confirmation.ask(
            "Delete all messages of \(log.name), now \(try log.amount())? This can't be undone.",
            unless: selection.yes, refusal: action.refusal)
        guard let removed = try selection.yes ? log.deleteAllMessages() : log.deleteMessages(before: end)
        else {
            throw CommandFailure(
                "another process changed \(TerminalSafe.quoted(log.name)); \(action.refusal)",
                status: .nothing)
        }
        Console.say("deleted \(Figures.messages(removed.entries, bytes: removed.bytes))")
    }

    // MARK: Entries

    /// Refuses a word with a dash that may be an option or a key.
    private func refuseAmbiguousWords(_ archive: Archive) throws {
        let arguments = ProgramArguments.withoutStore
        // After --, or with a condition or an owner, words aren't keys.
        guard !arguments.contains("--"), selection.all || !selection.keys.words.isEmpty else { return }
        for word in DashHint.options(arguments)
        where (!selection.all || word == "--all") && (try? archive.metadata(word)) != nil {
            // Suggest the same command, with -- and all words.
            let words = [archive.name] + selection.keys.words + [word]
            var counts = Dictionary(words.map { ($0, 1) }, uniquingKeysWith: +)
            let options = arguments.dropFirst().filter { argument in
                guard let count = counts[argument], count > 0 else { return true }
                counts[argument] = count - 1
                return false
            }
            throw CommandFailure(
                "\(word) is both an option and a key of \(archive.name); for the key put it after --: "
                    + ShellWord.vellum(arguments.first ?? "", words, options: options, store: store.store),
                status: .usage)
        }
    }

    private func makePlan(_ archive: Archive) throws -> ChangePlan {
        try refuseAmbiguousWords(archive)
        let action = timedAction
        let plan: ChangePlan
        if let condition = selection.condition {
            plan = ChangePlan(try archive.entries(meeting: condition), action: action)
        } else {
            let chosen = selection.owner.map { ChangePlan.Selection.owner($0) }
            plan = try ChangePlan(
                archive, chosen ?? (selection.keys.isEmpty ? .all : .keys(selection.keys.words)),
                action: action)
        }
        plan.missing.forEach(Console.reportAbsence)
        let named = plan.damagedKeys.prefix(Console.mostDamaged)
        named.forEach(Console.reportDamage)
        Console.reportMissing(plan.damaged - named.count)
        return plan
    }

    /// Exits with a failure if damage was reported.
    private func end(_ plan: ChangePlan) throws {
        if plan.damaged > 0 { throw CommandFailure(nil, status: .storeFailure) }
    }

    private func printPlan() throws {
        let archive = try store.openReadOnly().archive(named: selection.archive)
        if try emptiesLog(archive) {
            try OutputWriter.print("would delete \(archive.amount())\n")
            return try archive.failIfDamaged(withSegments: true)
        }
        try archive.requireEntries()
        let plan = try makePlan(archive)
        let absence = try archive.statusOfAbsence(withSegments: selection.keys.isEmpty)
        try OutputWriter.print(
            "would \(action.infinitive(Figures.amount(plan.entries, bytes: plan.bytes)))\n")
        try warnAboutUndoLimit(plan, archive)
        try end(plan)
        if plan.entries == 0 || absence == .storeFailure { throw CommandFailure(nil, status: absence) }
    }

    private func warnAboutUndoLimit(_ plan: ChangePlan, _ archive: Archive) throws(StorageError) {
        if case .setLifetime = action { return }
        let status = try archive.status()
        if let free = store.named.flatMap(SystemText.freeBytes), free < 1 << 20 {
            Console.say("the disk is full: it may be impossible to undo this deletion and earlier ones")
        }
        guard let writeBudget = action.undoWriteBudget(in: status, entries: plan.entries, bytes: plan.bytes)
        else { return }
        let period = PlannedAction.undoWindow(writeBudget: writeBudget)
        Console.say("this exceeds the undo budget: it can be undone \(period)")
    }

    /// Why the plan is empty; nil if missing keys have been reported.
    private func reasonForEmptyPlan(_ archive: String, _ plan: ChangePlan) -> String? {
        if plan.unchanged > 0 {
            let have = Figures.count(plan.unchanged, "entry already has", "entries already have")
            return "nothing changed: \(have) no expiry time"
        }
        if let idle, plan.missing.isEmpty {
            return "no entry was idle for longer than \(DurationText.text(idle))"
        }
        if let owner = selection.owner {
            return "\(archive) has no entry of owner \(TerminalSafe.quoted(owner))"
        }
        if selection.condition != nil { return "\(archive) has no entry that meets the condition" }
        return selection.keys.isEmpty ? "\(archive) is empty" : nil
    }

    /// Reports a change and the command that undoes it. Throws if the change is incomplete.
    func report(_ carried: Carried<PlanOutcome>, undoHint: (ReversibleAction) -> String) throws {
        let outcome = carried.outcome
        for remark in outcome.remarks(listing: Self.listedKeys) { Console.warn(remark) }
        if outcome.entries > 0 || outcome.action == nil { Console.say(action.summary(of: outcome)) }
        if let finality = outcome.finality { Console.warn(finality) }
        if let action = outcome.action { Console.say(undoHint(action)) }
        switch (outcome.failure, carried.stopped) {
        case (_, let stopped?) where Interruption.isRequested:
            throw CommandFailure("interrupted: " + stopped, status: Interruption.status)
        case (nil, let stopped?), (.noSpace?, let stopped?):
            throw CommandFailure(stopped, status: .storeFailure)
        case (let failure?, _): throw failure
        case (nil, nil): break
        }
    }

    private func undoHint(for outcome: PlanOutcome, _ action: ReversibleAction, in archive: String) -> String
    {
        let command = ShellWord.vellum("undo", [archive, "\(action.id)"], store: store.store)
        let reasons = "the others were in memory only or restored, or the disk was full"
        let rest =
            action.entries < outcome.entries
            ? " (\(Figures.count(action.entries)) of \(Figures.count(outcome.entries)); \(reasons))" : ""
        let bound = action.bytesLeft.map { ", until \(Figures.bytes($0)) more have been written" } ?? ""
        return "to undo it\(rest)\(bound): \(command)"
    }
}
