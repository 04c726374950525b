import ArgumentParser

struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Deletes entries.",
        discussion: """
            Asks first on a terminal; elsewhere it takes --yes. An entry that is recorded anew while the question \
            stands is left alone. What was deleted can be brought back with vellum undo for ten minutes, and until a put \
            or an rm finds the disk full: then the room of what was deleted is needed. On a full disk it deletes to the end \
            all the same, and says that it can't be undone. What is more than the archive keeps for \
            that (--dry-run says so) only until 5 % of the archive's limit has been written.

            --where chooses by a look at all entries; one that changes after that look is left alone. A log is emptied with \
            --all, which can't be undone.

            Example: vellum rm City --where 'population < 100000 and @idle > 1h' --dry-run
            """)

    @OptionGroup var store: StoreArguments

    @OptionGroup var selection: SelectionArguments

    mutating func validate() throws {
        if selection.isEmpty {
            throw ValidationError(
                "say which entries to delete: keys, --owner NAME, --where CONDITION or --all")
        }
    }

    func run() throws {
        try PlannedChange(store: store, selection: selection, action: .delete).run()
    }
}
