import BrowserCore
import Foundation
import StoreInspection
import Synchronization
import TerminalKit
import Testing

/// The loop with a terminal that is scripted.
struct BrowserLoopTests {
    private static func step(_ shown: String, _ event: InputEvent, isRead: Bool = true) -> Terminal.Step {
        Terminal.Step(whenShown: shown, event: event, isRead: isRead)
    }

    @Test func runsUntilAPersonLeaves() throws {
        let source = Fixture.source()
        var terminal = Terminal([
            Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
            Self.step("16 entries", .key(Key(.enter))), Self.step("geonameid: 1642911", .key(Key(.escape))),
            Self.step("16 entries", .resize(Size(columns: 40, rows: 10))),
            Self.step("16 entries", .key(.control("c"))),
        ])
        let clock = TestClock()
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: source, terminal: &terminal, clock: clock.function)
        #expect(exit == .quit)
        #expect(terminal.steps.isEmpty)
        #expect(zip(terminal.frames, terminal.frames.dropFirst()).allSatisfy { $0 != $1 }, "no picture twice")
    }

    /// A screen on which nothing changes is presented once, however many refreshes there are.
    @Test func drawsOnlyWhatChanged() throws {
        let source = Fixture.source()
        var terminal = Terminal([])
        let clock = TestClock()
        let ticks = Mutex(0)
        // The clock goes on by a refresh with every look at it, but ages on the screen of archives don't show.
        _ = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: source, terminal: &terminal,
            clock: {
                ticks.withLock { $0 += 1 }
                clock.advance(0.05)
                return clock.now
            })
        #expect(ticks.withLock { $0 } > 1_000)
        // First empty, then read, then with rates; the graph of a ratio without accesses stays empty.
        #expect(terminal.frames.count <= 12)
    }

    @Test func aResumedTerminalIsDrawnAnew() throws {
        var terminal = Terminal([
            Self.step("3 archives", .resumed), Self.step("3 archives", .key(.character("q"))),
        ])
        let clock = TestClock()
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24), source: Fixture.source(), terminal: &terminal,
            clock: clock.function)
        #expect(exit == .quit)
    }

    /// A copy goes to the terminal at once, and the screen is drawn completely after a program had the terminal.
    @Test func theTerminalIsSentWhatIsCopiedAndGivenToPrograms() throws {
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

    /// A terminal that doesn't say what is pasted sends characters. What broke: each was worked on by itself, so that a text of
    /// 10,000 took most of a minute.
    @Test func charactersThatComeAtOnceAreEnteredAtOnce() throws {
        let text = String(repeating: "find a > 5 | ", count: 80)
        var terminal = Terminal(
            [
                Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
                Self.step("16 entries", .key(.character("Q"))),
            ] + text.map { Self.step("Ask", .key(.character($0))) } + [
                Self.step("Ask", .key(.character("e"))), Self.step("| e", .key(Key(.escape))),
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

    /// What broke: a pasted table's header, with a terminal that doesn't say what is pasted, opened the plan of a deletion with its
    /// D, went to its button with the tab and pressed it with the line end; and what stood behind a `|` was run by a shell.
    @Test(arguments: [("| touch x\n", "command")])
    func whatWasTypedBeforeAQuestionWasShownIsNoAnswer(text: String, shown: String) throws {
        let source = Fixture.source()
        var terminal = Terminal(
            [Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter)))]
                + Self.keys(text, shown: "16 entries") + [
                    Self.step("gnored: ", .key(Key(.escape))),
                    Self.step("16 entries", .key(.control("c"))),
                ])
        let exit = Self.run(&terminal, source)
        #expect(exit == .quit && terminal.steps.isEmpty)
        #expect(
            terminal.frames.contains { $0.plainText.contains(shown) && $0.plainText.contains("gnored: ") })
        #expect(terminal.scripts.isEmpty && source.with { $0.archives["City"]?.count } == 16)
    }

    /// What broke: short pasted text was taken as keys, and `D` in it opened a plan that a `y` behind it answered.
    @Test(
        "refuses a key that plans a change within text",
        arguments: ["Dy", "k1\nk2\nDy", "jD", "Date\tName\n", "x 5m\n", "nu"])
    func textPlansNoChange(text: String) throws {
        let source = Fixture.source()
        var terminal = Terminal(
            Self.planOfOne().dropLast() + Self.keys(text, shown: "16 entries") + [
                Self.step("looks like pasted text", .key(.control("c")))
            ])
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
        #expect(!terminal.frames.contains { $0.plainText.contains("Delete 1 entry") })
        #expect(source.with { ($0.writeCalls, $0.archives["City"]?.count) } == (0, 16))
    }

    @Test(
        "goes back with a key that comes together with others, and sorts with one", arguments: ["jq", "2rq"])
    func textMayLeave(text: String) throws {
        let source = Fixture.source()
        var terminal = Terminal(
            Self.planOfOne().dropLast() + Self.keys(text, shown: "16 entries")
                + [Self.step("3 archives", .key(.control("c")))])
        terminal.pause = 1_000
        #expect(Self.run(&terminal, source) == .quit && terminal.steps.isEmpty)
    }

    @Test(
        "opens a plan with a key that comes alone, after held arrows, or repeated",
        arguments: [
            ("D", 0.0), ("<down><down><down>D", 0), ("DDD", 0), ("jjjD", 0.05),
        ])
    func keysPlanAChange(script: String, pause: Double) throws {
        let source = Fixture.source()
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
        "takes an answer only from a later burst than the key that asked",
        arguments: [(0.005, 16), (0.05, 15)])
    func anAnswerComesLater(pause: Double, left: Int) throws {
        let source = Fixture.source()
        // The plan is on the screen at once, so only the silence between the keys counts.
        var answer = Self.step("Delete 1 entry", .key(.character("y")))
        (answer.after, answer.isRead) = (pause, false)
        var terminal = Terminal(
            Self.planOfOne() + [
                answer, Self.step(left == 16 ? "gnored: " : "15 entries", .key(.control("c"))),
            ])
        #expect(Self.run(&terminal, source) == .quit)
        #expect(source.with { $0.archives["City"]?.count } == left)
    }

    @Test("moves with a held arrow at 30 repeats a second, alone or in bursts", arguments: [0.033, 0.001, 0])
    func heldArrowsMove(pause: Double) throws {
        var arrows = [Terminal.Step](repeating: Self.step("16 entries", .key(Key(.down))), count: 10)
        for place in arrows.indices { arrows[place].after = pause }
        var terminal = Terminal(
            Self.planOfOne().dropLast() + arrows + [Self.step("11 of 16", .key(.control("c")))])
        #expect(Self.run(&terminal, Fixture.source()) == .quit && terminal.steps.isEmpty)
    }

    @Test("enters short pasted text with a line end within it") func shortTextIsEntered() throws {
        var terminal = Terminal(
            Self.planOfOne().dropLast() + [Self.step("16 entries", .key(.character("/")))]
                + Self.keys("a\nDy", shown: "filter") + [Self.step("a Dy", .key(.control("c")))])
        #expect(Self.run(&terminal, Fixture.source()) == .quit && terminal.steps.isEmpty)
    }

    /// What broke: the same text pasted when the plan was shown already. A `y` in it would have done the same.
    @Test(arguments: [
        "Date\tName\n", "D\t\n", "\t\n", "Dy", "\t\nDMD\ty\n\nquit\n" + String(repeating: "\ty\n", count: 40),
    ])
    func whatComesAtOnceIsNoAnswer(text: String) throws {
        let source = Fixture.source()
        var terminal = Terminal(
            [
                Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
                Self.step("16 entries", .key(.character("D"))),
            ] + Self.keys(text, shown: "Delete 1 entry") + [
                Self.step("looks like pasted text", .key(Key(.tab))),
                Self.step("Delete 1 entry", .key(Key(.escape))),
                Self.step("16 entries", .key(.control("c"))),
            ])
        let exit = Self.run(&terminal, source)
        #expect(exit == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    /// What broke: a colour code, an arrow or a key with Alt beside it made an answer of a `y` in what came at once.
    @Test(arguments: ["y<down>", "<alt+a>y", "<ctrl+a><ctrl+b>y", "<backspace><backspace>y", "<down><enter>"])
    func anAnswerComesAlone(script: String) throws {
        let source = Fixture.source()
        var terminal = Terminal(
            try Self.planOfOne() + Key.script(script).map { Self.step("Delete 1 entry", .key($0)) } + [
                Self.step("looks like pasted text", .key(Key(.escape))),
                Self.step("16 entries", .key(.control("c"))),
            ])
        let exit = Self.run(&terminal, source)
        #expect(exit == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    /// A text has no arrows in it.
    @Test func anArrowMayLeadToTheButtonThatEnterPresses() throws {
        let source = Fixture.source()
        var terminal = Terminal(
            Self.planOfOne() + [
                Self.step("Delete 1 entry", .key(Key(.right))),
                Self.step("Delete 1 entry", .key(Key(.enter))),
                Self.step("15 entries", .key(.control("c"))),
            ])
        let exit = Self.run(&terminal, source)
        #expect(exit == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 15)
    }

    /// Drives a browser of 120x24 until it ends.
    /// The clock goes on by `seconds` with every look at it.
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

    /// What broke: of a text that came byte by byte the first was an answer if it was `y`, and nothing takes back a file that is replaced.
    @Test func aTextThatComesInPiecesIsNoAnswer() throws {
        let source = Fixture.source()
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

    /// What broke: of a text in pieces the first was refused, and the next ones went to the button and pressed it.
    @Test func theRestOfARefusedTextIsNoAnswer() throws {
        let source = Fixture.source()
        var terminal = Terminal(
            Self.planOfOne() + Self.keys("Date Name\n", shown: "Delete 1 entry") + [
                Self.step("looks like pasted text", .key(Key(.tab)), isRead: false),
                Self.step("tab ignored: too soon", .key(Key(.enter)), isRead: false),
                Self.step("enter ignored: too soon", .key(.character("y")), isRead: false),
                Self.step("y ignored: too soon", .key(Key(.escape))),
                Self.step("Nothing was deleted", .key(.control("c"))),
            ])
        let exit = Self.run(&terminal, source)
        #expect(exit == .quit && terminal.steps.isEmpty)
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    /// What broke: what came with the key that opened a plan was refused, and what came next of the same text was its answer.
    @Test func theRestOfATextThatOpensAPlanIsNoAnswer() throws {
        let source = Fixture.source()
        var terminal = Terminal(
            Self.planOfOne().dropLast() + Self.keys("Dear", shown: "16 entries") + [
                Self.step("looks like pasted text", .key(.character("y"))),
                Self.step("text after a refused key", .key(Key(.escape))),
                Self.step("16 entries", .key(.control("c"))),
            ])
        let exit = Self.run(&terminal, source)
        #expect(exit == .quit && terminal.steps.isEmpty, "\(terminal.frames.last?.plainText ?? "")")
        #expect(source.with { $0.archives["City"]?.count } == 16)
    }

    /// What broke: while a text came without a pause nothing was drawn, and Ctrl-C waited for its end.
    @Test func whileATextIsDroppedCtrlCLeaves() throws {
        let text = [Terminal.Step](repeating: Self.step("Delete 1 entry", .key(.character("x"))), count: 500)
        var terminal = Terminal(
            Self.planOfOne() + Self.keys("abc", shown: "Delete 1 entry") + text
                + [Self.step("Delete 1 entry", .key(.control("c")))] + text)
        let exit = Self.run(&terminal, Fixture.source())
        #expect(exit == .quit && terminal.steps.count == 500, "\(terminal.steps.count)")
    }

    /// What broke: text that came one by one, over a slow line, pressed the button all the same. And a person's `y` was refused for
    /// ever, for each one that was refused began the moment anew in which none is taken.
    @Test func aTextThatIsNoAnswerLeadsToNone() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, clock: clock, keys: "j<enter>D")
        browser.press(try Key.script("ate<tab>Name<enter>"))
        #expect(browser.frame.plainText.contains("enter ignored"), "\(browser.frame.plainText)")
        #expect(source.with { $0.archives["City"]?.count } == 16)
        clock.advance(1)
        browser.press([.control("u"), .character("y")])
        #expect(browser.frame.plainText.contains("y ignored"), "\(browser.frame.plainText)")
        browser.press([.character("a"), .character("y")])
        #expect(browser.frame.plainText.contains("y ignored"), "\(browser.frame.plainText)")
        clock.advance(0.3)
        browser.press([.character("y")])
        #expect(source.with { $0.archives["City"]?.count } == 16)
        clock.advance(0.3)
        browser.press([.character("y")])
        #expect(source.with { $0.archives["City"]?.count } == 15)
    }

    /// What broke: on a low screen the plan stood over what was said of an answer that isn't taken.
    @Test(arguments: [Size(columns: 40, rows: 10), Size(columns: 40, rows: 5), Size(columns: 80, rows: 24)])
    func whatIsSaidOfAnAnswerIsRead(size: Size) throws {
        var browser = try Fixture.browser(
            Fixture.source(), columns: size.columns, rows: size.rows, keys: "j<enter>D")
        func said() -> Bool {
            let text = browser.frame.plainText
            return text.contains("Delete 1") && text.contains(browser.model.said ?? "nothing")
        }
        browser.press([.character("x")])
        #expect(
            browser.model.said == "x is not an answer. Press y or n." && said(), "\(browser.frame.plainText)")
        browser.press([.character("y")])
        #expect(browser.model.said == "y ignored: too soon. Press it again." && said())
        browser.send(.input(.paste("yes")))
        #expect(browser.model.said == "Ignored: looks like pasted text." && said())
        for keys in ["<esc>:", "<esc><f1>"] {
            browser.press(try Key.script(keys))
            browser.send(.input(.pasteUnfinished))
            #expect(browser.frame.plainText.contains("A paste hasn't ended; Ctrl-C drops it."))
        }
    }

    /// What broke: where a prompt had no room for it nothing said why keys were swallowed, or what was wrong with a condition.
    @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 40, rows: 10), Size(columns: 20, rows: 5)])
    func whatIsSaidOfAPromptIsRead(size: Size) throws {
        var browser = try Fixture.browser(
            Fixture.source(), columns: size.columns, rows: size.rows, keys: "j<enter>W")
        browser.send(.input(.pasteUnfinished))
        #expect(browser.frame.plainText.contains("A paste hasn't ende"), "\(browser.frame.plainText)")
        browser.send(.input(.pasteDropped))
        #expect(browser.frame.plainText.contains("The unfinished past"))
        browser.press(try Key.script("x x<enter>"))
        #expect(browser.frame.plainText.contains("at 3: found"), "\(browser.frame.plainText)")
    }

    /// What broke: a paste that went nowhere, and a key that meant nothing to what stood over the screen, were passed over in silence.
    @Test(arguments: ["", "y", "C", "c", "b", "<enter>"])
    func whatIsNotTakenIsSaid(keys: String) throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>" + keys)
        browser.send(.input(.paste("yes\ny")))
        #expect(
            browser.frame.plainText.contains("Ignored: pasted text is not keys."),
            "\(browser.frame.plainText)")
        browser.press([Key(.function(12))])
        #expect(browser.frame.plainText.contains("f12 does nothing here"))
    }

    /// A terminal that says what is pasted says so to a question, too.
    @Test func aPasteIsNoAnswer() throws {
        let source = Fixture.source()
        var browser = try Fixture.browser(source, columns: 120, keys: "j<enter>D")
        browser.send(.input(.paste("yes\n")))
        #expect(browser.frame.plainText.contains("looks like pasted text"))
        browser.press([.character("y")])
        #expect(browser.frame.plainText.contains("y ignored: too soon"))
        #expect(source.with { $0.archives["City"]?.count } == 16)
        // Where there is a field it is entered.
        browser.press(try Key.script("<esc>x"))
        browser.send(.input(.paste("90 s")))
        browser.press([Key(.enter)])
        #expect(browser.frame.plainText.contains("in 90s"), "\(browser.frame.plainText)")
    }

    /// What broke: keys that came with the one that opened a list were lost.
    @Test func keysWaitForTheRowsThatTheyAreAbout() throws {
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

    /// What broke: the line end behind a pasted command ran it, and the one behind a short one still did.
    @Test(arguments: ["touch file\n", "ls\n", "a\n", "ls\nb\n"])
    func aPastedCommandIsNotRunByItsLineEnd(text: String) throws {
        var terminal = Terminal(
            Self.planOfOne().dropLast() + [Self.step("16 entries", .key(.character("|")))]
                + Self.keys(text, shown: "command") + [
                    Self.step("Enter came with the text", .key(Key(.escape))),
                    Self.step("16 entries", .key(.control("c"))),
                ])
        let exit = Self.run(&terminal, Fixture.source())
        #expect(exit == .quit && terminal.steps.isEmpty && terminal.scripts.isEmpty)
    }

    /// What broke: keys that came together with the one that went to unread rows found none there, and those that came with `M` met
    /// half of the marks.
    @Test(arguments: [
        ("GD", "user:99999", "Delete 1 entry"), ("MD", "user:0", "Delete 100,000 entries"),
    ])
    func keysWaitForWhatTheyAreAbout(script: String, key: String, title: String) throws {
        var terminal = Terminal(
            try Key.script("<enter>" + script).map {
                var step = Self.step("Users", .key($0))
                // Typed, not pasted.
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

    /// What broke: keys that came together with a query's Enter were typed into it.
    @Test func keysWaitForTheRowsOfAQuery() throws {
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

    /// What broke: where the rows took longer they were typed into it all the same, and what was shown then was the rows of another
    /// query than the text above them.
    @Test func keysForRowsThatDoNotComeAreDropped() throws {
        let source = Fixture.source()
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
        let exit = Self.run(&terminal, source, advancing: 0.01)
        #expect(exit == .quit && terminal.steps.isEmpty, "\(terminal.frames.last?.plainText ?? "")")
        #expect(!terminal.frames.contains { $0.plainText.contains("limit 5j") })
    }

    /// What broke: nothing moved on the screen for a quarter of a second where rows took longer to come.
    @Test func movesHardlyWaitForRowsThatTakeLonger() throws {
        let source = Fixture.source()
        try Fixture.addQueries(source)
        let clock = TestClock()
        var times: [Double] = []
        var terminal = Terminal(
            try Self.planOfOne().dropLast()
                + Key.script("Q<ctrl+u>limit 5").map { Self.step("City", .key($0)) } + [
                    Self.step("limit 5", .key(Key(.enter))),
                    Terminal.Step(whenShown: "1 of 5", event: .key(.character("R"))) {
                        source.with { $0.isQueryEndless = true }
                        times.append(clock.now.seconds(since: Fixture.start))
                    },
                    // What broke: a wake-up between them was held for as long as any key, and with it what was behind.
                    Self.step("5 rows", .wake, isRead: false),
                    Self.step("5 rows", .key(.character("j")), isRead: false),
                    Terminal.Step(whenShown: "2 of 5", event: .key(.control("c")), isRead: false) {
                        times.append(clock.now.seconds(since: Fixture.start))
                    },
                ], clock: clock)
        terminal.pause = 5_000
        let exit = Self.run(&terminal, source, advancing: 0.005)
        #expect(exit == .quit && terminal.steps.isEmpty, "\(terminal.frames.last?.plainText ?? "")")
        let waited = try #require(times.last) - times[0]
        #expect((0.05..<0.25).contains(waited), "\(waited)")
    }

    /// What broke: the first line end in a text pasted so was Enter, and the lines behind it were keys of the list.
    @Test func aLineEndWithinWhatCameAtOnceIsAPartOfIt() throws {
        var terminal = Terminal(
            [
                Self.step("3 archives", .key(.character("j"))), Self.step("3 archives", .key(Key(.enter))),
                Self.step("16 entries", .key(.character("/"))),
            ] + Self.keys("Jak\nDjakarta\t\nq\n", shown: "filter") + [
                Self.step("0 of 16", .key(Key(.escape))), Self.step("16 entries", .key(.control("c"))),
            ])
        let exit = Self.run(&terminal, Fixture.source())
        #expect(exit == .quit && terminal.steps.isEmpty)
        #expect(terminal.frames.contains { $0.plainText.contains("Jak Djakarta  q") })
    }

    @Test func demoIsAskedFor() throws {
        var terminal = Terminal([Self.step("stores", .key(.character("d")))])
        let clock = TestClock()
        let exit = BrowserLoop.run(
            Fixture.model(columns: 80, rows: 24, store: nil), source: Fixture.source(), terminal: &terminal,
            clock: clock.function)
        #expect(exit == .startDemo)
    }

    /// Work that is stopped is not heard of again, and what comes after it is done.
    @Test func runnerStopsWork() async throws {
        let source = MillionTests.Source(count: 150_000)
        let clock = TestClock()
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
        // The stop is heard before the work that it stops begins.
        for effect in [test.effects[0]] + first + test.effects.dropFirst() { runner.run(effect) }
        var heard = 0
        for await message in answers {
            heard += 1
            test.send(
                message, expecting: heard == 1 ? [] : ["load value Users/user:999 for preview"])
            if heard == 2 { break }
        }
        #expect(source.calls.withLock { $0.keys } == 0, "not one key was read for the order that was stopped")
        #expect(test.model.cursorKey == "user:999" && test.text.contains("size ▼"))
    }
}
