struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Deletes entries.",
        discussion: """
            Asks on a terminal; elsewhere --yes is required. An entry stored again before the confirmation is not deleted. \
            vellum undo restores deleted entries for ten minutes, or until the disk is full and a put or an rm reuses \
            their space. On a full disk, rm discards undo records if necessary, and reports that. A collection keeps space \
            for its deletions; if that is used up, rm may stop with an error, and only rm --all still works. A deletion that \
            exceeds the archive's undo budget (--dry-run reports it) can be undone only until 5 % of the archive's limit has \
            been written.

            --where reads all entries; an entry that changes after that is not deleted. --all empties a log, which can't be \
            undone; messages that are appended before the confirmation are kept. --dry-run ends with exit code 3 if the log is \
            damaged, because the count may be too low.

            Example: vellum rm City --where 'population < 100000 and @idle > 1h' --dry-run
            """)

    @OptionGroup var selection: SelectionArguments

    mutating func validate() throws { try selection.requireAny() }

    func run() throws { try PlannedChange(selection: selection, action: .delete).run() }
}
