struct DropCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Removes an archive and its contents.",
        discussion: """
            This can't be undone. Asks on a terminal; elsewhere --yes is required. While another process has the archive \
            open for writing, the command fails with exit code 1, unless --force is passed: that process then gets an error \
            with its next call, or recreates the archive.

            Example: vellum drop City --dry-run
            """)

    @OptionGroup var reference: ArchiveReference

    @Flag(help: "Remove it even while other processes have it open.")
    var force = false

    @Flag(help: "Only print what would be removed.")
    var dryRun = false

    @Flag(help: "Don't ask.")
    var yes = false

    func run() throws {
        try checkPlan()
        if dryRun { return }
        try Confirmation.require(unless: yes)
        let store = try reference.store.openForWriting(creating: false)
        defer { store.close() }
        let opened = try store.archive(named: reference.archive)
        // Read the size only after opening for writing, which may rebuild the index of a copied store.
        let (seen, version) = (try opened.amount(), try opened.version())
        try Confirmation.ask(
            "Remove archive \(reference.archive) with \(seen)? This can't be undone.", unless: yes,
            refusal: "nothing was removed")
        // Another process may have opened it before the confirmation.
        if !force { try opened.requireUnused(advice: "pass --force") }
        guard try store.removeArchive(named: reference.archive, ifStill: force ? nil : version) else {
            throw CommandFailure(
                "another process changed \(TerminalSafe.quoted(reference.archive)); nothing was removed",
                status: .nothing)
        }
        Console.say("removed archive \(reference.archive) with \(seen)")
    }

    /// Prints the plan with --dry-run, and refuses an archive in use.
    private func checkPlan() throws {
        let archive = try reference.store.openReadOnly().archive(named: reference.archive)
        if dryRun {
            let amount = try archive.amount()
            try OutputWriter.print(
                "would remove archive \(TerminalSafe.column(archive.name)) with \(amount)\n")
        }
        if !force { try archive.requireUnused(advice: "pass --force") }
        if try archive.reportLoss(withSegments: true), dryRun {
            throw CommandFailure(nil, status: .storeFailure)
        }
    }
}
