import ArgumentParser
import StorageEngine
import StoreInspection

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Shows the history of a key.",
        discussion: """
            Shows whether the key has an entry, which processes hold it in memory, and its events among the archive's last \
            2,048; accesses are no events. Exit code 1 if nothing is known of the key.

            --json prints one object: archive, key, present, expired (the expiry time of an expired entry that hasn't been \
            removed yet, else null), meta (as in keys --json, or null), heldBy, events (time, event, size, cause, pid, and \
            process: the name of that pid while it has the archive open), reachesBackTo and isCutOff: whether older events \
            have been overwritten. In a pipe: properties, an empty line, and the events in these columns.

            Example: vellum why City 1642911
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The key.", completion: .keys)
    var key: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let archive = try reference.openEntries()
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
            let reach = story.history.reachesBackTo.map { "; events reach back to \(Figures.date($0))" }
            throw CommandFailure(
                "nothing is known of \(TerminalSafe.quoted(key)) in \(archive.name)\(reach ?? "")",
                status: try archive.statusOfAbsence())
        }
        try archive.failIfDamaged()
    }
}
