import BrowserCore
import ServerInspection
import TerminalCurses
import TerminalKit

struct BrowserSession: Sendable {
    /// The store's folder, ring file or server; nil: the list of stores.
    let store: String?
    var source: any StoreSource = EngineSource()
    let isReadOnly: Bool
    let theme: Theme.Name

    /// Runs until the user quits. `recording`: path of a new file for the screens and keys.
    func runInTerminal(recording: String? = nil) throws -> BrowserExit {
        var screen = try TerminalScreen.open()
        guard let recording else {
            defer { screen.close() }
            return run(on: &screen, look: screen.look(theme))
        }
        let recorder: Recorder
        do {
            // Opened after the terminal: without a terminal, no file is created.
            recorder = try Recorder(
                to: GrowingFile(at: recording), size: screen.size, title: "vellum \(store ?? source.folder)")
        } catch {
            screen.close()
            throw error
        }
        var recorded = RecordedTerminal(screen, recorder: recorder)
        let exit = run(on: &recorded, look: screen.look(theme))
        screen.close()
        if let failure = recorder.failure {
            Console.warn("the recording ends early: \(failure)")
        } else {
            Console.say("recorded \(Figures.duration(recorder.duration)) in \(recording)")
        }
        return exit
    }

    func runInLines() throws -> BrowserExit {
        var screen = try LineScreen.open()
        defer { screen.close() }
        return run(on: &screen, look: screen.look)
    }

    private func run<Terminal: BrowserTerminal>(on screen: inout Terminal, look: Look) -> BrowserExit {
        ProcessMemory.limitAllocatorCaches()
        let variables = ProcessInfo.processInfo.environment
        let state = StateFolder.standard(environment: variables)
        var environment = BrowserEnvironment(environment: variables)
        PrivateFile.removeAbandoned(in: environment.temporaryFolder)
        environment.hintsFile = state?.hints
        environment.showsHints = environment.hintsFile?.exists != true
        environment.capturesMouse = Configuration.current.mouse.value == .on
        screen.capture(mouse: environment.capturesMouse)
        do throws(CommandFailure) { _ = try DemoFile.path() } catch {
            environment.demoProblem = error.message
        }
        let source = settled(source, state: state)
        return Interruption.reportingBrokenPipes {
            BrowserLoop.run(
                model(size: screen.size, look: look, environment, problems: Configuration.current.problems),
                source: source, terminal: &screen, refreshInterval: Configuration.current.refresh.value,
                clock: { .now() })
        }
    }

    private func settled(_ source: any StoreSource, state: StateFolder?) -> any StoreSource {
        // Problems of the settings are reported with the other settings.
        var problems: [String] = []
        let choices = SettledChoices(Configuration.current, problems: &problems)
        if let ring = source as? RingFileSource {
            let remembers = EngineSource(state: state, settled: choices)
            return (try? RingFileSource(path: ring.path, remembers: remembers)) ?? ring
        }
        let engine = EngineSource(folder: source.folder, state: state, settled: choices)
        let server = source as? ServerSource
        return server?.remembering(by: engine, undoFolder: ServerAddress.undoFolder) ?? engine
    }

    /// Runs the keys without a terminal and returns the last screen.
    func frame(size: Size, keys: [Key]) -> Frame {
        var browser = HeadlessBrowser(
            model(
                size: size, look: Look(theme: Theme(theme, depth: ScreenFormat.depth)),
                BrowserEnvironment(environment: ProcessInfo.processInfo.environment)),
            source: settled(source, state: nil), clock: { .now() })
        Interruption.reportingBrokenPipes { browser.press(keys) }
        return browser.frame
    }

    /// `problems`: unusable settings, in addition to unusable keys.
    private func model(
        size: Size, look: Look, _ environment: BrowserEnvironment, problems: [String]? = nil
    ) -> Model {
        let keys = KeyAssignments(Configuration.current)
        var more = keys.problems
        _ = SettledChoices(Configuration.current, problems: &more)
        return Model(
            size: size, look: look, folder: source.folder, store: store, isReadOnly: isReadOnly, now: .now(),
            keyMap: keys.keyMap, problems: problems.map { $0 + more } ?? [], environment: environment)
    }
}

/// The browser's terminal. For one thread, except ``waker``.
struct TerminalScreen: CursesScreen {
    let terminal: CursesTerminal

    /// - Parameter substitute: the command that the error without a terminal suggests; nil: the browser's.
    static func open(substitute: String? = nil) throws(CommandFailure) -> TerminalScreen {
        do throws(TerminalError) {
            return TerminalScreen(
                terminal: try CursesTerminal(environment: ProcessInfo.processInfo.environment))
        } catch {
            var advice = "without a terminal use \(substitute ?? "browse --size 100x30 --print text")"
            if substitute == nil, case .unknownType = error { advice = "--lines needs no screen; " + advice }
            throw CommandFailure("\(error); \(advice)", status: .usage)
        }
    }

    var size: Size { terminal.size }

    func look(_ theme: Theme.Name) -> Look {
        Look(theme: Theme(theme, depth: terminal.depth), glyphs: terminal.isUTF8 ? .unicode : .ascii)
    }

    func present(_ frame: Frame) { terminal.present(frame) }

    func nextEvent(timeout: Double) -> InputEvent? {
        let event = terminal.nextEvent(timeoutMilliseconds: Int((timeout * 1000).rounded(.up)))
        switch event {
        case .key(.control("z")):
            terminal.suspend()
            return terminal.nextEvent(timeoutMilliseconds: 0)
        case .key(.control("l")):
            terminal.invalidate()
            return .resumed
        default: return event
        }
    }

    func capture(mouse: Bool) { terminal.capture(mouse: mouse) }

    func run(_ script: String, arguments: [String]) throws(SourceError) -> Int32 {
        try start(script, arguments)
    }
}

/// A screen that shows its output with curses or as lines on the same terminal.
protocol CursesScreen: BrowserTerminal {
    var terminal: CursesTerminal { get }
}

extension CursesScreen {
    var waker: @Sendable () -> Void {
        let waker = terminal.waker
        return { waker.wake() }
    }

    func send(_ bytes: [UInt8]) { terminal.send(bytes) }

    func start(_ script: String, _ arguments: [String]) throws(SourceError) -> Int32 {
        do throws(TerminalError) {
            return try terminal.run(script: script, arguments: arguments)
        } catch {
            throw SourceError("\(error)")
        }
    }

    func close() { terminal.close() }
}
