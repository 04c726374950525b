struct TailCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Prints the last messages of a log; --follow prints new ones too.",
        discussion: """
            In a pipe: number, time in seconds since 1970 and text, separated by tabs. --json prints an object per line: \
            sequence, time, and text, or data in base64 if the message isn't UTF-8. Numbers \
            increase, possibly with gaps. Without --follow, ends with the last message at the start of the command; with \
            --follow, runs until ctrl+c or until the output is closed. Messages dropped before they could be read are \
            reported on standard error, and damaged ones with exit code 3.

            A log's name with a slash is the path of a ring file, as the CacheAdvance library writes it, unless --store is \
            passed; its messages have no number and no time.

            Example: vellum tail Builds -n 100 --follow
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The log's name, or a ring file's path.")
    var log: String

    @Option(
        name: [.customShort("n"), .customLong("lines")],
        help: ArgumentHelp("Begin with this number of last messages.", valueName: "count"))
    var lines = 10

    @Flag(name: .shortAndLong, help: "Also print messages appended from now on.")
    var follow = false

    @OptionGroup var rows: JSONLines

    @Flag(help: "Print only the messages' bytes, with a line feed after each.")
    var raw = false

    mutating func validate() throws {
        if lines < 0 { throw ValidationError("-n must be 0 or more") }
        if rows.json, raw { throw ValidationError("--json and --raw can't be combined") }
    }

    func printer(to output: OutputWriter) -> MessagePrinter {
        MessagePrinter(
            layout: raw ? .raw : rows.json ? .json : output.isTerminal ? .human : .tabs, output: output)
    }

    func run() throws {
        if let file = RingFilePath(log, store: store) { return try run(on: file) }
        let store = try store.openReadOnly()
        let archive = try store.archive(named: log)
        try archive.requireMessages()
        let output = OutputWriter()
        let printer = printer(to: output)
        // Without --follow, end with the currently last message, however fast others append.
        let end = follow ? nil : try archive.cursor(beforeLast: 0)
        var cursor = try archive.cursor(beforeLast: lines, of: end)
        var hasWarned = false
        // Messages of a lost part of the log aren't reported as damaged.
        let lacksSome = try archive.reportLoss()
        var isDamaged = lacksSome
        while true {
            let batch: MessageBatch
            do throws(StorageError) {
                batch = try archive.messages(after: cursor, before: end, mostBytes: 4 << 20)
            } catch {
                guard case .closed = error else { throw error }
                throw CommandFailure(
                    "\(TerminalSafe.quoted(log)) was removed or renamed; its last messages may not have been read",
                    status: .nothing)
            }
            isDamaged = isDamaged || batch.someAreDamaged
            if batch.someAreLost, follow || !hasWarned {
                Console.warn(
                    batch.someAreDamaged
                        ? "some messages are damaged and left out; vellum check shows where"
                        : lacksSome
                            ? "some messages are missing"
                            : "some messages were dropped before they were read")
                hasWarned = true
            }
            for message in batch.messages { try printer.print(message) }
            cursor = batch.next
            guard batch.messages.isEmpty else { continue }
            try output.flush()
            guard follow, !output.isAbandoned else {
                if isDamaged { throw CommandFailure(nil, status: .storeFailure) }
                return
            }
            try store.requirePlace()
            usleep(30_000)
        }
    }
}
