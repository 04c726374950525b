import BrowserCore
import TerminalKit
import Testing

/// Help, palette, footer, mouse: all from one table.
struct ActionTests {
    @Test func tableHasNoConflictsAndNamesEveryAction() {
        let map = ActionTable.keyMap()
        #expect(map.conflicts.isEmpty)
        #expect(Set(map.actions.map(\.id)) == Set(ActionID.allCases))
        #expect(map.actions.allSatisfy { !$0.keys.isEmpty && $0.help.hasSuffix(".") && !$0.contexts.isEmpty })
        #expect(ActionTable.keyMap(readOnly: true).actions.allSatisfy { !$0.flags.contains(.destructive) })
    }

    @Test func everyActionCanBeDoneWithoutTheMouse() throws {
        // Each visible action of each screen is run from the palette by its title, without a trap.
        let places: [(Screen, String)] = [
            (.stores, ""), (.archives, "<enter>"), (.entries, "<enter>j<enter>"),
            (.value, "<enter>j<enter><enter>"), (.query, "<enter>jQ"),
            (.messages, "<enter>jj<enter>"), (.monitor, "<enter>E"),
        ]
        for (screen, keys) in places {
            for action in ActionTable.keyMap().actions(in: screen) {
                var browser = try Fixture.browser(Fixture.source(), store: nil, keys: keys)
                #expect(browser.model.screen == screen)
                // Where a query is written, a colon is a part of it.
                let list = screen == .query ? [Key(.function(1)), Key(.function(1))] : [.character(":")]
                browser.press(list + action.title.map { Key.character($0) } + [Key(.enter)])
                _ = browser.frame
            }
        }
    }

    /// On a terminal of 80 columns no line is cut, and the keys that move are there too.
    @Test func helpIsWholeOnASmallScreen() throws {
        let places = [
            "?", "<enter>?", "<enter>j<enter>?", "<enter>jz?", "<enter>j<enter><enter>?", "<enter>jQ<f1><f1>",
            "<enter>jj<enter>?",
            "<enter>E?",
        ]
        for (screen, keys) in zip(Screen.allCases, places) {
            // One line stands for the numbers of all stores.
            for action in ActionTable.keyMap().actions(in: screen)
            where action.id == .store1 || !action.id.rawValue.hasPrefix("store-") {
                var browser = try Fixture.browser(Fixture.source(), store: nil, keys: keys)
                browser.press(action.title.map { Key.character($0) })
                #expect(browser.frame.plainText.contains(action.help), "\(screen): \(action.title)")
                let lines = browser.frame.plainText.split(separator: "\n")
                #expect(
                    lines.contains { $0.contains(" \(action.title) ") && $0.contains(action.help) },
                    "\(screen): \(action.title)")
            }
        }
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>?")
        browser.press(try Key.script("row up"))
        #expect(browser.frame.plainText.contains("up, k "))
    }

    /// What broke: keys that found nothing to do, or nothing new, gave no answer.
    @Test(arguments: [
        ("R", "Refreshing."), ("j<enter>-", "Nothing is marked."), ("j<enter>R", "Refreshing."),
        ("j<enter><enter>t+", "Nothing to unfold here."),
        ("j<enter><enter>t-", "Nothing to fold here."),
        ("fR", "Refreshing."),
    ]) func eachKeyHasAnAnswer(keys: String, said: String) throws {
        let browser = try Fixture.browser(Fixture.source(), columns: 100, keys: keys)
        #expect(browser.model.said == said)
    }

    /// A key that no action of the screen has says whether it has one elsewhere, and what lists the keys.
    @Test(arguments: [
        ("j<enter>Z", "Z does nothing here. ? lists the keys."),
        ("<ctrl+z>", "ctrl+z does nothing here. ? lists the keys."),
        ("m", "m (Mark) works on the entries screen. ? lists the keys."),
        ("j<enter><enter>m", "m (Mark) works on the entries screen. ? lists the keys."),
        ("j<enter>a", "a (Auto-refresh) works on the query screen. ? lists the keys."),
        ("jj<enter>u", "Deleted messages can't be restored."),
        ("jju", "Deleted messages can't be restored."),
        ("j<enter>u", "Nothing to undo in City: only deletions and expiries can be undone, for ten minutes."),
        ("jj<enter>z", "z (Groups) works on the archives screen. ? lists the keys."),
    ]) func aKeyWithoutAnActionSaysWhy(keys: String, said: String) throws {
        let browser = try Fixture.browser(Fixture.source(), columns: 100, keys: keys)
        #expect(browser.frame.lines[22] == said)
    }

    @Test("Dialogs name the keys that answer them", arguments: ["j<enter>D", "jLdisk 9KB<enter>"])
    func dialogsNameTheirKeys(keys: String) throws {
        let browser = try Fixture.browser(Fixture.source(), keys: keys.replacing("jL", with: "jL<ctrl+u>"))
        #expect(browser.frame.lines[23].contains("y Yes  n No"), "\(browser.frame.plainText)")
    }

    @Test("the footer of an empty list names only keys that have an effect")
    func footerOfAnEmptyList() throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "j<enter>/zz<enter>")
        let footer = browser.frame.lines[23]
        #expect(footer.contains("/ Filter") && !footer.contains("Open"), "\(footer)")
        #expect(!footer.contains("Mark") && !footer.contains("Delete"), "\(footer)")
    }

    @Test("a value on a narrow screen leaves out whole facts", arguments: [40, 60, 80])
    func wholeFactsOfAValue(columns: Int) throws {
        let browser = try Fixture.browser(
            Fixture.source(), columns: columns, rows: 24, keys: "j<enter>jj<enter>")
        let line = browser.frame.lines[1]
        #expect(line.hasPrefix(" JSON, 199 B  ") && line.hasSuffix("tree text hex"), "\(line)")
        #expect(!line.contains("…") && line.contains("74 hits"), "\(line)")
    }

    @Test("Only a list in the order of use says that it follows")
    func sortedListIsLive() throws {
        let list = try Fixture.browser(Fixture.source(), keys: "j<enter>")
        #expect(list.frame.lines[0].contains("following"))
        let sorted = try Fixture.browser(Fixture.source(), keys: "j<enter>2")
        #expect(!sorted.frame.lines[0].contains("following"), "\(sorted.frame.plainText)")
    }

    /// A key of what changes a store has no action where it is only read; the help's key is named as it was assigned.
    @Test func aKeyWithoutAnActionIsSaidOfTheKeysThatThereAre() throws {
        let readOnly = try Fixture.browser(Fixture.source(), isReadOnly: true, keys: "j<enter>D")
        #expect(readOnly.frame.lines[22] == "Can't delete: the store is read-only.")
        let model = Model(
            size: Size(columns: 80, rows: 24), look: Fixture.unicode, store: Fixture.storePath,
            now: Fixture.start, keyMap: Self.keyMap("help = Z"))
        var browser = HeadlessBrowser(model, source: Fixture.source(), clock: { Fixture.start })
        browser.press([.character("?")])
        #expect(browser.frame.lines[22] == "? does nothing here. Z lists the keys.")
    }

    @Test("End and Home go to the last and the first line of the help; topics are skipped")
    func helpMovesToItsEnds() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "?")
        let first = browser.frame.boxLines
        #expect(
            first.contains("Open and look") && first.contains("enter, l Open Open the selected row."))
        browser.press([Key(.end)])
        #expect(browser.frame.boxLines.contains { $0.hasPrefix("PAUSED The screen is paused") })
        browser.press([Key(.home), Key(.up)])
        #expect(browser.frame.boxLines == first)
        // The line under the cursor is what Enter runs, below each title.
        browser.press(Array(repeating: Key(.down), count: 8))
        let title = try #require(browser.frame.boxLines.last { !$0.isEmpty })
        #expect(title.contains(": "), "\(browser.frame.plainText)")
    }

    @Test("the numbers of stores are one line of the help, and in the palette those of open stores")
    func storeNumbersAreOneLine() throws {
        let help = try Fixture.browser(Fixture.source(), rows: 100, store: nil, keys: "?")
        let lines = help.frame.boxLines.filter { $0.contains("Store 1") || $0.contains("Store 2") }
        #expect(lines == ["1 to 9 Store 1 Show the open store of that number."], "\(help.frame.plainText)")
        let palette = try Fixture.browser(Fixture.source(), rows: 100, keys: ":store ")
        #expect(palette.frame.plainText.contains("Store 1") && !palette.frame.plainText.contains("Store 2"))
    }

    @Test(
        "q goes back a screen at a time and quits on the first",
        arguments: [
            ("jE", 2), ("jT", 2), ("jz", 2), ("j<enter>", 2), ("jj<enter>", 2), ("j<enter>/Ja<enter>", 2),
            ("j<enter><enter>", 3), ("j<enter><enter>jjjj", 3), ("j<enter>T", 3), ("h", 1), ("h<enter>", 2),
        ]) func qGoesBack(keys: String, presses: Int) throws
    {
        var browser = try Fixture.browser(Fixture.source(), keys: keys)
        for _ in 1..<presses {
            browser.press([.character("q")])
            #expect(browser.exit == nil)
        }
        browser.press([.character("q")])
        #expect(browser.exit == .quit)
    }

    @Test("the footer calls q Back where it goes back")
    func footerNamesQ() throws {
        let first = try Fixture.browser(Fixture.source(), columns: 200)
        #expect(first.frame.lines[23].contains("q Quit"), "\(first.frame.plainText)")
        let list = try Fixture.browser(Fixture.source(), columns: 200, keys: "j<enter>")
        #expect(list.frame.lines[23].contains("q Back"), "\(list.frame.plainText)")
    }

    @Test(
        "the palette finds actions by words of other tools, with their keys",
        arguments: [
            ("", "yank", "y"), ("", "truncate", "D, delete"), ("", "vacuum", "K"), ("", "rename", "N"),
            ("j<enter>", "kill", "D, delete"), ("j<enter>", "ttl", "x"), ("j<enter>", "tail", "F"),
            ("j<enter>", "evict", "V"), ("j<enter>", "grep", "/"), ("j<enter>", "search", "/"),
            ("j<enter>", "reload", "R"), ("j<enter>", "describe", "enter, l"),
            ("j<enter>", "exit", "q, ctrl+c"),
        ]) func paletteKnowsSynonyms(keys: String, word: String, key: String) throws
    {
        let browser = try Fixture.browser(Fixture.source(), columns: 120, keys: keys + ":" + word)
        let lines = browser.frame.boxLines
        #expect(lines.contains { $0.hasSuffix(" " + key) || $0.contains(" \(key), ") }, "\(lines)")
    }

    @Test("V goes to the next entry to be evicted")
    func nextVictim() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>V")
        #expect(browser.model.cursorKey == Fixture.keys.last)
        browser.press([.character("V")])
        #expect(browser.model.cursorKey == Fixture.keys.last && browser.model.said != nil)
    }

    @Test("a key gives the mouse to the terminal and takes it back")
    func mouseCanBeReleased() throws {
        var test = try UpdateTest(Fixture.model(columns: 80, rows: 24), Fixture.source(), keys: "")
        test.press(.control("t"), expecting: ["release mouse"])
        #expect(test.model.said?.contains("selects text") == true)
        test.press(.control("t"), expecting: ["capture mouse"])
        var surroundings = Fixture.surroundings
        surroundings.capturesMouse = false
        let model = Model(
            size: Size(columns: 80, rows: 24), look: Fixture.unicode, store: Fixture.storePath,
            now: Fixture.start, surroundings: surroundings)
        test = try UpdateTest(model, Fixture.source(), keys: "")
        test.press(Key(.function(2)), expecting: ["capture mouse"])
    }

    @Test func helpIsSearchedAndRuns() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>?")
        #expect(browser.frame.plainText.contains("Help: entries"))
        browser.press(try Key.script("sort by key"))
        #expect(browser.frame.plainText.contains("1             Sort by key"))
        browser.press([Key(.enter)])
        #expect(browser.frame.plainText.contains("key ▲"))
        browser.press(try Key.script("?zzzz"))
        #expect(browser.frame.plainText.contains("No matching action."))
        browser.press(try Key.script("<enter>"))
        #expect(!browser.frame.plainText.contains("Help:"))
    }

    @Test(arguments: [
        ("", "vellum --store /home/ada/.cache/demo ls"),
        ("j<enter>", "vellum --store /home/ada/.cache/demo keys City --order recency"),
        ("j<enter>2", "vellum --store /home/ada/.cache/demo keys City --order size"),
        ("j<enter>2r", "vellum --store /home/ada/.cache/demo keys City --order size --reverse"),
        ("j<enter>5r", "vellum --store /home/ada/.cache/demo keys City --order created --reverse"),
        (
            "j<enter>/ta<enter>2",
            "vellum --store /home/ada/.cache/demo query City "
                + "'find @key icontains \"ta\" | sort @size desc'"
        ),
        (
            "j<enter>Wpopulation > 5<enter>",
            "vellum --store /home/ada/.cache/demo query City 'find population > 5'"
        ),
        (
            #"j<enter>/\n<enter>"#,
            "vellum --store /home/ada/.cache/demo query City "
                + #"'find @key icontains "\\n" or @key icontains "\n"'"#
        ),
        ("j<enter>mm", "vellum --store /home/ada/.cache/demo rm City Bandung Jakarta --dry-run"),
        ("j<enter>jjjj<enter>", "vellum --store /home/ada/.cache/demo get City 'Cafe\u{301} de Flore'"),
        ("<enter><enter>", "vellum --store /home/ada/.cache/demo get Blob picture.png --hex"),
        ("jj<enter>", "vellum --store /home/ada/.cache/demo tail Trace"),
        // What broke: on these it was the list of archives.
        ("jE", "vellum --store /home/ada/.cache/demo watch --from-start"),
        ("j<enter>E", "vellum --store /home/ada/.cache/demo watch City --from-start"),
        ("jP", "vellum --store /home/ada/.cache/demo stats"),
        ("j<enter>P", "vellum --store /home/ada/.cache/demo stats City"),
        ("jT", "vellum --store /home/ada/.cache/demo stats City --watch"),
    ])
    func commandLine(keys: String, words: String) throws {
        #expect(CommandLine.words(for: try Fixture.browser(Fixture.source(), keys: keys).model) == words)
    }

    /// What broke: a command that gives more than the screen, or less, was said to give the same.
    @Test(arguments: [
        (
            "jj<enter>/!1<enter>", "tail Trace --lines 60",
            "Prints all messages; the filter has no command."
        ),
        ("jE/ja<enter>", "watch --from-start", "Prints all events; the filter has no command."),
        ("jT", "stats City --watch", "Prints the figures of each second; no command draws graphs."),
        ("j<enter>M", "--dry-run", "It has 100 of the 117 marked keys."),
        ("j<enter>/é<enter>", "query City 'find @key icontains \"é\"'", "Finds whole characters"),
    ])
    func theCommandLineSaysWhatIsOtherwise(keys: String, words: String, remark: String) throws {
        let source = Fixture.source()
        Fixture.addMessages(source)
        source.with { state in
            guard keys.hasSuffix("M") else { return }
            for number in 0..<101 {
                state.archives["City"]?.append(Fixture.record("\(number)", number: number, bytes: [0x31]))
            }
        }
        let browser = try Fixture.browser(source, columns: 100, rows: 40, keys: keys + "c")
        #expect(CommandLine.words(for: browser.model).hasSuffix(words))
        #expect(browser.frame.plainText.contains(remark), "\(browser.frame.plainText)")
    }

    /// A key may be spelled like an option: `rm City --all` would plan to delete everything.
    @Test func commandLineKeepsKeysFromBecomingOptions() throws {
        let source = Fixture.source()
        source.with { state in
            state.archives["City"]?.insert(Fixture.record("--all", number: 0, bytes: [0x31]), at: 0)
        }
        let marked = try Fixture.browser(source, keys: "j<enter>gm")
        #expect(
            CommandLine.words(for: marked.model)
                == "vellum --store /home/ada/.cache/demo rm --dry-run -- City --all")
        let opened = try Fixture.browser(source, keys: "j<enter>g<enter>")
        #expect(
            CommandLine.words(for: opened.model) == "vellum --store /home/ada/.cache/demo get -- City --all")
    }

    /// What broke: a shell ends a word at its NUL, so that the command was about another key.
    @Test func commandLineHasNoNUL() throws {
        let source = Fixture.source()
        source.with { $0.archives["City"]?.append(Fixture.record("City\u{0}x", number: 1, bytes: [0x31])) }
        let marked = try Fixture.browser(source, keys: "j<enter>/City<enter>gm")
        #expect(
            CommandLine.words(for: marked.model).hasSuffix(
                #" rm City --where '@key in ["City\u0000x"]' --dry-run"#), "\(marked.frame.plainText)")
        let opened = try Fixture.browser(source, keys: "j<enter>/City<enter>g<enter>")
        #expect(
            CommandLine.words(for: opened.model).hasSuffix(#" query City 'find @key = "City\u0000x"'"#))
        let menu = try Fixture.browser(source, keys: "j<enter>/City<enter>gy")
        #expect(menu.frame.plainText.contains("shells can't pass the NUL"), "\(menu.frame.plainText)")
    }

    @Test func remappedKeysAreUsedAndShown() throws {
        let model = Model(
            size: Size(columns: 80, rows: 24), look: Fixture.unicode, store: Fixture.storePath,
            now: Fixture.start,
            keyMap: Self.keyMap("open = o\nquit = ctrl+q"))
        var browser = HeadlessBrowser(model, source: Fixture.source(), clock: { Fixture.start })
        #expect(browser.frame.plainText.contains("o Open"))
        browser.press([.character("q")])
        #expect(browser.exit == nil)
        browser.press([.control("q")])
        #expect(browser.exit == .quit)
        let wrong = Model(
            size: Size(columns: 80, rows: 24), look: Fixture.unicode, store: Fixture.storePath,
            now: Fixture.start,
            problems: ["/c/config.toml:3: theme: \"drak\" is none of dark, light; did you mean dark?"])
        #expect(Browser.frame(wrong).plainText.contains("/c/config.toml:3: theme: \"drak\" is none of"))
        // What is wrong with the settings keeps nobody from looking.
        browser = HeadlessBrowser(wrong, source: Fixture.source(), clock: { Fixture.start })
        browser.press([Key(.enter), Key(.enter)])
        #expect(browser.model.screen == .entries)
    }

    private static func keyMap(_ assignments: String) -> BrowserKeyMap {
        var map = ActionTable.keyMap()
        #expect(map.remap(assignments) == [])
        return map
    }

    /// A key that is assigned to what changes a store is no mistake where it is only read.
    @Test func assignedKeysOfAbsentActionsAreNoMistake() throws {
        let model = Model(
            size: Size(columns: 80, rows: 24), look: Fixture.unicode, store: Fixture.storePath,
            isReadOnly: true, now: Fixture.start, keyMap: Self.keyMap("delete = X"))
        #expect(model.keyMap.action(.delete) == nil)
    }

    private func click(_ column: Int, _ row: Int, _ kind: MouseEvent.Kind = .click) -> Message {
        .input(.mouse(MouseEvent(kind: kind, at: Point(column: column, row: row))))
    }

    @Test func mouse() throws {
        var browser = try Fixture.browser(Fixture.source())
        browser.send(click(3, 6))
        #expect(browser.model.cursorRow == 1)
        browser.send(click(3, 6, .doubleClick))
        #expect(browser.model.screen == .entries)
        browser.send(click(3, 5))
        #expect(browser.model.cursorKey == "東京都")
        browser.send(
            .input(.mouse(MouseEvent(kind: .wheelDown, button: .none, at: Point(column: 3, row: 5)))))
        #expect(browser.model.cursorRow == 5)
        let header = browser.frame.plainText.split(separator: "\n", omittingEmptySubsequences: false)[2]
        let size = try #require(
            header.range(of: "size").map { header.distance(from: header.startIndex, to: $0.lowerBound) })
        browser.send(click(size, 2))
        #expect(browser.frame.plainText.contains("size ▼"))
        browser.send(click(size, 2))
        #expect(browser.frame.plainText.contains("size ▲"))
        // The footer's hints run what they name.
        let footer = browser.frame.plainText.split(separator: "\n", omittingEmptySubsequences: false)[23]
        let help = try #require(
            footer.range(of: "? Help").map { footer.distance(from: footer.startIndex, to: $0.lowerBound) })
        browser.send(click(help, 23))
        #expect(browser.frame.plainText.contains("Help: entries"))
        browser.press([Key(.escape), .character("D")])
        #expect(browser.model.planned != nil)
        let lines = browser.frame.plainText.split(separator: "\n", omittingEmptySubsequences: false)
        let row = try #require(lines.firstIndex { $0.contains("[ Cancel ]") })
        let cancel = try #require(lines[row].range(of: "[ Cancel ]"))
        // Wide characters left of the button take two columns each.
        browser.send(click(TextWidth.width(of: String(lines[row][..<cancel.lowerBound])) + 2, row))
        #expect(browser.model.planned == nil)
    }

    @Test func everyScreenHasAWayBack() throws {
        var browser = try Fixture.browser(Fixture.source(), store: nil, keys: "<enter>j<enter><enter>")
        for screen in [Screen.value, .entries, .archives, .stores] {
            #expect(browser.model.screen == screen)
            browser.press([Key(.escape)])
        }
        #expect(browser.exit == nil)
        // From a store that was named one comes to those beside it.
        var onStore = try Fixture.browser(Fixture.source(), keys: "h")
        #expect(onStore.model.screen == .stores)
        #expect(onStore.frame.plainText.contains("thumbnails"))
        onStore.press([Key(.escape)])
        #expect(onStore.frame.plainText.contains("This is the first screen; q quits."))
        onStore.press([.character("q"), .character("j")])
        #expect(onStore.exit == .quit)
    }
}
