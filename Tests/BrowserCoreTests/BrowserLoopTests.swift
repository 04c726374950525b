import BrowserCore
import Foundation
import StoreInspection
import Synchronization
import TerminalKit
import Testing

/// The loop with a scripted terminal.
struct BrowserLoopTests {
    private let source = Fixture.source()
    private let clock = TestClock()

    private static func step(_ shown: String, _ event: InputEvent, isRead: Bool = true) -> Terminal.Step {
        Terminal.Step(whenShown: shown, event: event, isRead: isRead)
    }

    @Test func runsUntilQuit() throws {
        var terminal = Terminal([
            Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
            Self.step("16 entries", .key(Key(.enter))), Self.step("geonameid: 1642911", .key(Key(.escape))),
            Self.step("16 entries", .resize(Size(columns: 40, rows: 10))),
            Self.step("16 entries", .key(.control("c"))),
        ])
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: source, terminal: &terminal, clock: clock.function)
        #expect(exit == .quit)
        #expect(terminal.steps.isEmpty)
        #expect(
            zip(terminal.frames, terminal.frames.dropFirst()).allSatisfy { $0 != $1 },
            "a frame was presented twice")
    }

    /// An unchanged screen is presented once, regardless of refreshes.
    @Test func drawsOnlyWhatChanged() throws {
        var terminal = Terminal([])
        let ticks = Mutex(0)
        // Each reading advances the clock; the archives' screen shows no ages.
        _ = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: source, terminal: &terminal,
            clock: {
                ticks.withLock { $0 += 1 }
                clock.advance(0.05)
                return clock.now
            })
        #expect(ticks.withLock { $0 } > 1_000)
        // Empty, loaded, and with rates; the graph of a ratio without accesses stays empty. The first line has the age of figures
        // that a busy machine delays.
        let contents = terminal.frames.map { $0.plainText.split(separator: "\n").dropFirst() }
        let changes = zip(contents, contents.dropFirst()).count { $0 != $1 }
        #expect(changes < 12, "\(terminal.frames.map { $0.plainText.split(separator: "\n").first ?? "" })")
    }

    @Test func redrawsResumedTerminal() throws {
        var terminal = Terminal([
            Self.step("3 archives", .resumed), Self.step("3 archives", .key(.character("q"))),
        ])
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: Fixture.source(), terminal: &terminal,
            clock: clock.function)
        #expect(exit == .quit)
    }

    /// A copy is sent immediately, and the whole screen is drawn after a program.
    @Test func copiesAndRunsPrograms() throws {
        var terminal = Terminal([
            Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
            Self.step("16 entries", .key(.character("y"))), Self.step("the key", .key(.character("k"))),
            Self.step("Copied", .key(Key(.enter))), Self.step("16 entries", .key(.character("o"))),
            Self.step("ended with exit code 3", .key(.control("c"))),
        ])
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: Fixture.source(), terminal: &terminal,
            clock: terminal.clock.function)
        #expect(exit == .quit)
        #expect(terminal.sent == [Clipboard.direct.sequence(for: Array("Jakarta".utf8))])
        #expect(terminal.scripts.count == 1 && terminal.scripts.allSatisfy { $0.script.contains("less") })
        #expect(terminal.frames.count > terminal.scripts[0].frames)
    }

    /// A terminal without bracketed paste sends characters. Regression: each was processed separately, and 10,000 took most of a
    /// minute.
    @Test func entersBurstOfCharactersTogether() throws {
        let text = String(repeating: "find a > 5 | ", count: 80)
        var terminal = Terminal(
            [
                Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
                Self.step("16 entries", .key(.character("Q"))),
            ] + text.map { Self.step("Type a query", .key(.character($0))) } + [
                Self.step("Type a query", .key(.character("e"))), Self.step("| e", .key(Key(.escape))),
                Self.step("16 entries", .key(.control("c"))),
            ])
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: Fixture.source(), terminal: &terminal,
            clock: terminal.clock.function)
        #expect(exit == .quit && terminal.steps.isEmpty)
        #expect(terminal.frames.count < 20, "\(terminal.frames.count)")
    }

    private static func keys(_ text: String, shown: String) -> [Terminal.Step] {
        text.map { character in
            switch character {
            case "\n": step(shown, .key(Key(.enter)))
            case "\t": step(shown, .key(Key(.tab)))
            default: step(shown, .key(.character(character)))
            }
        }
    }

    /// Regression: without bracketed paste, the header of a pasted table planned a deletion with its D and confirmed it with tab
    /// and line end; text after a `|` was run by a shell.
    @Test(arguments: [("| touch x\n", "command")])
    func keysBeforeDialogDoNotConfirm(text: String, shown: String) throws {
        var terminal = Terminal(
            [Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter)))]
                + Self.keys(text, shown: "16 entries") + [
                    Self.step("gnored: ", .key(Key(.escape))),
                    Self.step("16 entries", .key(.control("c"))),
                ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(
            terminal.frames.contains { $0.plainText.contains(shown) && $0.plainText.contains("gnored: ") })
        #expect(terminal.scripts.isEmpty && source.with { $0.archives["City"]?.count } == 16)
    }

    /// Regression: the retry was dropped, and the value pane stayed at "Reading". A result without a key is drawn a moment later, so
    /// the clock advances.
    @Test("performs requests that are due at a wake-up")
    func requestsAtWakeUp() throws {
        source.with { $0.valueProblems["Jakarta"] = "the entry fails its checksum" }
        var wake = Self.step("fails its checksum", .wake)
        wake.after = 1.1
        wake.then = { source.with { $0.valueProblems = [:] } }
        var terminal = Terminal([
            Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))), wake,
            Self.step("geonameid: 1642911", .key(.control("c"))),
        ])
        terminal.pause = 10_000
        #expect(
            Self.run(&terminal, source, advancing: 0.005) == .quit && terminal.steps.isEmpty,
            "\(terminal.frames.last?.plainText ?? "")")
    }

    /// Regression: short pasted text was read as keys: `D` opened a plan that `y` confirmed.
    @Test(
        "refuses a key within text that plans a change",
        arguments: ["Dy", "k1\nk2\nDy", "jD", "Date\tName\n", "x 5m\n", "nu"])
    func textPlansNoChange(text: String) throws {
        var terminal = Terminal(
            Self.planOfOne().dropLast() + Self.keys(text, shown: "16 entries") + [
                Self.step("looks like pasted text", .key(.control("c")))
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(!terminal.frames.contains { $0.plainText.contains("Delete 1 entry") })
        #expect(source.with { ($0.writeCalls, $0.archives["City"]?.count) } == (0, 16))
    }

    @Test(
        "opens nothing with line ends of pasted text",
        arguments: ["\t\n", "\n\t", "\t\t\n", "jk\n", "js\njs\n"])
    func textOpensNothing(text: String) throws {
        var terminal = Terminal(
            Self.keys(text, shown: "3 archives") + [
                Self.step("looks like pasted text", .key(.control("c")))
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(!terminal.frames.contains { $0.plainText.contains("16 entries") })
    }

    @Test("leaves the screen and sorts with keys of a burst", arguments: ["jq", "2rq"])
    func textMayLeave(text: String) throws {
        var terminal = Terminal(
            Self.planOfOne().dropLast() + Self.keys(text, shown: "16 entries")
                + [Self.step("3 archives", .key(.control("c")))])
        terminal.pause = 1_000
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
    }

    @Test(
        "opens a plan with a single or repeated key, also after held arrows",
        arguments: [("D", 0.0), ("<down><down><down>D", 0), ("DDD", 0), ("jjjD", 0.05)])
    func keysPlanAChange(script: String, pause: Double) throws {
        var keys = try Key.script(script).map { Self.step("16 entries", .key($0)) }
        keys[keys.count - 1].after = pause
        var terminal = Terminal(
            Self.planOfOne().dropLast() + keys + [
                Self.step("Delete 1 entry", .key(Key(.escape))),
                Self.step("Nothing was deleted", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
    }

    @Test(
        "confirms only by a later burst than the one that opened the dialog",
        arguments: [(0.005, 16), (0.05, 15)])
    func confirmationNeedsPause(pause: Double, left: Int) throws {
        // The plan is shown immediately, so only the pause between the keys counts.
        var answer = Self.step("Delete 1 entry", .key(.character("y")))
        (answer.after, answer.isRead) = (pause, false)
        var terminal = Terminal(
            Self.planOfOne() + [
                answer, Self.step(left == 16 ? "gnored: " : "15 entries", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit)
        #expect(source.with { $0.archives["City"]?.count } == left)
    }

    @Test("moves with held arrows, at 30 repeats a second or in bursts", arguments: [0.033, 0.001, 0])
    func heldArrowsMove(pause: Double) throws {
        var arrows = [Terminal.Step](repeating: Self.step("16 entries", .key(Key(.down))), count: 10)
        for place in arrows.indices { arrows[place].after = pause }
        var terminal = Terminal(
            Self.planOfOne().dropLast() + arrows + [Self.step("11 of 16", .key(.control("c")))])
        #expect(Self.run(&terminal, Fixture.source()) == .quit && terminal.steps.isEmpty)
    }

    @Test("enters short pasted text that includes a line end") func shortTextIsEntered() throws {
        var terminal = Terminal(
            Self.planOfOne().dropLast() + [Self.step("16 entries", .key(.character("/")))]
                + Self.keys("a\nDy", shown: "filter") + [Self.step("a Dy", .key(.control("c")))])
        #expect(Self.run(&terminal, Fixture.source()) == .quit && terminal.steps.isEmpty)
    }

    /// Regression: text pasted into an open plan confirmed it.
    @Test(arguments: [
        "Date\tName\n", "D\t\n", "\t\n", "Dy", "\t\nDMD\ty\n\nquit\n" + String(repeating: "\ty\n", count: 40),
    ])
    func pastedTextDoesNotConfirm(text: String) throws {
        var terminal = Terminal(
            [
                Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
                Self.step("16 entries", .key(.character("D"))),
            ] + Self.keys(text, shown: "Delete 1 entry") + [
                Self.step("looks like pasted text", .key(Key(.tab))),
                Self.step("Delete 1 entry", .key(Key(.escape))),
                Self.step("16 entries", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    /// Regression: a color code, an arrow or a key with Alt in a burst made its `y` a confirmation.
    @Test(arguments: ["y<down>", "<alt+a>y", "<ctrl+a><ctrl+b>y", "<backspace><backspace>y", "<down><enter>"])
    func confirmationIsSingleKey(script: String) throws {
        var terminal = Terminal(
            try Self.planOfOne() + Key.script(script).map { Self.step("Delete 1 entry", .key($0)) } + [
                Self.step("looks like pasted text", .key(Key(.escape))),
                Self.step("16 entries", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    @Test("esc cancels and the key after it acts, also if both are read together", arguments: [0, 0.1])
    func keyAfterEscActs(pause: Double) throws {
        var leave = Self.step(pause == 0 ? "Delete 1 entry" : "16 entries", .key(.character("q")))
        leave.after = pause
        var terminal = Terminal(
            Self.planOfOne() + [
                Self.step("Delete 1 entry", .key(Key(.escape))), leave,
                Self.step("3 archives", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    /// Text contains no arrows.
    @Test func arrowAndEnterConfirm() throws {
        var terminal = Terminal(
            Self.planOfOne() + [
                Self.step("Delete 1 entry", .key(Key(.right))),
                Self.step("Delete 1 entry", .key(Key(.enter))),
                Self.step("15 entries", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 15)
    }

    /// Runs a browser of 120x24 to its end. Each reading advances the clock by `seconds`.
    private static func run(
        _ terminal: inout Terminal, _ source: MockSource, advancing seconds: Double = 0
    ) -> BrowserExit {
        let clock = terminal.clock
        return BrowserLoop.run(
            Fixture.model(columns: 120, rows: 24), source: source, terminal: &terminal,
            clock: {
                if seconds > 0 { clock.advance(seconds) }
                return clock.now
            })
    }

    /// Regression: the first byte of text that arrived byte by byte confirmed if it was `y`; a replaced file can't be restored.
    @Test func textInPiecesDoesNotConfirm() throws {
        var pieces = Self.keys("yes\n", shown: "Delete 1 entry")
        for place in pieces.indices.dropFirst() { pieces[place].isLate = true }
        var terminal = Terminal(
            Self.planOfOne() + pieces + [
                Self.step("gnored: ", .key(Key(.escape))), Self.step("16 entries", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    private static func planOfOne() -> [Terminal.Step] {
        [
            step("3 archives", .key(.character("j"))), step("3 archives", .key(Key(.enter))),
            step("16 entries", .key(.character("D"))),
        ]
    }

    /// Regression: the first piece was refused, and the next ones moved to the button and pressed it.
    @Test func restOfRefusedTextDoesNotConfirm() throws {
        var terminal = Terminal(
            Self.planOfOne() + Self.keys("Date Name\n", shown: "Delete 1 entry") + [
                Self.step("looks like pasted text", .key(Key(.tab)), isRead: false),
                Self.step("tab ignored: too soon", .key(Key(.enter)), isRead: false),
                Self.step("enter ignored: too soon", .key(.character("y")), isRead: false),
                Self.step("y ignored: too soon", .key(Key(.escape))),
                Self.step("Nothing was deleted", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    /// Regression: the burst that opened a plan was refused, and the next piece of the same text confirmed.
    @Test func restOfOpeningTextDoesNotConfirm() throws {
        var terminal = Terminal(
            Self.planOfOne().dropLast() + Self.keys("Dear", shown: "16 entries") + [
                Self.step("looks like pasted text", .key(.character("y"))),
                Self.step("16 entries", .key(Key(.escape))), Self.step("16 entries", .key(.control("c"))),
            ])
        #expect(
            Self.run(&terminal, source) == .quit && terminal.steps.isEmpty,
            "\(terminal.frames.last?.plainText ?? "")")
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    /// Regression: during continuous text nothing was drawn, and Ctrl-C waited for its end.
    @Test func ctrlCQuitsDuringIgnoredText() throws {
        let text = [Terminal.Step](repeating: Self.step("Delete 1 entry", .key(.character("x"))), count: 500)
        var terminal = Terminal(
            Self.planOfOne() + Self.keys("abc", shown: "Delete 1 entry") + text
                + [Self.step("Delete 1 entry", .key(.control("c")))] + text)
        #expect(
            Self.run(&terminal, Fixture.source()) == .quit && terminal.steps.count == 500,
            "\(terminal.steps.count)")
    }

    /// Regression: text over a slow line pressed the button, and each refused `y` restarted the pause.
    @Test func slowTextDoesNotConfirm() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>D")
        try browser.press("ate<tab>Name<enter>", shows: "enter ignored")
        #expect(source.with { $0.archives["City"]?.count } == 16)
        clock.advance(1)
        browser.press([.control("u"), .character("y")])
        #expect(browser.text.contains("y ignored"), "\(browser.text)")
        browser.press([.character("a"), .character("y")])
        #expect(browser.text.contains("y ignored"), "\(browser.text)")
        clock.advance(0.3)
        browser.press([.character("y")])
        #expect(source.with { $0.archives["City"]?.count } == 16)
        clock.advance(0.3)
        browser.press([.character("y")])
        #expect(source.with { $0.archives["City"]?.count } == 15)
    }

    @Test(arguments: [Size(columns: 40, rows: 10), Size(columns: 40, rows: 5), Size(columns: 80, rows: 24)])
    func refusalIsVisibleOverDialog(size: Size) throws {
        var browser = try Fixture.browser(
            Fixture.source(), columns: size.columns, rows: size.rows, keys: "j<enter>D")
        func said() -> Bool {
            let text = browser.text
            return text.contains("Delete 1") && text.contains(browser.model.said ?? "nothing")
        }
        browser.press([.character("x")])
        #expect(browser.model.said == "x is not an answer. Press y or n." && said(), "\(browser.text)")
        browser.press([.character("y")])
        #expect(browser.model.said == "y ignored: too soon. Press it again." && said())
        browser.send(.input(.paste("yes")))
        #expect(browser.model.said == "Ignored: looks like pasted text." && said())
        for keys in ["<esc>:", "<esc><f1>"] {
            browser.press(try Key.script(keys))
            browser.send(.input(.pasteUnfinished))
            #expect(browser.text.contains("A paste hasn't ended; ctrl+c drops it."))
        }
    }

    @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 40, rows: 10), Size(columns: 20, rows: 5)])
    func messageIsVisibleOverPrompt(size: Size) throws {
        var browser = try Fixture.browser(
            Fixture.source(), columns: size.columns, rows: size.rows, keys: "j<enter>W")
        browser.send(.input(.pasteUnfinished))
        #expect(browser.text.contains("A paste hasn't") && browser.text.contains("ended;"), "\(browser.text)")
        browser.send(.input(.pasteDropped))
        #expect(browser.text.contains("The unfinished past"))
        try browser.press("x x<enter>", shows: "character 3: found")
    }

    @Test(arguments: ["", "y", "C", "c", "b", "<enter>"])
    func ignoredInputIsReported(keys: String) throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>" + keys)
        browser.send(.input(.paste("yes\ny")))
        #expect(browser.text.contains("Ignored: pasted text is not keys."), "\(browser.text)")
        browser.press([Key(.function(12))])
        #expect(browser.text.contains("f12 does nothing here"))
    }

    /// With bracketed paste.
    @Test func pasteDoesNotConfirm() throws {
        var browser = try Fixture.browser(source, columns: 120, keys: "j<enter>D")
        browser.send(.input(.paste("yes\n")))
        #expect(browser.text.contains("looks like pasted text"))
        try browser.press("y", shows: "y ignored: too soon")
        #expect(source.with { $0.archives["City"]?.count } == 16)
        browser.press(try Key.script("<esc>x"))
        browser.send(.input(.paste("90 s")))
        try browser.press("<enter>", shows: "in 90s")
    }

    /// Regression: keys that followed the one that opens a list were lost.
    @Test func keysWaitForRows() throws {
        var terminal = Terminal([
            Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
            Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(.character("j"))),
            Self.step("3 of 16", .key(.control("c"))),
        ])
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: Fixture.source(), terminal: &terminal,
            clock: terminal.clock.function)
        #expect(exit == .quit && terminal.steps.isEmpty)
    }

    @Test(arguments: ["touch file\n", "ls\n", "a\n", "ls\nb\n"])
    func lineEndDoesNotRunPastedCommand(text: String) throws {
        var terminal = Terminal(
            Self.planOfOne().dropLast() + [Self.step("16 entries", .key(.character("|")))]
                + Self.keys(text, shown: "command") + [
                    Self.step("enter came with the text", .key(Key(.escape))),
                    Self.step("16 entries", .key(.control("c"))),
                ])
        #expect(
            Self.run(&terminal, Fixture.source()) == .quit && terminal.steps.isEmpty
                && terminal.scripts.isEmpty)
    }

    /// Regression: keys after a jump to unloaded rows found none, and keys after `M` saw half of the marks.
    @Test(arguments: [("GD", "user:99999", "Delete 1 entry"), ("MD", "user:0", "Delete 100,000 entries")])
    func keysWaitForRowsAndMarks(script: String, key: String, title: String) throws {
        var terminal = Terminal(
            try Key.script("<enter>" + script).map {
                var step = Self.step("Users", .key($0))
                step.after = 0.05
                return step
            } + [
                Self.step(title, .key(Key(.escape))), Self.step("Nothing was deleted", .key(.control("c"))),
            ])
        terminal.pause = 10_000
        let exit = BrowserLoop.run(
            Fixture.model(columns: 120, rows: 30), source: MillionTests.Source(count: 100_000),
            terminal: &terminal, clock: terminal.clock.function)
        #expect(exit == .quit && terminal.steps.isEmpty, "\(terminal.frames.last?.plainText ?? "")")
        #expect(terminal.frames.contains { $0.plainText.contains(title) && $0.plainText.contains(key) })
    }

    /// Regression: keys after a query's Enter were typed into it.
    @Test func keysWaitForQueryRows() throws {
        let test = try QueryScreenTests()
        var terminal = Terminal(
            try Key.script("<enter>Q<ctrl+u>limit 5").map { Self.step("Place", .key($0)) }
                + Key.script("<enter>jjD").map {
                    var step = Self.step("limit 5", .key($0))
                    step.after = 0.05
                    return step
                } + [
                    Self.step("Delete 1 entry", .key(Key(.escape))),
                    Self.step("Nothing was deleted", .key(.control("c"))),
                ])
        let exit = BrowserLoop.run(
            Model(
                size: Size(columns: 120, rows: 30), look: Fixture.ascii, folder: test.folder.path,
                store: test.folder.path + "/store", now: Fixture.start),
            source: EngineSource(folder: test.folder.path), terminal: &terminal,
            clock: terminal.clock.function)
        #expect(exit == .quit && terminal.steps.isEmpty, "\(terminal.frames.last?.plainText ?? "")")
        #expect(terminal.frames.contains { $0.plainText.contains("place 57") })
    }

    /// Regression: with slow rows the keys were typed into the query, and its text no longer matched the rows.
    @Test func keysForMissingRowsAreDropped() throws {
        source.with { $0.isQueryEndless = true }
        var terminal = Terminal(
            try Self.planOfOne().dropLast()
                + Key.script("Q<ctrl+u>limit 5").map { Self.step("City", .key($0)) }
                + Key.script("<enter>jD").map { Self.step("limit 5", .key($0)) } + [
                    Self.step("D ignored: still loading", .key(.character("x"))),
                    Self.step("x ignored: still loading", .key(Key(.escape))),
                    Self.step("Stopped", .key(.character("x"))), Self.step("limit 5x", .key(.control("c"))),
                ])
        terminal.pause = 5_000
        #expect(
            Self.run(&terminal, source, advancing: 0.01) == .quit && terminal.steps.isEmpty,
            "\(terminal.frames.last?.plainText ?? "")")
        #expect(!terminal.frames.contains { $0.plainText.contains("limit 5j") })
    }

    /// Regression: the screen stood still for a quarter of a second during slow queries.
    @Test func movesDoNotWaitForSlowRows() throws {
        try Fixture.addQueries(source)
        var times: [Double] = []
        var terminal = Terminal(
            try Self.planOfOne().dropLast()
                + Key.script("Q<ctrl+u>limit 5").map { Self.step("City", .key($0)) } + [
                    Self.step("limit 5", .key(Key(.enter))),
                    Terminal.Step(whenShown: "1 of 5", event: .key(.character("R"))) {
                        source.with { $0.isQueryEndless = true }
                        times.append(clock.now.seconds(since: Fixture.start))
                    },
                    // Regression: a wake-up event was held like a key, with the keys after it.
                    Self.step("5 rows", .wake, isRead: false),
                    Self.step("5 rows", .key(.character("j")), isRead: false),
                    Terminal.Step(whenShown: "2 of 5", event: .key(.control("c")), isRead: false) {
                        times.append(clock.now.seconds(since: Fixture.start))
                    },
                ], clock: clock)
        terminal.pause = 5_000
        #expect(
            Self.run(&terminal, source, advancing: 0.005) == .quit && terminal.steps.isEmpty,
            "\(terminal.frames.last?.plainText ?? "")")
        let waited = try #require(times.last) - times[0]
        #expect((0.05..<0.25).contains(waited), "\(waited)")
    }

    /// Regression: the first line end of pasted text was Enter, and the lines after it were keys of the list.
    @Test func lineEndInBurstIsText() throws {
        var terminal = Terminal(
            [
                Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
                Self.step("16 entries", .key(.character("/"))),
            ] + Self.keys("Jak\nDjakarta\t\nq\n", shown: "filter") + [
                Self.step("0 of 16", .key(Key(.escape))), Self.step("16 entries", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, Fixture.source()) == .quit && terminal.steps.isEmpty)
        #expect(terminal.frames.contains { $0.plainText.contains("Jak Djakarta  q") })
    }

    @Test func startsDemo() throws {
        var terminal = Terminal([Self.step("stores", .key(.character("d")))])
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24, store: nil), source: Fixture.source(), terminal: &terminal,
            clock: clock.function)
        #expect(exit == .startDemo)
    }

    @Test("a store or server that doesn't answer for two seconds isn't shown as live")
    func silentStore() {
        var test = UpdateTest(Fixture.model(columns: 80, rows: 24))
        let (start, asked) = (test.model.now, test.effects)
        test.send(.clock(start.adding(seconds: 1.5)))
        #expect(test.model.silence == nil)
        test.send(.clock(start.adding(seconds: 3)))
        #expect(test.model.silence == 3 && !test.text.contains("live"))
        test.effects = asked
        test.settle(Fixture.source())
        #expect(test.model.silence == nil && test.text.contains("live"))
    }

    /// Stopped work sends no response, and later work is done.
    @Test func runnerStopsWork() async throws {
        let source = MillionTests.Source(count: 150_000)
        var test = UpdateTest(Fixture.model(columns: 80, rows: 24))
        test.settle(source)
        test.press(Key(.enter), expecting: ["arrange Users by idle, new listing"])
        test.settle(source)
        test.press(.character("1"), expecting: ["arrange Users by key"])
        let first = test.effects
        test.press(.character("2"), expecting: ["stop", "arrange Users by size descending"])
        source.reset()
        let (answers, continuation) = AsyncStream.makeStream(of: Message.self)
        let runner = EffectRunner(source: source, clock: clock.function) { message in
            if case .answer = message { continuation.yield(message) }
        }
        // The stop arrives before the work begins.
        for effect in [test.effects[0]] + first + test.effects.dropFirst() { runner.run(effect) }
        var heard = 0
        for await message in answers {
            heard += 1
            test.send(message, expecting: heard == 1 ? [] : ["load value Users/user:999 for preview"])
            if heard == 2 { break }
        }
        #expect(source.calls.withLock { $0.keys } == 0, "keys were read for the stopped order")
        #expect(test.model.cursorKey == "user:999" && test.text.contains("size ▼"))
    }
}
