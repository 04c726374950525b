struct TouchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "touch", abstract: "Accesses entries: makes them the most recent, and counts a hit.",
        discussion: """
            Like an access of a program, but without reading a value. --in also sets their TTL. Exit code 1 if an entry \
            doesn't exist, which counts as a miss; 3 if it may have been lost because the log is damaged.

            Example: vellum touch Session abc123 --in 30m
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The keys.", completion: .keys)
    var keys: [WordList]

    @Option(
        name: .customLong("in"), help: ArgumentHelp("Set the TTL, from now on.", valueName: "duration"),
        transform: Interval.parse)
    var lifetime: Duration?

    func run() throws {
        let store = try reference.store.openForWriting(creating: false)
        defer { store.close() }
        let archive = try store.archive(named: reference.archive)
        try archive.requireEntries()
        var isAnyMissing = false
        for key in keys.words {
            let isThere = try lifetime.map { try archive.touch(key, lifetime: $0) } ?? archive.touch(key)
            guard !isThere else { continue }
            Narration.complainOfAbsence(key)
            isAnyMissing = true
        }
        if isAnyMissing { throw CommandFailure(nil, status: try archive.statusOfAbsence()) }
    }
}
