import ArgumentParser
import StorageEngine
import StoreInspection

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Tells what became of a key.",
        discussion: """
            Whether there is an entry of that key now, who holds it in memory, and what happened to it as far as the \
            archive's last 2,048 events reach back; accesses are no events. Exit code 1 if nothing is known of the key.

            --json prints one object: archive, key, present, expired (when an entry met its deadline that nobody finds \
            any more and nobody has removed yet, else null), meta (as keys --json has it, or null), heldBy, events \
            (time, event, size, cause, pid, and process: the name of that pid while it has the archive open), \
            reachesBackTo and isCutOff: whether older events have been overwritten. In a pipe: properties, an empty line, and the events in these columns.

            Example: vellum why City 1642911
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    @Argument(help: "The key.", completion: .keys)
    var key: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let archive = try store.openForLooking().archive(named: archive)
        try archive.requireEntries()
        let story = try KeyStory(archive, key: key)
        let output = OutputWriter()
        if json {
            try story.json.writeLine(to: output)
        } else if output.isTerminal {
            try output.write(story.human(now: .now()))
        } else {
            try output.write(story.plain)
        }
        try output.flush()
        if !story.isKnown {
            let reach = story.history.reachesBackTo.map {
                "; events reach back to \(Figures.date($0))"
            }
            throw CommandFailure(
                "nothing is known of \(TerminalSafe.quoted(key)) in \(archive.name)\(reach ?? "")",
                status: try archive.statusOfAbsence())
        }
    }
}
