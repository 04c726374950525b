import ArchiveQuery
import ServerInspection

/// A change of keys of a server: plan, confirmation, execution and the undo hint.
struct ServerChange {
    let database: ServerDatabase
    let plan: PlannedChange

    private var selection: SelectionArguments { plan.selection }
    private var name: String { "db\(database.number) of \(database.server)" }

    func run() throws {
        if selection.owner != nil { throw ServerDatabase.noOwners }
        if !selection.dryRun {
            try database.server.requireWritable(selection.remote.write, by: database.connection)
            try Confirmation.require(unless: selection.yes)
        }
        if let query = try query(), query.readsValues, try plan.idle != nil || readsAccesses(),
            let reason = try database.unreadableReason()
        {
            throw CommandFailure(
                "\(reason). @idle, @accessed, @hits and --idle-longer-than can't be combined with conditions on values.",
                status: .usage)
        }
        Interruption.collect()
        let targets = try targets()
        try Interruption.check()
        let amount = Figures.amount(
            targets.count, bytes: targets.reduce(0) { $0 + UInt64(clamping: $1.size) })
        if selection.dryRun {
            try OutputWriter.print("would \(plan.action.infinitive(amount))\n")
            if targets.isEmpty { throw CommandFailure(nil, status: .nothing) }
            return
        }
        guard !targets.isEmpty else {
            if case .expireIdle = plan.timedAction, try database.connection.capabilities().countsUses {
                throw CommandFailure(
                    "\(database.server) has an LFU policy and so no idle times; \(plan.action.refusal)",
                    status: .usage)
            }
            throw CommandFailure("\(name) has no such key", status: .nothing)
        }
        try Confirmation.ask(
            plan.action.question("\(amount) of \(name)", idle: plan.idle), unless: selection.yes,
            refusal: plan.action.refusal)
        let carried = try database.changes().carryOut(
            plan.timedAction, on: targets, in: try database.connection.capabilities().run,
            checkpoint: { _ in !Interruption.isRequested },
            meeting: try recheck(), readsAccesses: try readsAccesses())
        let hasChanged = carried.outcome.entries > 0
        try plan.report(carried) { action in
            let command = ShellWord.vellum(
                "undo", [selection.archive, "\(action.id)"],
                options: selection.remote.write ? ["--write"] : [],
                store: database.server.forCommands)
            return
                (hasChanged
                ? "to undo it, for ten minutes on this machine: "
                : "if keys were changed nevertheless, undo it within ten minutes: ") + command
        }
        if !hasChanged { throw CommandFailure(nil, status: .nothing) }
    }

    /// The condition's query. An empty selection yields the keys without their values.
    private func query() throws -> QueryPlan? {
        try selection.condition.map {
            QueryPlan(QueryPipeline(try QueryProblem.condition($0).stages + [.select([])]))
        }
    }

    /// Whether the condition depends on accesses.
    private func readsAccesses() throws -> Bool {
        let properties = try query()?.pipeline.stages.flatMap(\.properties) ?? []
        return [.idle, .accessed, .hits].contains { properties.contains(.metadata($0)) }
    }

    /// Returns a check of whether watched keys (WATCH) still meet the condition; nil without a condition.
    private func recheck() throws -> ServerChanges.Condition? {
        guard let query = try query() else { return nil }
        let source = try database.query(query, touches: selection.reading.touch)
        return { (keys) throws(SourceError) in
            var found: Set<ExactText> = []
            do {
                let report = try query.run(over: source.only(keys)) { row in
                    if let key = row.entry?.key { found.insert(ExactText(key)) }
                    return true
                }
                if report.damaged > 0 { report.warnings.forEach { Console.warn($0) } }
            } catch {
                throw error as? SourceError ?? SourceError("\(error)")
            }
            return found
        }
    }

    private func targets() throws -> [Target] {
        if let query = try query() {
            var targets: [Target] = []
            let source = try database.query(query, touches: selection.reading.touch)
            let report = try query.choose(from: source) {
                add($0.key, $0.valueBytes, $0.accessed, to: &targets)
            }
            if report.damaged > 0 {
                throw CommandFailure(
                    "\(Figures.count(report.damaged, "value", "values")) could not be read, so the condition could not be "
                        + "evaluated for all keys; \(plan.action.refusal)", status: .storeFailure)
            }
            if report.isDoubtful, !targets.isEmpty {
                throw CommandFailure(plan.action.refusal, status: .usage)
            }
            return targets
        }
        var targets: [Target] = []
        if !selection.keys.isEmpty {
            var seen: Set<ExactText> = []
            let keys = selection.keys.words.filter { seen.insert(ExactText($0)).inserted }
            _ = try database.visit(keys.map(KeyName.bytes)) { key, facts in
                if let facts {
                    add(key, facts.memory, facts.used, to: &targets)
                } else {
                    Console.warn("no key \(TerminalSafe.quoted(key))")
                }
                return true
            }
            return targets
        }
        var hidden = 0
        try database.visitKeys(matching: nil, by: nil, reverse: false) { key, facts in
            if !facts.unknown.isEmpty { hidden += 1 }
            add(key, facts.memory, facts.used, to: &targets)
            return !Interruption.isRequested
        }
        if hidden > 0 { Console.warn(ServerDatabase.lackOfRights(to: hidden)) }
        return targets
    }

    private func add(_ key: String, _ size: Int, _ used: Timestamp?, to targets: inout [Target]) {
        if case .expireIdle(let before) = plan.timedAction, used.map({ $0 >= before }) ?? true { return }
        targets.append(Target(key: key, sequence: 0, size: size))
    }
}
