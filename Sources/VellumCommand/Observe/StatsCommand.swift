import ServerInspection

struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows counters, sizes and processes of archives; repeatedly with --watch.",
        discussion: """
            Counters start when the archive is created; hitRatio is the lifetime ratio of hits to accesses. In a pipe: \
            archive, name and value, separated by tabs; a process has pid, name, attached, hits, misses, memoryBytes and \
            memoryLimit; an owner name, entries, bytes and hits.

            --json prints one object: time, and archives, an array of objects; with --watch such an object each interval, \
            with rates per second. --watch runs until ctrl+c or until the output is closed, and prints a line per archive \
            and interval: time, archive, entries, diskBytes, memoryBytes, hitRatio of the interval, and per second: hits, \
            misses, records, deletes, evictions, expirations.

            Example: vellum stats City --watch --interval 2s
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name (default: all archives).", completion: .archives)
    var archive: String?

    @Flag(help: "Also show totals by owner.")
    var owners = false

    @Flag(help: "Print rates per second, each interval.")
    var watch = false

    @Option(
        help: ArgumentHelp("With --watch: the interval (default: 1s).", valueName: "duration"),
        transform: Interval.parse)
    var interval: Duration?

    @Flag(help: "Print JSON.")
    var json = false

    private static let titledRows = 20

    mutating func validate() throws {
        if interval != nil, !watch { throw ValidationError("--interval requires --watch") }
        if owners, watch, !json { throw ValidationError("--owners with --watch requires --json") }
    }

    func run() throws {
        if let server = try store.server() { return try show(server) }
        let store = try store.openReadOnly()
        let output = OutputWriter()
        if watch { return try follow(store, output) }
        let (samples, failed) = try take(store)
        if json {
            try JSONTree.store(samples).writeLine(to: output)
        } else if output.isTerminal {
            for (index, sample) in samples.enumerated() {
                if index > 0 { try output.write("\n") }
                try StatsText.write(sample.figures, to: output)
            }
        } else {
            for sample in samples { try output.write(StatsText.plain(sample.figures)) }
        }
        try output.flush()
        Console.reportMissing(
            samples.reduce(0) { $0 + ($1.figures.owners ?? []).reduce(0) { $0 + $1.unreadable } })
        if failed { throw CommandFailure(nil, status: .storeFailure) }
    }

    /// Prints figures of `INFO`, and rates since the previous ones.
    private func show(_ server: ServerAddress) throws {
        if archive != nil || owners {
            throw ValidationError("a server's counters cover all databases, and it has no owners")
        }
        let connection = ServerConnection(server)
        let output = OutputWriter()
        Interruption.collect()
        var before: (figures: ServerFigures, moment: Double)?
        repeat {
            let now = (figures: try connection.figures(), moment: MonotonicClock.seconds())
            if watch, let before {
                try ServerText.write(
                    now.figures, since: before.figures, seconds: now.moment - before.moment, json, to: output)
            } else if !watch {
                try ServerText.write(now.figures, at: .now(), json: json, to: output)
            }
            try output.flush()
            before = now
            if watch, wait(until: MonotonicClock.seconds() + seconds, output) { return }
        } while watch && !Interruption.isRequested
    }

    /// `hasFailed`: an archive could not be read, which has been reported.
    private func take(_ store: Store) throws -> (samples: [TimedSample], hasFailed: Bool) {
        if let archive {
            let archive = try store.archive(named: archive)
            return ([try TimedSample(archive, owners: owners)], try reportLoss(of: archive))
        }
        var samples: [TimedSample] = []
        var failed = false
        try store.visitArchives(staysOpen: watch) { archive in
            samples.append(try TimedSample(archive, owners: owners))
            if try reportLoss(of: archive) { failed = true }
        } unreadable: { name, error in
            Console.warn("\(name): \(error)")
            failed = true
        }
        return (samples, failed)
    }

    private func reportLoss(of archive: Archive) throws(StorageError) -> Bool {
        if watch { return false }
        return try archive.reportLoss(withSegments: true)
    }

    private func follow(_ store: Store, _ output: OutputWriter) throws {
        var next = MonotonicClock.seconds()
        var before: [ExactText: TimedSample] = [:]
        var rows = RowPrinter(
            live: TimedRates.columns, layout: .fitting(output, json: json ? .jsonLines : nil), output: output)
        var untitled = 0
        while true {
            try store.requirePlace()
            let samples = try take(store).samples
            let rates = samples.compactMap { sample in
                before[ExactText(sample.name)].map { TimedRates(from: $0, to: sample) }
            }
            if json, !before.isEmpty || samples.isEmpty {
                try JSONTree.store(samples, rates).writeLine(to: output)
            } else if !json {
                if untitled <= 0 {
                    try rows.printTitles()
                    untitled = Self.titledRows
                }
                for rate in rates { try rows.print(rate.cells) }
                untitled -= rates.count
            }
            try output.flush()
            before = Dictionary(uniqueKeysWithValues: samples.map { (ExactText($0.name), $0) })
            next = max(next + seconds, MonotonicClock.seconds())
            if wait(until: next, output) { return }
        }
    }

    private var seconds: Double { (interval ?? .seconds(1)) / .seconds(1) }

    /// Returns true if the output was closed.
    private func wait(until end: Double, _ output: OutputWriter) -> Bool {
        while MonotonicClock.seconds() < end, !Interruption.isRequested {
            if output.isAbandoned { return true }
            usleep(useconds_t(max(1, min(0.1, end - MonotonicClock.seconds()) * 1e6)))
        }
        return false
    }
}
