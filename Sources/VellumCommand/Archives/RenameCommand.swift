struct RenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Renames an archive.",
        discussion: """
            Copies the archive with all metadata, then removes the old one. The copy temporarily needs additional space. Events, \
            undo records and recorded requests are not copied. While another process has the archive open, the command fails with exit code \
            1. If another process changes the archive during the copy, the old one is kept, with exit code 1.

            Example: vellum rename City Town
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The new name.")
    var name: String

    func run() throws {
        Interruption.collect()
        let store = try reference.store.openForWriting(creating: false)
        defer { store.close() }
        try store.archive(named: reference.archive).requireUnused(advice: "use vellum copy")
        try ArchiveCopying.copy(reference.archive, of: store, as: name, to: store, removesSource: true) {
            copied in
            "renamed \(reference.archive) to \(name), with \(copied)"
        }
    }
}

/// Copies a whole archive with progress; can be interrupted.
enum ArchiveCopying {
    /// `summary` gets a text about the copied entries.
    static func copy(
        _ archive: String, of source: Store, as name: String, to target: Store, removesSource: Bool = false,
        summary: (String) -> String
    ) throws {
        guard try target.hasArchive(named: name) == false else {
            throw CommandFailure(
                "archive \(TerminalSafe.quoted(name)) already exists in \(target.path)", status: .nothing)
        }
        var progress = ProgressBar()
        defer { progress.finish() }
        let copied = try source.copyVersion(ofArchive: archive, to: target, as: name) {
            progress.shouldContinue($0)
        }
        progress.finish()
        guard let (report, version) = copied else {
            Console.say("interrupted; nothing was copied")
            throw CommandFailure(nil, status: Interruption.status)
        }
        report.reportDamage()
        let said = "copied \(report.amount) to \(name)"
        guard report.damaged.isEmpty else {
            // Keep a damaged source: a repair may need the rest.
            Console.say(said + (removesSource ? "; \(archive) is damaged and was kept" : ""))
            throw CommandFailure(nil, status: .storeFailure)
        }
        if removesSource {
            // Entries that another process stored during the copy would be lost.
            guard try source.removeArchive(named: archive, ifStill: version) else {
                Console.say(said)
                throw CommandFailure(
                    "\(TerminalSafe.quoted(archive)) has changed and was kept; drop one of them",
                    status: .nothing)
            }
        }
        Console.say(summary(report.amount))
    }
}
