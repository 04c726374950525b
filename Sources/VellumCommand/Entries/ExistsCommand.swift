struct ExistsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exists", abstract: "Checks whether entries exist; the exit code is the result.",
        discussion: """
            0: all exist; 1: an entry is missing, and standard error names it; 3: the store can't be read or is damaged. If \
            changes of the keys may have been lost, standard error also names the keys that were found. Prints nothing on \
            standard output. Doesn't count as an access.

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
