import BrowserCore
import TerminalKit

struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Creates a store, runs a workload on it in a second process, and opens the browser.",
        discussion: """
            The store is temporary unless --store names one; VELLUM_STORE is ignored. The cache City gets half of the space \
            that its 6,204 cities need, so it evicts. Page holds texts, partly also in memory, and would have more hits under \
            another eviction policy (vellum advise); Session holds entries that expire when idle, each owned by its user; \
            Thumbnail holds images from 300 bytes to a megabyte. The workload accesses, stores and deletes by Zipf's law: \
            --rate operations per second, where a miss and the store after it count as two. Graphs show its phases: steady, a \
            scan over all cities, steady, a burst, steady, and City with a third of its limit. The log Journal describes them; \
            see vellum tail Journal --follow. The workload doesn't change the collection Country, so deletions and undo can be \
            tried there. The cities are from GeoNames \
            (https://www.geonames.org), licensed under CC BY 4.0.

            Without the browser, progress is written to standard error and the final figures of the four caches to standard \
            output.
            """)

    @OptionGroup var store: StoreArguments

    @Flag(help: "Keep the temporary store and print its path.")
    var keep = false

    @Flag(help: "Don't open the browser, even on a terminal.")
    var noBrowse = false

    @Option(help: ArgumentHelp("Without the browser: how long the workload runs.", valueName: "seconds"))
    var seconds = 10.0

    @Option(help: ArgumentHelp("Operations a second.", valueName: "count"))
    var rate = 500

    @Option(help: ArgumentHelp("Seed of the workload's random numbers.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "The browser's colors.", valueName: Theme.Name.allCases.map(\.rawValue).joined(separator: "|")))
    var theme: Theme.Name?

    @Flag(help: "As for browse: print each change as a line.")
    var lines = false

    @Option(
        help: ArgumentHelp(
            "Record the browser into this new file; browse --replay plays it.", valueName: "file"),
        completion: .file())
    var record: String?

    @Flag(help: "Print the final figures as one JSON object.")
    var json = false

    mutating func validate() throws {
        if lines, record != nil { throw ValidationError("--lines and --record can't be combined") }
        if record != nil, noBrowse { throw ValidationError("--record requires the browser") }
        if !(1...1_000_000).contains(rate) { throw ValidationError("--rate must be 1 to 1000000") }
        try Interval.require(seconds: seconds)
    }

    func run() throws {
        let browses = !noBrowse && SystemText.isTerminal(STDIN_FILENO) && SystemText.isTerminal(STDOUT_FILENO)
        Interruption.collect()
        let session = try DemoSession(
            store: store.store, keeps: keep, rate: rate, seed: seed, isSilent: browses)
        defer { session.end() }
        if browses, !Interruption.isRequested {
            // The terminal handles signals itself, to restore its modes.
            Interruption.release()
            let browser = BrowserSession(
                store: session.path, isReadOnly: false,
                theme: Configuration.current.theme(option: theme).value)
            var recording = record
            var exit = BrowserExit.startDemo
            while exit == .startDemo {
                exit = try lines ? browser.runInLines() : browser.runInTerminal(recording: recording)
                recording = nil
            }
            return try BrowseCommand.go(
                on: exit, (lines ? ["--lines"] : []) + (theme.map { ["--theme", $0.rawValue] } ?? []))
        }
        try session.wait(seconds: seconds)
        let output = OutputWriter()
        let figures = try session.figures().members
        try json ? JSONTree.cells(figures).writeLine(to: output) : output.write(figures)
        try output.flush()
        if Interruption.isRequested { throw CommandFailure(nil, status: Interruption.status) }
    }
}
