import ArgumentParser
import ServerInspection
import StorageEngine
import StoreInspection

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Brings back what the last rm or expire took away.",
        discussion: """
            Also what was deleted or expired in the browser, by whichever process: values, deadlines, owners and places \
            in the LRU order come back, in one step that can't be stopped (deadlines in parts). An action can be undone for \
            ten minutes; one that took away more than the archive's undo budget keeps, or that changed deadlines, no \
            longer than until bytesLeft bytes have been written. A put, or a later rm, that finds the disk full ends that time too: what \
            was taken away is then given up for its room. Entries that were recorded anew stay as they are, or stay away \
            if they have gone again; where the limit leaves no room for all, entries that are there now are evicted, the least recently used first, but \
            all of them, also recent ones, before any that comes back; while one is \
            larger than the limit, nothing comes back and nothing is evicted. Exit code 1 if nothing came back; 3, also of \
            --list, if the log is damaged and actions may be missing.

            The budget is as many bytes of values as the archive's limit (a collection's: as its values), at least 4 MiB, \
            which may take 64 MiB of room in all, or an eighth of the limit if that is more; an entry takes its value, its key \
            and some 180 bytes.

            What has met its own deadline meanwhile is counted as expired, and is not found again.

            --json prints one object: id, action, entries, bytes, skipped, skippedCount, expired, evicted; with --list one \
            array of objects: id, time, action, entries, bytes, pid, process, end, bytesLeft. After end it is too late, and \
            as soon as the archive's log has grown by bytesLeft bytes, if there is such a bound.

            Example: vellum undo City --list
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    @Argument(help: "The number of the action (default: the last one).")
    var id: UInt32?

    @Flag(help: "List what can be undone, the latest first; change nothing.")
    var list = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Let a server that isn't on this machine be changed.")
    var write = false

    @Flag(
        help: "Also on a server that was started since what is taken back was done, and may be another one.")
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
        if let server = try store.server() { return try undo(on: server) }
        if list { return try printList() }
        let store = try store.openForWriting(creating: false)
        defer { store.close() }
        let archive = try store.archive(named: archive)
        try archive.requireEntries()
        Interruption.collect()
        guard let outcome = try archive.undo(id, progress: { _ in !Interruption.isRequested }) else {
            throw CommandFailure(
                id.map { "action \($0) of \(archive.name) can't be undone; undo --list shows what can be" }
                    ?? UndoOutcome.nothing(in: archive.name),
                status: try archive.statusOfAbsence())
        }
        try end(outcome)
    }

    /// Undo records of servers are kept on this machine.
    private func undo(on server: ServerAddress) throws {
        let changes = try ServerDatabase(server, named: archive).changes()
        let actions = try changes.reversible()
        if list {
            try print(actions) { _ in nil }
            if actions.isEmpty { throw CommandFailure(UndoOutcome.nothing(in: archive), status: .nothing) }
            return
        }
        try server.requireWritable(write)
        Interruption.collect()
        guard let id = id ?? actions.first?.id,
            let carried = try changes.undo(
                id, evenIfRestarted: restarted, checkpoint: { _ in !Interruption.isRequested })
        else {
            throw CommandFailure(
                id.map { "action \($0) of \(archive) can't be undone; undo --list shows what can be" }
                    ?? UndoOutcome.nothing(in: archive), status: .nothing)
        }
        try end(carried.outcome, stopped: carried.stopped)
    }

    private func end(_ outcome: UndoOutcome, stopped: String? = nil) throws {
        if json { try printJSON(outcome) }
        report(outcome)
        if let stopped { throw CommandFailure(stopped, status: .storeFailure) }
        if !outcome.isComplete {
            throw CommandFailure(
                "interrupted: the same command undoes the rest", status: Interruption.status)
        }
        if outcome.entries == 0 { throw CommandFailure(nil, status: .nothing) }
    }

    private func report(_ outcome: UndoOutcome) {
        for remark in outcome.remarks(listing: 10) { Narration.complain(remark) }
        let ago = Figures.ago(outcome.action.time, now: .now())
        Narration.say("\(outcome.summary) (\(outcome.action.kind.participle) \(ago))")
    }

    private func printJSON(_ outcome: UndoOutcome) throws {
        let output = OutputWriter()
        try JSONTree.object([
            ("id", .count(outcome.action.id)), ("action", .text(outcome.action.kind.word)),
            ("entries", .count(outcome.entries)), ("bytes", .count(outcome.bytes)),
            ("skipped", .array(outcome.skipped.map { .text($0) })),
            ("skippedCount", .count(outcome.skippedCount)), ("expired", .count(outcome.expired)),
            ("displaced", .count(outcome.displaced)), ("evicted", .count(outcome.evicted)),
        ]).writeLine(to: output)
        try output.flush()
    }

    private func printList() throws {
        let archive = try store.openForLooking().archive(named: archive)
        try archive.requireEntries()
        let actions = try archive.reversibleActions()
        var names = ProcessNames()
        try print(actions) { names.name(of: $0, in: archive) }
        let hasLost = try archive.complainOfLoss()
        guard !actions.isEmpty else {
            throw CommandFailure(
                UndoOutcome.nothing(in: archive.name), status: hasLost ? .storeFailure : .nothing)
        }
        if hasLost { throw CommandFailure(nil, status: .storeFailure) }
    }

    private func print(_ actions: [ReversibleAction], name: (Int32) -> String?) throws {
        let output = OutputWriter()
        var printer = RowPrinter(
            Self.columns, layout: .fitting(output, json: json ? .jsonArray : nil), output: output)
        let now = Timestamp.now()
        for action in actions {
            try printer.print([
                .count(UInt64(action.id)), .time(action.time), .text(action.kind.word),
                .count(UInt64(action.entries)), .bytes(action.bytes),
                action.pid == 0 ? .absent : .count(UInt64(clamping: action.pid)),
                Cell(name(action.pid)), .deadline(action.end, now: now),
                Cell(bytes: action.bytesLeft),
            ])
        }
        try printer.end()
    }
}
