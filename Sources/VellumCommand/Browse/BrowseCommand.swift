import BrowserCore
import ServerInspection
import TerminalKit

struct BrowseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Opens the browser.",
        discussion: """
            Shows archives, entries in LRU order and values while other processes use the store. Without a store, lists the \
            stores of the caches folder; PATH may also be a store's folder. The path of a ring file (such as ./MyCache, as \
            the CacheAdvance library writes it) shows its messages. valkey://host:port shows a Valkey or Redis server, with \
            its databases as archives; it is read-only unless it is on this machine or --write is passed. Press ? for help.

            --size needs no terminal: it presses --keys, waits for their effects, and prints the last screen. Characters are \
            written as such, other keys by name, as in jj<enter>/foo<esc><ctrl+w>; <lt> is <.

            --lines prints each change as a line, for screen readers and for terminals without cursor control. The keys are \
            the same; ctrl+l repeats the current position.

            --record writes screens and pressed keys, including typed text, into a new file that only you can read, for a \
            bug report or a demonstration. --replay plays it, and so does asciinema.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: ArgumentHelp("A store's folder, or a ring file.", valueName: "path"), completion: .file())
    var file: String?

    @Flag(help: "Disable changes.")
    var readOnly = false

    @OptionGroup var remote: RemoteWriting

    @Option(
        help: ArgumentHelp(
            "The color theme.", valueName: Theme.Name.allCases.map(\.rawValue).joined(separator: "|")))
    var theme: Theme.Name?

    @Option(help: ArgumentHelp("Print a screen of this size and exit.", valueName: "colsxrows"))
    var size: Size?

    @Option(
        help: ArgumentHelp("With --size: the keys to press.", valueName: "keys"),
        transform: { try Key.script($0) })
    var keys: [Key]?

    @Option(
        name: .customLong("print"),
        help: ArgumentHelp("With --size or --replay: the output format.", valueName: "text|ansi|svg"))
    var format: ScreenFormat?

    @Flag(help: "Print each change as a line, for screen readers.")
    var lines = false

    @Option(help: ArgumentHelp("Record into this new file.", valueName: "file"), completion: .file())
    var record: String?

    @Option(
        help: ArgumentHelp("Play this recording; with --print, print its last screen.", valueName: "file"),
        completion: .file())
    var replay: String?

    @Option(
        help: ArgumentHelp(
            "With --replay: start at this time, or print the screen at this time.", valueName: "seconds"))
    var at: Double?

    mutating func validate() throws {
        if replay != nil {
            if store.store != nil || file != nil || size != nil || keys != nil || record != nil || readOnly
                || lines
            {
                throw ValidationError("--replay allows only the options --at, --print and --theme")
            }
            if let at, !(0...1e9).contains(at) { throw ValidationError("--at must be 0 to 1000000000") }
            return
        }
        if at != nil { throw ValidationError("--at requires --replay") }
        if lines, size != nil || record != nil {
            throw ValidationError("--lines can't be combined with --size or --record")
        }
        if size == nil, keys != nil || format != nil {
            throw ValidationError("--keys and --print require --size")
        }
        if size != nil, record != nil { throw ValidationError("--record and --size can't be combined") }
    }

    func run() throws {
        if let replay { return try play(replay) }
        let address = try StoreArguments.server(file) ?? (file == nil ? store.server() : nil)
        if let address {
            if file != nil, store.store != nil {
                throw ValidationError("--store and a server's address can't be combined")
            }
            return try show(address)
        }
        if remote.write {
            throw ValidationError("--write is for servers; a store is writable unless --read-only is passed")
        }
        // If the folder isn't a store, opening it reports the reason.
        let folder = file.flatMap { FileKind(of: $0) == .folder ? $0 : nil }
        let file = folder == nil ? file : nil
        // Probably a mistyped command. Checked after the options, so that a mistyped option is reported first.
        if let file, !file.contains("/") {
            throw ValidationError(
                "'\(file)' is neither a command nor a folder; vellum help lists the commands; for a ring file, write ./\(file)"
            )
        }
        if file ?? folder != nil, store.store != nil {
            throw ValidationError("--store can't be combined with the path of another store or a ring file")
        }
        let path = file ?? folder ?? store.named
        // Fail with one line on the command line, not within the browser.
        var source: any StoreSource = EngineSource()
        if let file, let ring = RingFilePath(file, store: store) {
            _ = try ring.openReadOnly()
            source = try RingFileSource(path: file)
        } else if let path {
            try Store.open(at: path, mode: .readOnly, createIfMissing: false, options: .forReading).close()
            source = EngineSource(folder: Self.folder(of: path))
        }
        try show(
            BrowserSession(
                store: path.map(StorePath.absolute), source: source, isReadOnly: readOnly,
                theme: Configuration.current.theme(option: theme).value))
    }

    private func show(_ server: ServerAddress) throws {
        let source = ServerSource(
            server, remembers: EngineSource(), undoFolder: nil, allowsWriting: remote.write)
        try source.connect()
        try show(
            BrowserSession(
                store: server.description, source: source, isReadOnly: readOnly,
                theme: Configuration.current.theme(option: theme).value))
    }

    private func show(_ session: BrowserSession) throws {
        if let size {
            ConfigurationReport.printProblems()
            let frame = session.frame(size: size, keys: keys ?? [])
            return try (format ?? .text).print(frame, session.theme)
        }
        let exit = try lines ? session.runInLines() : session.runInTerminal(recording: record)
        (session.source as? ServerSource)?.disconnect()
        let flags = [(lines, "--lines"), (readOnly, "--read-only")].filter(\.0).map(\.1)
        try Self.go(on: exit, flags + (theme.map { ["--theme", $0.rawValue] } ?? []))
    }

    /// Starts the command that the user requested when the browser ended.
    /// - Parameter options: those of the ended browser.
    static func go(on exit: BrowserExit, _ options: [String]) throws {
        switch exit {
        case .quit: break
        case .startDemo: try DemoCommand.parse(options.filter { $0 != "--read-only" }).run()
        }
    }

    private func play(_ path: String) throws {
        let theme = Configuration.current.theme(option: theme).value
        let recording = try Recording(contentsOf: path)
        if let format {
            var replay = try Replay(
                recording, named: path, look: Look(theme: Theme(theme, depth: ScreenFormat.depth)))
            try replay.move(to: at ?? recording.duration)
            return try format.print(replay.frame, theme)
        }
        var screen = try TerminalScreen.open(substitute: "--replay with --print text")
        defer { screen.close() }
        var replay = try Replay(recording, named: path, look: screen.look(theme))
        if let at { try replay.move(to: at) }
        try ReplayLoop.run(replay, terminal: &screen)
    }

    private static func folder(of path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
    }
}
