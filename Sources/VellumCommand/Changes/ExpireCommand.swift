struct ExpireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expire", abstract: "Sets or removes expiry times, or expires entries now.",
        discussion: """
            Asks on a terminal; elsewhere --yes is required. An entry stored again before the confirmation is skipped, \
            and with --idle-longer-than also one that is accessed. Can be undone like a deletion, for the same period: \
            entries and their previous expiry times are restored. --never skips entries without an expiry time; if none has \
            one, nothing changes, with exit code 1.

            --idle-longer-than expires entries that were last stored or accessed longer ago; with keys, --owner, --where or \
            --all only among these. Durations are 500ms, 90s, 5m, 1h30m, 3d or 2w.

            Example: vellum expire City --idle-longer-than 1h --dry-run
            """)

    @OptionGroup var selection: SelectionArguments

    @Option(
        name: .customLong("in"), help: ArgumentHelp("Set the TTL, from now on.", valueName: "duration"),
        transform: Interval.parse)
    var lifetime: Duration?

    @Flag(help: "Expire them now.")
    var now = false

    @Flag(help: "Remove their expiry times.")
    var never = false

    @Option(
        help: ArgumentHelp("Expire entries that have been idle for longer.", valueName: "duration"),
        transform: Interval.parse)
    var idleLongerThan: Duration?

    mutating func validate() throws {
        let ways = [lifetime != nil, now, never, idleLongerThan != nil].count(where: { $0 })
        guard ways == 1 else {
            throw ValidationError("pass one of --in, --now, --never and --idle-longer-than")
        }
        if idleLongerThan == nil { try selection.requireAny() }
    }

    func run() throws { try PlannedChange(selection: selection, idle: idleLongerThan, action: action).run() }

    private var action: PlannedAction {
        if let lifetime { return .setLifetime(lifetime) }
        return never ? .setLifetime(nil) : .expireNow
    }
}
