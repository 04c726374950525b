import ArgumentParser
import StorageEngine

struct ExpireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expire",
        abstract: "Expires entries, now or later, or keeps them from expiring.",
        discussion: """
            Asks first on a terminal; elsewhere it takes --yes. An entry that is recorded anew while the question \
            stands is left alone, and where it is about idle ones one that is used. It can be undone like a deletion, and as long: entries come back, deadlines become what they \
            were. --never leaves entries alone that have no deadline; if none has one, nothing changes, and the exit code \
            is 1.

            --idle-longer-than expires now what was last recorded or accessed longer ago; with keys, --owner, --where or --all \
            only of these. Durations are 500ms, 90s, 5m, 1h30m, 3d or 2w.

            Example: vellum expire City --idle-longer-than 1h --dry-run
            """)

    @OptionGroup var store: StoreArguments

    @OptionGroup var selection: SelectionArguments

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("Let them live that long from now on.", valueName: "duration"),
        transform: Interval.parse)
    var lifetime: Duration?

    @Flag(help: "Expire them at once.")
    var now = false

    @Flag(help: "Take their deadlines away.")
    var never = false

    @Option(
        help: ArgumentHelp("Expire at once what was idle for longer than this.", valueName: "duration"),
        transform: Interval.parse)
    var idleLongerThan: Duration?

    mutating func validate() throws {
        let ways = [lifetime != nil, now, never, idleLongerThan != nil].count(where: { $0 })
        guard ways == 1 else {
            throw ValidationError("say one of --in, --now, --never and --idle-longer-than")
        }
        if selection.isEmpty, idleLongerThan == nil {
            throw ValidationError(
                "say which entries it is about: keys, --owner NAME, --where CONDITION or --all")
        }
    }

    func run() throws {
        try PlannedChange(store: store, selection: selection, idle: idleLongerThan, action: action).run()
    }

    private var action: PlannedAction {
        if let lifetime { return .setLifetime(lifetime) }
        return never ? .setLifetime(nil) : .expireNow
    }
}
