struct ExistsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exists", abstract: "Checks whether entries exist, by its exit code.",
        discussion: """
            0: all exist; 1: an entry is missing, which standard error names; 3: the store can't be read or is damaged. If a lost \
            record may concern the keys, standard error names those that were found, too. Prints nothing on standard output. \
            Doesn't count as an access.

            Example: vellum exists City 1642911 && echo there
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The keys.", completion: .keys)
    var keys: [WordList]

    func run() throws {
        let archive = try reference.openEntries()
        let hasLost = try archive.reportLoss()
        var (isDamaged, isAnyMissing) = (hasLost, false)
        for key in keys.words {
            let found = try archive.readingEntry(key) { () throws(StorageError) in try archive.metadata(key) }
            guard let found else {
                isDamaged = true
                continue
            }
            if found == nil {
                Console.reportAbsence(key)
                isAnyMissing = true
            } else if hasLost {
                Console.warn("found \(TerminalSafe.quoted(key)), but its value may be outdated")
            }
        }
        if isDamaged || isAnyMissing {
            throw CommandFailure(nil, status: isDamaged ? .storeFailure : .nothing)
        }
    }
}
