import ServerInspection

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undoes the last rm or expire.",
        discussion: """
            Also undoes actions of the browser and of other processes. Values, expiry times, owners and positions in the LRU \
            order are restored in one step that can't be interrupted (expiry times in parts). Entries that were stored again \
            stay unchanged, and those deleted again stay deleted.

            An action can be undone for ten minutes; one that exceeds the archive's undo budget, or that changed expiry times, \
            at most until bytesLeft bytes have been written. On a full disk, a put or a later rm also ends this period, \
            because it reuses the space of deleted entries.

            If the limit is too small for all, existing entries are evicted before any restored one, least recently used first. \
            If an entry is larger than the limit, nothing is restored and nothing evicted.

            The budget for values is the archive's limit (a collection's: its values), at least 4 MiB; that for disk space \
            is an eighth of the limit, at least 64 MiB. An entry counts with its value, its key and about 180 bytes.

            Exit code 1 if nothing was restored; 3 if restored entries are damaged, or if the log is damaged and actions may \
            be missing: --list shows the known ones, and an undo needs the action's number.

            Entries whose expiry time has passed since are counted as expired, and stay absent. After a rebuild of the \
            archive's index, a discarded action may be listed again, with its remaining entries; an undo counts the others \
            as skipped. Numbers of actions can begin at 1 again.

            --json prints one object: id, action, entries, bytes, skipped, skippedCount, expired, displaced, damaged, evicted; with \
            --list one array of objects: id, time, action, entries, bytes, pid, process, end, bytesLeft. An action can be \
            undone until end, or until the archive's log has grown by bytesLeft bytes, if given.

            Example: vellum undo City --list
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The number of the action (default: the last one).")
    var id: UInt32?

    @Flag(help: "List the actions that can be undone, latest first; change nothing.")
    var list = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var remote: RemoteWriting

    @Flag(help: "Undo even on a server that was restarted since the action, and may be a different one.")
    var restarted = false

    private static let columns = [
        Column("id", title: "ID"), Column("time", title: "TIME"), Column("action", title: "ACTION"),
        Column("entries", title: "ENTRIES"), Column("bytes", title: "SIZE"), Column("pid", title: "PID"),
        Column("process", title: "PROCESS"), Column("end", title: "TIME LEFT"),
        Column("bytesLeft", title: "WRITES LEFT"),
    ]

    mutating func validate() throws {
        if list, id != nil { throw ValidationError("--list lists all actions; leave the number out") }
    }

    func run() throws {
        if let server = try reference.store.server() { return try undo(on: server) }
        if list { return try printList() }
        let store = try reference.store.openForWriting(creating: false)
        defer { store.close() }
        let archive = try store.archive(named: reference.archive)
        try archive.requireEntries()
        if id == nil, let last = try archive.reversibleActions().first, try archive.reportLoss() {
            let command = ShellWord.vellum(
                "undo", [archive.name, "\(last.id)"], store: reference.store.store)
            throw CommandFailure(
                "a later action may be lost; to undo the last known one: \(command)", status: .storeFailure)
        }
        Interruption.collect()
        guard let outcome = try archive.undo(id, progress: { _ in !Interruption.isRequested }) else {
            throw CommandFailure(nothing(id), status: try archive.statusOfAbsence())
        }
        try end(outcome)
    }

    /// Undo records of servers are kept on this machine.
    private func undo(on server: ServerAddress) throws {
        let changes = try ServerDatabase(server, named: reference.archive).changes()
        let actions = try changes.reversible()
        if list {
            try print(actions) { _ in nil }
            guard actions.isEmpty else { return }
            throw CommandFailure(nothing(nil), status: .nothing)
        }
        try server.requireWritable(remote.write)
        Interruption.collect()
        guard let action = id == nil ? actions.first : actions.first(where: { $0.id == id }),
            let carried = try changes.undo(
                action.id, begun: action.time, evenIfRestarted: restarted,
                checkpoint: { _ in !Interruption.isRequested })
        else { throw CommandFailure(nothing(id), status: .nothing) }
        try end(carried.outcome, stopped: carried.stopped)
    }

    private func nothing(_ id: UInt32?) -> String {
        id.map { "action \($0) of \(reference.archive) can't be undone; undo --list shows those that can" }
            ?? UndoOutcome.nothing(in: reference.archive)
    }

    private func end(_ outcome: UndoOutcome, stopped: String? = nil) throws {
        if json { try printJSON(outcome) }
        for remark in outcome.remarks(listing: 10) { Console.warn(remark) }
        let ago = Figures.ago(outcome.action.time, now: .now())
        Console.say("\(outcome.summary) (\(outcome.action.kind.participle) \(ago))")
        if let stopped { throw CommandFailure(stopped, status: .storeFailure) }
        if !outcome.isComplete {
            throw CommandFailure("interrupted: the same command undoes the rest", status: Interruption.status)
        }
        if outcome.damaged > 0 { throw CommandFailure(nil, status: .storeFailure) }
        if outcome.entries == 0 { throw CommandFailure(nil, status: .nothing) }
    }

    private func printJSON(_ outcome: UndoOutcome) throws {
        let output = OutputWriter()
        try JSONTree.object([
            ("id", .count(outcome.action.id)), ("action", .text(outcome.action.kind.word)),
            ("entries", .count(outcome.entries)), ("bytes", .count(outcome.bytes)),
            ("skipped", .array(outcome.skipped.map { .text($0) })),
            ("skippedCount", .count(outcome.skippedCount)), ("expired", .count(outcome.expired)),
            ("displaced", .count(outcome.displaced)), ("damaged", .count(outcome.damaged)),
            ("evicted", .count(outcome.evicted)),
        ]).writeLine(to: output)
        try output.flush()
    }

    private func printList() throws {
        let archive = try reference.openEntries()
        let actions = try archive.reversibleActions()
        var names = ProcessNames()
        try print(actions) { names.name(of: $0, in: archive) }
        let hasLost = try archive.reportLoss()
        guard !actions.isEmpty else {
            throw CommandFailure(nothing(nil), status: hasLost ? .storeFailure : .nothing)
        }
        if hasLost { throw CommandFailure(nil, status: .storeFailure) }
    }

    private func print(_ actions: [ReversibleAction], name: (Int32) -> String?) throws {
        var printer = RowPrinter(Self.columns, json: json ? .jsonArray : nil)
        let now = Timestamp.now()
        for action in actions {
            try printer.print([
                .count(UInt64(action.id)), .time(action.time), .text(action.kind.word),
                .count(UInt64(action.entries)), .bytes(action.bytes),
                action.pid == 0 ? .absent : .count(UInt64(clamping: action.pid)), Cell(name(action.pid)),
                .deadline(action.end, now: now), Cell(bytes: action.bytesLeft),
            ])
        }
        try printer.end()
    }
}
