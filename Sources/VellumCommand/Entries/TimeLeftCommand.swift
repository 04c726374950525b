struct TimeLeftCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ttl", abstract: "Prints the remaining TTL of an entry.",
        discussion: """
            In a pipe, seconds with fractions, or never; on a terminal 4m12s. --json prints one object: key, ttl in seconds \
            or null, expires. Exit code 1 if the entry doesn't exist. vellum expire changes the TTL.

            Example: vellum ttl Session abc123
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The key.", completion: .keys)
    var key: String

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let archive = try reference.openEntries()
        guard let metadata = try archive.metadata(key) else {
            throw CommandFailure(
                "no entry \(TerminalSafe.quoted(key)) in archive \"\(archive.name)\"",
                status: try archive.statusOfAbsence())
        }
        let left = metadata.expires.map { max(0, $0.seconds(since: .now())) }
        let output = OutputWriter()
        if json {
            try JSONTree.cells([
                ("key", .text(key)), ("ttl", left.map { .interval($0) } ?? .absent),
                ("expires", Cell(metadata.expires)),
            ]).writeLine(to: output)
        } else {
            let cell = left.map { Cell.interval($0) } ?? .text("never")
            try output.write((output.isTerminal ? cell.human : cell.plain) + "\n")
        }
        try output.flush()
        try archive.failIfDamaged()
    }
}
