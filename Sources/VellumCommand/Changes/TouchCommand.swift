struct TouchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "touch", abstract: "Accesses entries: makes them the most recent, and counts a hit.",
        discussion: """
            Like an access of a program, but without reading a value. --in also sets their TTL. Exit code 1 if an entry \
            doesn't exist, which counts as a miss; 3 if it is damaged, or may have been lost.

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
        var (isAnyDamaged, isAnyMissing) = (false, false)
        for key in keys.words {
            let exists = try archive.readingEntry(key) { () throws(StorageError) in
                // Throws if the entry is damaged; a touch doesn't read it.
                _ = try archive.metadata(key)
                if let lifetime { return try archive.touch(key, lifetime: lifetime) }
                return try archive.touch(key)
            }
            isAnyDamaged = isAnyDamaged || exists == nil
            guard exists == false else { continue }
            Console.reportAbsence(key)
            isAnyMissing = true
        }
        if isAnyDamaged { throw CommandFailure(nil, status: .storeFailure) }
        if isAnyMissing { throw CommandFailure(nil, status: try archive.statusOfAbsence()) }
    }
}
