struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follows the events of one archive or of all, a line per event.",
        discussion: """
            Runs until ctrl+c, or until the output is closed. Without an archive, includes archives created later. Accesses \
            aren't events. Events: record, update, promotion, eviction, expiry, delete, rejection, deadline, restore, \
            append, resize.

            Columns in a pipe, and properties with --json: time, archive, event, key, size, cause, pid. A truncated key ends \
            with …; a deletion of all entries has no key. An archive's ring has its last 2,048 events. If events were \
            overwritten before they were read, a line has the event lost, and their number at its end or as the property \
            count; standard error reports it too.

            With the path of a ring file (a name with a slash, unless --store is passed), its appends are the events, with \
            the time of reading and the size.

            Example: vellum watch City --json | jq -c 'select(.event=="eviction")'
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name (default: all archives), or a ring file's path.")
    var archive: String?

    @Flag(help: "Begin with the oldest event in the ring.")
    var fromStart = false

    @Option(help: ArgumentHelp("End after this time.", valueName: "seconds"))
    var seconds: Double?

    @Option(help: ArgumentHelp("End after this number of events.", valueName: "count"))
    var limit: Int?

    @OptionGroup var rows: JSONLines

    static let columns = [
        Column("time", title: "TIME", width: 12), Column("archive", title: "ARCHIVE", dropped: 2),
        Column("event", title: "EVENT", width: 9), Column("key", title: "KEY", width: 12),
        Column("size", title: "SIZE", width: 8, isNumber: true), Column("cause", title: "CAUSE", width: 8),
        Column("pid", title: "PROCESS", width: 12, dropped: 1),
    ]

    mutating func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more") }
        if let seconds { try Interval.require(seconds: seconds) }
    }

    func run() throws {
        if let archive, let file = RingFilePath(archive, store: store) { return try run(on: file) }
        let end = seconds.map { MonotonicClock.seconds() + $0 }
        let store = try store.openReadOnly()
        var follower = try EventFollower(store, archive: archive, fromStart: fromStart)
        let output = OutputWriter()
        var printer = EventPrinter(
            Self.columns, layout: .fitting(output, json: rows.layout), output: output)
        try printer.begin()
        var left = limit ?? .max
        while left > 0 {
            // The last read starts after the end, so it sees all earlier events.
            let isLast = end.map { MonotonicClock.seconds() >= $0 } ?? false
            let findings = try follower.nextEvents()
            try printer.print(findings, most: &left)
            try output.flush()
            if output.isAbandoned || left == 0 || isLast { return }
            try store.requirePlace()
            let now = MonotonicClock.seconds()
            usleep(useconds_t(min(0.02, max(0, end.map { $0 - now } ?? 0.02)) * 1e6))
        }
    }
}
