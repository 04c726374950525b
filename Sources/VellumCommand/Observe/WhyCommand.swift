struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Shows the history of a key.",
        discussion: """
            Shows whether the key has an entry, which processes hold it in memory, and its events among the archive's last \
            2,048; accesses aren't events. If the key has no entry and these events don't show its removal, the log is \
            searched, the newest 1 GiB at most: it has the changes of a removed entry until its space is reclaimed. Exit \
            code 1 if the key has no history.

            --json prints one object: archive, key, present, expired (the expiry time of an expired entry that hasn't been \
            removed yet, else null), meta (as in keys --json, or null), heldBy, events (time, event, size, cause, pid, and \
            process: the name of that pid while it has the archive open), reachesBackTo and isCutOff: whether older events \
            have been overwritten; and log: null if it wasn't searched, else changes (time, event, size, cause, and \
            notBefore: if not null, the change happened between it and time), searchedBytes, totalBytes and isPartial. In a \
            pipe: properties, an empty line, and the events in these columns; then an empty line and the changes of the log, \
            with notBefore as the first column.

            Example: vellum why City 1642911
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The key.", completion: .keys)
    var key: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let archive = try reference.openEntries()
        let story = try KeyExplanation(archive, key: key)
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
                "there is no event of \(TerminalSafe.quoted(key)) in \(archive.name)\(reach ?? "")"
                    + (story.log.map { "; searched \($0.reach)" } ?? ""),
                status: try archive.statusOfAbsence())
        }
        try archive.failIfDamaged()
    }
}
