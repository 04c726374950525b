struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copies a whole store that is in use.",
        discussion: """
            Copies each archive as of one moment, with values, expiry times, owners, times, hits and the LRU order, \
            while other processes continue; archives are copied one after another. Events, undo records and values that only \
            a process's memory holds are not included. Copying the files with other programs may miss entries.

            The copy is made in FOLDER.partial, synced and renamed, so that its name refers to a complete backup or nothing. \
            An existing folder is not replaced. Damaged entries are reported and left out, with exit code 3.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The new folder for the copy.", completion: .directory)
    var folder: String

    @Argument(help: "The archives to copy (default: all).")
    var archives: [WordList] = []

    func run() throws {
        let source = try store.openReadOnly()
        Interruption.collect()
        var progress = ProgressBar()
        let report: BackupReport?
        do {
            report = try source.backUp(archives: archives.isEmpty ? nil : archives.words, to: folder) {
                progress.shouldContinue($0)
            }
        } catch {
            progress.finish()
            // A usage error is about the folder itself.
            if error.exitStatus != .usage { Console.say("nothing was written to \(folder)") }
            throw error
        }
        progress.finish()
        guard let report else {
            Console.say("interrupted; nothing was written to \(folder)")
            throw CommandFailure(nil, status: Interruption.status)
        }
        report.reportDamage()
        Console.say(
            "copied \(Figures.count(report.archives.count, "archive", "archives")), \(report.amount), to \(folder)"
        )
        if !report.damaged.isEmpty { throw CommandFailure(nil, status: .storeFailure) }
    }
}
