struct DropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Removes an archive and its contents.",
        discussion: """
            This can't be undone. Asks on a terminal; elsewhere --yes is required. While another process has the archive \
            open for writing, it is refused with exit code 1, unless --force is passed: that process then gets an error with \
            its next call, or recreates the archive.

            Example: vellum drop City --dry-run
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    @Flag(help: "Remove it even while other processes have it open.")
    var force = false

    @Flag(help: "Only print what would be removed.")
    var dryRun = false

    @Flag(help: "Don't ask.")
    var yes = false

    func run() throws {
        try look()
        if dryRun { return }
        try Confirmation.require(unless: yes)
        let store = try store.openForWriting(creating: false)
        defer { store.close() }
        let opened = try store.archive(named: archive)
        // Read after opening for writing, which may rebuild the index of a copied store.
        let (seen, version) = (try Self.amount(of: opened), try opened.version())
        try Confirmation.ask(
            "Remove archive \(archive) with \(seen)? This can't be undone.", unless: yes,
            refusal: "nothing was removed")
        // Another process may have opened it during the question.
        if !force { try opened.requireUnused(advice: "pass --force") }
        guard try store.removeArchive(named: archive, ifStill: force ? nil : version) else {
            throw CommandFailure(
                "\(TerminalSafe.quoted(archive)) has changed since; nothing was removed", status: .nothing)
        }
        Narration.say("removed archive \(archive) with \(seen)")
    }

    /// Prints the plan with --dry-run, and refuses an archive in use.
    private func look() throws {
        let archive = try store.openForLooking().archive(named: archive)
        if dryRun {
            let amount = try Self.amount(of: archive)
            try OutputWriter.print(
                "would remove archive \(TerminalSafe.column(archive.name)) with \(amount)\n")
        }
        if !force { try archive.requireUnused(advice: "pass --force") }
    }

    private static func amount(of archive: Archive) throws -> String {
        let status = try archive.status()
        return status.configuration.kind == .log
            ? Figures.messages(status.entries, bytes: status.diskBytes)
            : Figures.amount(status.entries, bytes: status.diskBytes)
    }
}
