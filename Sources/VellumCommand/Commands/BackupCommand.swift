import ArgumentParser
import StorageEngine
import StoreInspection

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Writes a whole copy of a store that is in use.",
        discussion: """
            Each archive is copied as it is at one moment, with values, deadlines, owners, times, hits and the order of \
            use, while others go on; archives are copied one after another. Events, what can be undone, and what is only \
            in the memory of a process aren't in it. Copying the files with other programs may miss entries.

            The copy is made in FOLDER.partial, synced, and renamed: under its name there is a whole backup or nothing. \
            It replaces nothing. Damaged entries are reported and left out, with exit code 3.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The new folder for the copy, which is a store.", completion: .directory)
    var folder: String

    @Argument(help: "The archives to copy (default: all).")
    var archives: [WordList] = []

    func run() throws {
        let source = try store.openForLooking()
        Interruption.collect()
        var progress = ProgressBar()
        let report: BackupReport?
        do {
            report = try source.backUp(archives: archives.isEmpty ? nil : archives.words, to: folder) {
                progress.goesOn($0)
            }
        } catch {
            progress.finish()
            // A usage error is about the folder itself.
            if error.exitStatus != .usage { Narration.say("nothing was written to \(folder)") }
            throw error
        }
        progress.finish()
        guard let report else {
            Narration.say("interrupted; nothing was written to \(folder)")
            throw CommandFailure(nil, status: Interruption.status)
        }
        report.complainOfDamage()
        Narration.say(
            "copied \(Figures.count(report.archives.count, "archive", "archives")), \(report.amount), to \(folder)"
        )
        if !report.damaged.isEmpty { throw CommandFailure(nil, status: .storeFailure) }
    }
}
