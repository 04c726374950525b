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

    /// Steps for the keys of scripts, in which tabs and line ends are keys, too. Each key waits for the text before its script.
    private static func steps(_ scripts: KeyValuePairs<String, String>) throws -> [Terminal.Step] {
        try scripts.flatMap { shown, script in
            try Key.script(script.replacing("\t", with: "<tab>")).map { step(shown, .key($0)) }
        }
    }

    /// Steps to the entries of `City`.
    private static func city() throws -> [Terminal.Step] { try steps(["3 archives": "j<enter>"]) }

    /// Steps to the plan to delete an entry of `City`.
    private static func plan() throws -> [Terminal.Step] { try city() + steps(["16 entries": "D"]) }

    /// Runs a browser of 80x24, and expects that it quits after all steps but the last `left` ones. Each reading advances the clock by
    /// `seconds`; `pause` is that of the terminal.
    @discardableResult
    private func run(
        _ steps: [Terminal.Step], _ model: Model = Fixture.model(),
        source: (any StoreSource)? = nil, advancing seconds: Double = 0, pause: UInt32 = 0, left: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Terminal {
        let clock = clock
        var terminal = Terminal(steps, clock: clock)
        terminal.pause = pause
        let exit = BrowserLoop.run(
            model, source: source ?? self.source, terminal: &terminal,
            clock: {
                if seconds > 0 { clock.advance(seconds) }
                return clock.now
            })
        #expect(
            exit == .quit && terminal.steps.count == left, "\(terminal.frames.last?.plainText ?? "")",
            sourceLocation: sourceLocation)
        return terminal
    }

    /// The number of entries in `City`.
    private var cities: Int? { source.with { $0.archives["City"]?.count } }

    @Test func runsUntilQuit() throws {
        let terminal = run(
            try Self.steps(["3 archives": "j<enter>", "16 entries": "<enter>", "geonameid: 1642911": "<esc>"])
                + [Self.step("16 entries", .resize(Size(columns: 40, rows: 10)))]
                + Self.steps(["16 entries": "<ctrl+c>"]))
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
            Fixture.model(), source: source, terminal: &terminal,
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
        run([Self.step("3 archives", .resumed), Self.step("3 archives", .key(.character("q")))])
    }

    /// A copy is sent immediately, and the whole screen is drawn after a program.
    @Test func copiesAndRunsPrograms() throws {
        let terminal = run(
            try Self.city()
                + Self.steps([
                    "16 entries": "y", "the key": "k", "Copied": "<enter>", "16 entries": "o",
                    "ended with exit code 3": "<ctrl+c>",
                ]))
        #expect(terminal.sent == [Clipboard.direct.sequence(for: Array("Jakarta".utf8))])
        #expect(terminal.scripts.count == 1 && terminal.scripts.allSatisfy { $0.script.contains("less") })
        #expect(terminal.frames.count > terminal.scripts[0].frames)
    }

    /// A terminal without bracketed paste sends characters. Regression: each was processed separately, and 10,000 took most of a
    /// minute.
    @Test func entersBurstOfCharactersTogether() throws {
        let text = String(repeating: "find a > 5 | ", count: 80)
        let terminal = run(
            try Self.city()
                + Self.steps([
                    "16 entries": "Q", "Type a query": text + "e", "| e": "<esc>", "16 entries": "<ctrl+c>",
                ]))
        #expect(terminal.frames.count < 20, "\(terminal.frames.count)")
    }

    /// Regression: without bracketed paste, the header of a pasted table planned a deletion with its D and confirmed it with tab
    /// and line end; text after a `|` was run by a shell.
    @Test func keysBeforeDialogDoNotConfirm() throws {
        let terminal = run(
            try Self.city()
                + Self.steps([
                    "16 entries": "| touch x\n", "gnored: ": "<esc>", "16 entries": "<ctrl+c>",
                ]))
        #expect(
            terminal.frames.contains {
                $0.plainText.contains("command") && $0.plainText.contains("gnored: ")
            })
        #expect(terminal.scripts.isEmpty && cities == 16)
    }

    /// Regression: the retry was dropped, and the value pane stayed at "Reading". A result without a key is drawn a moment later, so
    /// the clock advances.
    @Test("performs requests that are due at a wake-up")
    func requestsAtWakeUp() throws {
        source.with { $0.valueProblems["Jakarta"] = "the entry fails its checksum" }
        var wake = Self.step("fails its checksum", .wake)
        wake.after = 1.1
        wake.then = { source.with { $0.valueProblems = [:] } }
        run(
            try Self.city() + [wake] + Self.steps(["geonameid: 1642911": "<ctrl+c>"]), advancing: 0.005,
            pause: 10_000)
    }

    /// Regression: short pasted text was read as keys: `D` opened a plan that `y` confirmed.
    @Test(
        "refuses a key within text that plans a change",
        arguments: ["Dy", "k1\nk2\nDy", "jD", "Date\tName\n", "x 5m\n", "nu"])
    func textPlansNoChange(text: String) throws {
        let terminal = run(
            try Self.city() + Self.steps(["16 entries": text, "looks like pasted text": "<ctrl+c>"]))
        #expect(!terminal.frames.contains { $0.plainText.contains("Delete 1 entry") })
        #expect(source.with { ($0.writeCalls, $0.archives["City"]?.count) } == (0, 16))
    }

    @Test(
        "line ends in pasted text open nothing",
        arguments: ["\t\n", "\n\t", "\t\t\n", "jk\n", "js\njs\n"])
    func textOpensNothing(text: String) throws {
        let terminal = run(
            try Self.steps(["3 archives": text, "looks like pasted text": "<ctrl+c>"]))
        #expect(!terminal.frames.contains { $0.plainText.contains("16 entries") })
    }

    @Test("keys of a burst leave the screen and sort", arguments: ["jq", "2rq"])
    func textMayLeave(text: String) throws {
        run(
            try Self.city() + Self.steps(["16 entries": text, "3 archives": "<ctrl+c>"]), pause: 1_000)
    }

    @Test(
        "opens a plan with a single or repeated key, also after held arrows",
        arguments: [("D", 0.0), ("<down><down><down>D", 0), ("DDD", 0), ("jjjD", 0.05)])
    func keysPlanAChange(script: String, pause: Double) throws {
        var keys = try Self.steps(["16 entries": script])
        keys[keys.count - 1].after = pause
        run(
            try Self.city() + keys
                + Self.steps(["Delete 1 entry": "<esc>", "Nothing was deleted": "<ctrl+c>"]))
    }

    @Test(
        "confirms only by a later burst than the one that opened the dialog",
        arguments: [(0.005, 16), (0.05, 15)])
    func confirmationNeedsPause(pause: Double, left: Int) throws {
        // The plan is shown immediately, so only the pause between the keys counts.
        var answer = Self.step("Delete 1 entry", .key(.character("y")), isRead: false)
        answer.after = pause
        run(
            try Self.plan() + [answer]
                + Self.steps([left == 16 ? "gnored: " : "15 entries": "<ctrl+c>"]))
        #expect(cities == left)
    }

    @Test("moves with held arrows, at 30 repeats a second or in bursts", arguments: [0.033, 0.001, 0])
    func heldArrowsMove(pause: Double) throws {
        var arrows = [Terminal.Step](repeating: Self.step("16 entries", .key(Key(.down))), count: 10)
        for place in arrows.indices { arrows[place].after = pause }
        run(try Self.city() + arrows + Self.steps(["11 of 16": "<ctrl+c>"]))
    }

    @Test("enters short pasted text that includes a line end") func shortTextIsEntered() throws {
        run(
            try Self.city()
                + Self.steps(["16 entries": "/", "filter": "a\nDy", "a Dy": "<ctrl+c>"]))
    }

    /// Regression: text pasted into an open plan confirmed it.
    @Test(arguments: [
        "Date\tName\n", "D\t\n", "\t\n", "Dy", "\t\nDMD\ty\n\nquit\n" + String(repeating: "\ty\n", count: 40),
    ])
    func pastedTextDoesNotConfirm(text: String) throws {
        run(
            try Self.plan()
                + Self.steps([
                    "Delete 1 entry": text, "looks like pasted text": "<tab>", "Delete 1 entry": "<esc>",
                    "16 entries": "<ctrl+c>",
                ]))
        #expect(cities == 16)
    }

    /// Regression: a color code, an arrow or a key with Alt in a burst made its `y` a confirmation.
    @Test(arguments: ["y<down>", "<alt+a>y", "<ctrl+a><ctrl+b>y", "<backspace><backspace>y", "<down><enter>"])
    func confirmationIsSingleKey(script: String) throws {
        run(
            try Self.plan()
                + Self.steps([
                    "Delete 1 entry": script, "looks like pasted text": "<esc>", "16 entries": "<ctrl+c>",
                ]))
        #expect(cities == 16)
    }

    @Test("esc cancels and the key after it acts, also if both are read together", arguments: [0, 0.1])
    func keyAfterEscActs(pause: Double) throws {
        var leave = Self.step(pause == 0 ? "Delete 1 entry" : "16 entries", .key(.character("q")))
        leave.after = pause
        run(
            try Self.plan() + Self.steps(["Delete 1 entry": "<esc>"]) + [leave]
                + Self.steps(["3 archives": "<ctrl+c>"]))
        #expect(cities == 16)
    }

    /// Text contains no arrows.
    @Test func arrowAndEnterConfirm() throws {
        run(try Self.plan() + Self.steps(["Delete 1 entry": "<right><enter>", "15 entries": "<ctrl+c>"]))
        #expect(cities == 15)
    }

    /// Regression: the first byte of text that arrived byte by byte confirmed if it was `y`; a replaced file can't be restored.
    @Test func textInPiecesDoesNotConfirm() throws {
        var pieces = try Self.steps(["Delete 1 entry": "yes\n"])
        for place in pieces.indices.dropFirst() { pieces[place].isLate = true }
        run(
            try Self.plan() + pieces + Self.steps(["gnored: ": "<esc>", "16 entries": "<ctrl+c>"]))
        #expect(cities == 16)
    }

    /// Regression: the first piece was refused, and the next ones moved to the button and pressed it.
    @Test func remainderOfRefusedTextDoesNotConfirm() throws {
        run(
            try Self.plan() + Self.steps(["Delete 1 entry": "Date Name\n"]) + [
                Self.step("looks like pasted text", .key(Key(.tab)), isRead: false),
                Self.step("tab ignored: too soon", .key(Key(.enter)), isRead: false),
                Self.step("enter ignored: too soon", .key(.character("y")), isRead: false),
            ] + Self.steps(["y ignored: too soon": "<esc>", "Nothing was deleted": "<ctrl+c>"]))
        #expect(cities == 16)
    }

    /// Regression: the burst that opened a plan was refused, and the next piece of the same text confirmed.
    @Test func textOfBurstThatOpensPlanDoesNotConfirm() throws {
        run(
            try Self.city()
                + Self.steps([
                    "16 entries": "Dear", "looks like pasted text": "y", "16 entries": "<esc><ctrl+c>",
                ]))
        #expect(cities == 16)
    }

    /// Regression: during continuous text nothing was drawn, and Ctrl-C waited for its end.
    @Test func ctrlCQuitsDuringIgnoredText() throws {
        let text = [Terminal.Step](repeating: Self.step("Delete 1 entry", .key(.character("x"))), count: 500)
        run(
            try Self.plan() + Self.steps(["Delete 1 entry": "abc"]) + text
                + Self.steps(["Delete 1 entry": "<ctrl+c>"]) + text, left: 500)
    }

    /// Regression: text over a slow line pressed the button, and each refused `y` restarted the pause.
    @Test func slowTextDoesNotConfirm() throws {
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>D")
        try browser.press("ate<tab>Name<enter>", shows: "enter ignored")
        #expect(cities == 16)
        clock.advance(1)
        try browser.press("<ctrl+u>y", shows: "y ignored")
        try browser.press("ay", shows: "y ignored")
        clock.advance(0.3)
        try browser.press("y")
        #expect(cities == 16)
        clock.advance(0.3)
        try browser.press("y")
        #expect(cities == 15)
    }

    @Test(arguments: [Size(columns: 40, rows: 10), Size(columns: 40, rows: 5), Size(columns: 80, rows: 24)])
    func refusalIsVisibleOverDialog(size: Size) throws {
        var browser = try Fixture.browser(
            Fixture.source(), columns: size.columns, rows: size.rows, keys: "j<enter>D")
        func said() -> Bool {
            let text = browser.text
            return text.contains("Delete 1") && text.contains(browser.model.said ?? "nothing")
        }
        try browser.press("x")
        #expect(browser.model.said == "x is not an answer. Press y or n." && said(), "\(browser.text)")
        try browser.press("y")
        #expect(browser.model.said == "y ignored: too soon. Press it again." && said())
        browser.send(.input(.paste("yes")))
        #expect(browser.model.said == "Ignored: looks like pasted text." && said())
        for keys in ["<esc>:", "<esc><f1>"] {
            try browser.press(keys)
            browser.send(.input(.pasteUnfinished))
            #expect(browser.text.contains("Incomplete paste; ctrl+c discards it."))
        }
    }

    @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 40, rows: 10), Size(columns: 20, rows: 5)])
    func messageIsVisibleOverPrompt(size: Size) throws {
        var browser = try Fixture.browser(
            Fixture.source(), columns: size.columns, rows: size.rows, keys: "j<enter>W")
        browser.send(.input(.pasteUnfinished))
        #expect(browser.text.contains("Incomplete paste;"), "\(browser.text)")
        browser.send(.input(.pasteDropped))
        #expect(browser.text.contains("The incomplete past"))
        try browser.press("x x<enter>", shows: "character 3: found")
    }

    @Test(arguments: ["", "y", "C", "c", "b", "<enter>"])
    func ignoredInputIsReported(keys: String) throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>" + keys)
        browser.send(.input(.paste("yes\ny")))
        #expect(browser.text.contains("Ignored: pasted text runs no keys."), "\(browser.text)")
        try browser.press("<f12>", shows: "f12 does nothing here")
    }

    /// With bracketed paste.
    @Test func pasteDoesNotConfirm() throws {
        var browser = try Fixture.browser(source, columns: 120, keys: "j<enter>D")
        browser.send(.input(.paste("yes\n")))
        #expect(browser.text.contains("looks like pasted text"))
        try browser.press("y", shows: "y ignored: too soon")
        #expect(cities == 16)
        try browser.press("<esc>x")
        browser.send(.input(.paste("90 s")))
        try browser.press("<enter>", shows: "in 90s")
    }

    /// Regression: keys that followed the one that opens a list were lost.
    @Test func keysWaitForRows() throws {
        run(try Self.steps(["3 archives": "j<enter>jj", "3 of 16": "<ctrl+c>"]))
    }

    @Test(arguments: ["touch file\n", "ls\n", "a\n", "ls\nb\n"])
    func lineEndDoesNotRunPastedCommand(text: String) throws {
        let terminal = run(
            try Self.city()
                + Self.steps([
                    "16 entries": "|", "command": text, "enter came with the text": "<esc>",
                    "16 entries": "<ctrl+c>",
                ]))
        #expect(terminal.scripts.isEmpty)
    }

    /// Regression: keys after a jump to unloaded rows found none, and keys after `M` saw half of the marks.
    @Test(arguments: [("GD", "user:99999", "Delete 1 entry"), ("MD", "user:0", "Delete 100,000 entries")])
    func keysWaitForRowsAndMarks(script: String, key: String, title: String) throws {
        var keys = try Self.steps(["Users": "<enter>" + script])
        for place in keys.indices { keys[place].after = 0.05 }
        let terminal = run(
            keys + (try Self.steps([title: "<esc>", "Nothing was deleted": "<ctrl+c>"])),
            source: MillionTests.Source(count: 100_000), pause: 10_000)
        #expect(terminal.frames.contains { $0.plainText.contains(title) && $0.plainText.contains(key) })
    }

    /// Regression: keys after a query's Enter were typed into it.
    @Test func keysWaitForQueryRows() throws {
        let test = try QueryScreenTests()
        var keys = try Self.steps(["limit 5": "<enter>jjD"])
        for place in keys.indices { keys[place].after = 0.05 }
        let terminal = run(
            try Self.steps(["Place": "<enter>Q<ctrl+u>limit 5"]) + keys
                + Self.steps(["Delete 1 entry": "<esc>", "Nothing was deleted": "<ctrl+c>"]),
            Model(
                size: Size(columns: 80, rows: 24), look: Fixture.ascii, folder: test.folder.path,
                store: test.folder.path + "/store", now: Fixture.start),
            source: EngineSource(folder: test.folder.path))
        #expect(terminal.frames.contains { $0.plainText.contains("place 57") })
    }

    /// Regression: with slow rows the keys were typed into the query, and its text no longer matched the rows.
    @Test func keysForMissingRowsAreDropped() throws {
        source.with { $0.isQueryEndless = true }
        let terminal = run(
            try Self.city()
                + Self.steps([
                    "City": "Q<ctrl+u>limit 5", "limit 5": "<enter>jD", "D ignored: still loading": "x",
                    "x ignored: still loading": "<esc>", "Stopped": "x", "limit 5x": "<ctrl+c>",
                ]), advancing: 0.01, pause: 5_000)
        #expect(!terminal.frames.contains { $0.plainText.contains("limit 5j") })
    }

    /// Regression: the screen stood still for a quarter of a second during slow queries.
    @Test func movesDoNotWaitForSlowRows() throws {
        try Fixture.addQueries(source)
        var times: [Double] = []
        run(
            try Self.city() + Self.steps(["City": "Q<ctrl+u>limit 5", "limit 5": "<enter>"]) + [
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
            ], advancing: 0.005, pause: 5_000)
        let waited = try #require(times.last) - times[0]
        #expect((0.05..<0.25).contains(waited), "\(waited)")
    }

    /// Regression: the first line end of pasted text was Enter, and the lines after it were keys of the list.
    @Test func lineEndInBurstIsText() throws {
        let terminal = run(
            try Self.city()
                + Self.steps([
                    "16 entries": "/", "filter": "Jak\nDjakarta\t\nq\n", "0 of 16": "<esc>",
                    "16 entries": "<ctrl+c>",
                ]))
        #expect(terminal.frames.contains { $0.plainText.contains("Jak Djakarta  q") })
    }

    @Test func startsDemo() throws {
        var terminal = Terminal([Self.step("stores", .key(.character("d")))])
        let exit = BrowserLoop.run(
            Fixture.model(store: nil), source: Fixture.source(), terminal: &terminal,
            clock: clock.function)
        #expect(exit == .startDemo)
    }

    @Test("a store or server that doesn't answer for two seconds isn't shown as live")
    func silentStore() {
        var test = UpdateTest(Fixture.model())
        let (start, asked) = (test.model.now, test.effects)
        test.send(.clock(start.adding(seconds: 1.5)))
        #expect(test.model.silence == nil)
        test.send(.clock(start.adding(seconds: 3)))
        #expect(test.model.silence == 3 && !test.text.contains("live"))
        test.settle(asked, Fixture.source())
        #expect(test.model.silence == nil && test.text.contains("live"))
    }

    /// Stopped work sends no response, and later work is done.
    @Test func runnerStopsWork() async throws {
        let source = MillionTests.Source(count: 150_000)
        var test = UpdateTest(Fixture.model())
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
