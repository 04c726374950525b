import BrowserCore
import TerminalKit
import Testing

/// Help, palette, footer and mouse, from one table of actions.
struct ActionTests {
    private let source = Fixture.source()

    @Test func tableIsCompleteAndUnambiguous() {
        let map = ActionTable.keyMap()
        for action in map.actions {
            for context in action.contexts {
                for key in action.keys { #expect(map.action(for: key, in: context)?.id == action.id) }
            }
        }
        #expect(Set(map.actions.map(\.id)) == Set(ActionID.allCases))
        #expect(map.actions.allSatisfy { !$0.keys.isEmpty && $0.help.hasSuffix(".") && !$0.contexts.isEmpty })
        #expect(ActionTable.keyMap(readOnly: true).actions.allSatisfy { !$0.flags.contains(.destructive) })
    }

    @Test func paletteRunsEveryAction() throws {
        // Runs each visible action of each screen by its title.
        let places: [(Screen, String)] = [
            (.stores, ""), (.archives, "<enter>"), (.entries, "<enter>j<enter>"),
            (.value, "<enter>j<enter><enter>"), (.query, "<enter>jQ"),
            (.messages, "<enter>jj<enter>"), (.monitor, "<enter>E"), (.advise, "<enter>ja"),
        ]
        for (screen, keys) in places {
            for action in ActionTable.keyMap().actions(in: screen) {
                var browser = try Fixture.browser(Fixture.source(), store: nil, keys: keys)
                #expect(browser.model.screen == screen)
                // On the query line a colon is text.
                let list = screen == .query ? [Key(.function(1)), Key(.function(1))] : [.character(":")]
                browser.press(list + action.title.map { Key.character($0) } + [Key(.enter)])
                _ = browser.frame
            }
        }
    }

    /// No line is cut on 80 columns, and the keys that move are included.
    @Test func helpFitsSmallScreen() throws {
        let places = [
            "?", "<enter>?", "<enter>j<enter>?", "<enter>jz?", "<enter>j<enter><enter>?", "<enter>jQ<f1><f1>",
            "<enter>jj<enter>?", "<enter>E?", "<enter>ja?",
        ]
        for (screen, keys) in zip(Screen.allCases, places) {
            // The numbers of all stores share a line.
            for action in ActionTable.keyMap().actions(in: screen)
            where action.id == .store1 || !action.id.rawValue.hasPrefix("store-") {
                var browser = try Fixture.browser(Fixture.source(), store: nil, keys: keys)
                browser.press(action.title.map { Key.character($0) })
                // The archive has no queues.
                let help = action.id == .sortByQueue ? "Only S3-FIFO has queues." : action.help
                #expect(browser.text.contains(help), "\(screen): \(action.title)")
                let lines = browser.text.split(separator: "\n")
                let title = action.id == .store1 ? "Store" : action.title
                #expect(
                    lines.contains { $0.contains(" \(title) ") && $0.contains(help) },
                    "\(screen): \(title)")
            }
        }
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>?")
        try browser.press("row up", shows: "up, k ")
    }

    @Test(
        "a key without an effect is explained",
        arguments: [
            ("R", "Refreshing."), ("j<enter>-", "Nothing is marked."), ("j<enter>R", "Refreshing."),
            ("j<enter><enter>t+", "Nothing to unfold here."), ("j<enter><enter>t-", "Nothing to fold here."),
            ("fR", "Refreshing."),
        ]) func keysWithoutEffectAreExplained(keys: String, said: String) throws
    {
        let browser = try Fixture.browser(Fixture.source(), columns: 100, keys: keys)
        #expect(browser.model.said == said)
    }

    @Test(
        "an unassigned key names the screen where it works, and the key of the help",
        arguments: [
            ("j<enter>Z", "Z does nothing here. ? lists the keys."),
            ("<ctrl+z>", "ctrl+z does nothing here. ? lists the keys."),
            ("m", "m (Mark) works only on: entries, query. ? lists the keys."),
            ("j<enter><enter>m", "m (Mark) works only on: entries, query. ? lists the keys."),
            ("j<enter>i", "i (Edit query) works only on: query. ? lists the keys."),
            ("jj<enter>u", "Deleted messages can't be restored."),
            ("jju", "Deleted messages can't be restored."),
            (
                "j<enter>u",
                "Nothing to undo in City: only deletions and expiries can be undone, for ten minutes."
            ),
            ("jj<enter>z", "z (Groups) works only on: archives, entries. ? lists the keys."),
            (
                "w",
                "w (Write) works only on: entries, groups, value, query, messages, events, processes, graphs. "
                    + "? lists the keys."
            ),
        ]) func unassignedKeysAreExplained(keys: String, said: String) throws
    {
        let browser = try Fixture.browser(Fixture.source(), columns: 120, keys: keys)
        #expect(browser.lines[22] == said)
    }

    @Test("dialogs name the keys that confirm and cancel", arguments: ["j<enter>D", "jLdisk 9KB<enter>"])
    func dialogsNameTheirKeys(keys: String) throws {
        let browser = try Fixture.browser(Fixture.source(), keys: keys.replacing("jL", with: "jL<ctrl+u>"))
        #expect(browser.lines[23].contains("y Yes  n No"), "\(browser.text)")
    }

    @Test("the footer of an empty list names only keys that have an effect")
    func footerOfAnEmptyList() throws {
        let browser = try Fixture.browser(Fixture.source(), keys: "j<enter>/zz<enter>")
        let footer = browser.lines[23]
        #expect(footer.contains("/ Filter") && !footer.contains("Open"), "\(footer)")
        #expect(!footer.contains("Mark") && !footer.contains("Delete"), "\(footer)")
    }

    @Test("a value on a narrow screen omits facts completely", arguments: [40, 60, 80])
    func wholeFactsOfAValue(columns: Int) throws {
        let browser = try Fixture.browser(
            Fixture.source(), columns: columns, rows: 24, keys: "j<enter>jj<enter>")
        let line = browser.lines[1]
        #expect(line.hasPrefix(" JSON, 199 B  ") && line.hasSuffix("tree text hex"), "\(line)")
        #expect(!line.contains("…") && line.contains("74 hits"), "\(line)")
    }

    @Test("the footer offers an edit only of values that can be edited") func editIsOffered() throws {
        let source = Fixture.source()
        for (bytes, isOffered) in [(Array("a text".utf8), true), ([0x89, 0x50, 0x4e, 0x47, 0, 1], false)] {
            source.with { $0.archives["City"] = [Fixture.record("k", number: 0, bytes: bytes)] }
            let browser = try Fixture.browser(source, columns: 120, keys: "j<enter><enter>")
            #expect(browser.lines[23].contains("Edit value") == isOffered, "\(browser.text)")
        }
    }

    @Test("only a list in LRU order follows the newest entry")
    func sortedListIsLive() throws {
        let list = try Fixture.browser(Fixture.source(), keys: "j<enter>")
        #expect(list.lines[0].contains("following"))
        let sorted = try Fixture.browser(Fixture.source(), keys: "j<enter>2")
        #expect(!sorted.lines[0].contains("following"), "\(sorted.text)")
    }

    /// Actions that change a store don't exist in a read-only browser; the help's key is named as assigned.
    @Test func explainsKeysOfReadOnlyBrowser() throws {
        let readOnly = try Fixture.browser(Fixture.source(), isReadOnly: true, keys: "j<enter>D")
        #expect(readOnly.lines[22] == "Can't delete: this browser is read-only.")
        var browser = HeadlessBrowser(
            Fixture.model(keyMap: Self.keyMap("help = Z")), source: Fixture.source(), clock: { Fixture.start }
        )
        try browser.press("?")
        #expect(browser.lines[22] == "? does nothing here. Z lists the keys.")
    }

    @Test("End and Home move to the ends of the help, and topics are skipped")
    func helpMovesToItsEnds() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "?")
        let first = browser.boxLines
        #expect(first.contains("Open and view") && first.contains("enter, l Open Open the selected row."))
        try browser.press("<end>")
        #expect(browser.boxLines.contains { $0.hasPrefix("paste Keys that arrive faster") })
        try browser.press("<home><up>")
        #expect(browser.boxLines == first)
        // Enter runs the line under the cursor, which is explained below.
        browser.press(Array(repeating: Key(.down), count: 8))
        let title = try #require(browser.boxLines.last { !$0.isEmpty })
        #expect(title.contains(": "), "\(browser.text)")
    }

    @Test("the help has one line for the numbers of stores, the palette one for each open store")
    func storeNumbersAreOneLine() throws {
        let help = try Fixture.browser(Fixture.source(), rows: 100, store: nil, keys: "?")
        let lines = help.boxLines.filter { $0.hasPrefix("1 to 9") || $0.contains("Store 2") }
        #expect(lines == ["1 to 9 Store Show the open store with that number."], "\(help.text)")
        let palette = try Fixture.browser(Fixture.source(), rows: 100, keys: ":store ")
        #expect(palette.text.contains("Store 1") && !palette.text.contains("Store 2"))
    }

    @Test(
        "q returns to the previous screen, and quits on the first",
        arguments: [
            ("jE", 2), ("jT", 2), ("jz", 2), ("j<enter>", 2), ("jj<enter>", 2), ("j<enter>/Ja<enter>", 2),
            ("j<enter><enter>", 3), ("j<enter><enter>jjjj", 3), ("j<enter>T", 3), ("h", 1), ("h<enter>", 2),
        ]) func qGoesBack(keys: String, presses: Int) throws
    {
        var browser = try Fixture.browser(Fixture.source(), keys: keys)
        for _ in 1..<presses {
            try browser.press("q")
            #expect(browser.exit == nil)
        }
        try browser.press("q")
        #expect(browser.exit == .quit)
    }

    @Test("the footer names q Back where it does not quit")
    func footerNamesQ() throws {
        let first = try Fixture.browser(Fixture.source(), columns: 200)
        #expect(first.lines[23].contains("q Quit"), "\(first.text)")
        let list = try Fixture.browser(Fixture.source(), columns: 200, keys: "j<enter>")
        #expect(list.lines[23].contains("q Back"), "\(list.text)")
    }

    @Test(
        "the palette finds actions by terms of other tools",
        arguments: [
            ("", "yank", "y"), ("", "truncate", "D, delete"), ("", "vacuum", "K"), ("", "rename", "N"),
            ("j<enter>", "kill", "D, delete"), ("j<enter>", "ttl", "x"), ("j<enter>", "tail", "F"),
            ("j<enter>", "evict", "V"), ("", "evict", "L"), ("E", "evict", "T"), ("j<enter>", "grep", "/"),
            ("j<enter>", "search", "/"),
            ("j<enter>", "reload", "R"), ("j<enter>", "describe", "enter, l"),
            ("j<enter>", "exit", "q, ctrl+c"), ("j<enter>", "missing", "b"), ("j<enter>", "why", "b"),
            ("j<enter>", "evicted", "b"),
        ]) func paletteKnowsSynonyms(keys: String, word: String, key: String) throws
    {
        let browser = try Fixture.browser(Fixture.source(), columns: 120, keys: keys + ":" + word)
        let lines = browser.boxLines
        #expect(lines.contains { $0.hasSuffix(" " + key) || $0.contains(" \(key), ") }, "\(lines)")
    }

    @Test("a missing key has a history")
    func historyOfMissingKey() throws {
        let source = Fixture.source()
        source.happen(.eviction, "Oslo", archive: "City", bytes: 197, pid: 4121, at: Fixture.start)
        var browser = try Fixture.browser(source, columns: 99, keys: "j<enter>/Oslo<enter>")
        #expect(browser.text.contains("b shows the history of that key"), "\(browser.text)")
        try browser.press("b", shows: "Key history of Oslo")
        #expect(browser.boxWords.contains("evicted"), "\(browser.text)")
    }

    @Test("n goes to the next match of a filter or condition, and creates an entry without one")
    func nextMatchOfFilter() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>/an<enter>n")
        #expect(browser.model.cursorKey == "Tirana" && !browser.text.contains("key of the new entry"))
        try browser.press("n")
        #expect(browser.model.cursorKey == "Tirana" && browser.model.said != nil, "\(browser.text)")
        try browser.press("<esc>Wpopulation > 2000000<enter>gn")
        #expect(browser.model.cursorRow == 1 && !browser.text.contains("key of the new entry"))
        try browser.press("<esc>n", shows: "key of the new entry")
    }

    @Test("marked entries that were removed are counted")
    func removedMarksAreCounted() throws {
        let source = Fixture.source()
        let clock = TestClock()
        var browser = try Fixture.browser(source, columns: 120, clock: clock, keys: "j<enter>mm")
        #expect(!browser.lines[1].contains("removed"), "\(browser.text)")
        source.remove("Jakarta", archive: "City")
        for _ in 0..<12 { clock.advance(1, refreshing: &browser) }
        #expect(browser.lines[1].contains("2 marked") && browser.lines[1].contains(", 1 removed since"))
        try browser.press("/Bandung<enter>")
        #expect(!browser.lines[1].contains("hidden"), "\(browser.lines[1])")
    }

    @Test(
        "the palette names the screens of an action that is not available here",
        arguments: [
            (":persist", "x Expire: only on entries, groups, value, query."),
            ("E:groups", "z Groups: only on archives, entries."),
            ("j<enter>:span", "s Span: only on events, processes, graphs."),
        ]) func paletteNamesOtherScreens(keys: String, words: String) throws
    {
        let browser = try Fixture.browser(Fixture.source(), columns: 120, keys: keys)
        #expect(browser.text.contains(words), "\(browser.text)")
    }

    @Test("V moves to the next entry to be evicted")
    func nextVictim() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>V")
        #expect(browser.model.cursorKey == Fixture.keys.last)
        try browser.press("V")
        #expect(browser.model.cursorKey == Fixture.keys.last && browser.model.said != nil)
    }

    @Test("V counts the next victims that a filter hides")
    func hiddenVictims() throws {
        let source = Fixture.source { $0.summaries["City"]?.diskLimit = 1_000 }
        var browser = try Fixture.browser(source, keys: "j<enter>/Apia<enter>V")
        #expect(browser.model.cursorKey == "Apia")
        let words = browser.model.said ?? ""
        #expect(words.contains("filter hides 1") && words.contains("of the next victims"), "\(words)")
        try browser.press("V")
        #expect(browser.model.said == words, "one row is no proof that no other is evicted")
    }

    @Test("V reads a frozen or paused list again", arguments: ["k", " "])
    func nextVictimIsCurrent(key: String) throws {
        let source = Fixture.source()
        var browser = try Fixture.browser(source, keys: "j<enter>" + (key == " " ? "<space>" : key))
        source.access("Mal\u{e9}", archive: "City", at: Fixture.start)
        try browser.press("V", cursor: "Apia")
    }

    @Test(
        "V states why nothing is evicted",
        arguments: [("City", 2_000_000), ("City", nil), ("Blob", nil)] as [(String, UInt64?)])
    func sayNothingIsEvicted(archive: String, limit: UInt64?) throws {
        let source = Fixture.source { $0.summaries["City"]?.diskLimit = limit }
        let browser = try Fixture.browser(source, keys: (archive == "City" ? "j" : "") + "<enter>V")
        let reason =
            archive == "Blob" ? "is a collection" : limit == nil ? "has no disk limit" : "of 2 MB used"
        #expect(browser.model.said?.contains(reason) == true, "\(browser.model.said ?? "")")
        #expect(browser.model.cursorRow == 0)
    }

    @Test("esc and q do the same on the first screen and on a store opened from the list")
    func escapeAndQuitAgree() throws {
        var named = try Fixture.browser(Fixture.source(), keys: "<esc>")
        #expect(named.model.screen == .archives && named.model.said?.contains("q quits") == true)
        named.press([.character("q")])
        #expect(named.exit == .quit)
        let visited = try Fixture.browser(Fixture.source(), keys: "h<enter><esc>")
        #expect(visited.model.screen == .archives, "the list of stores was visited")
        for key in ["q", "<esc>"] {
            let listed = try Fixture.browser(Fixture.source(), store: nil, keys: "<enter>" + key)
            #expect(listed.model.screen == .stores && listed.exit == nil)
        }
    }

    @Test("a key releases the mouse to the terminal and captures it")
    func mouseCanBeReleased() throws {
        var test = try UpdateTest(Fixture.model(), Fixture.source(), keys: "")
        test.press(.control("t"), expecting: ["release mouse"])
        #expect(test.model.said?.contains("selects text") == true)
        test.press(.control("t"), expecting: ["capture mouse"])
        var environment = Fixture.environment
        environment.capturesMouse = false
        test = try UpdateTest(Fixture.model(environment: environment), Fixture.source(), keys: "")
        test.press(Key(.function(2)), expecting: ["capture mouse"])
    }

    @Test func helpSearchesAndRuns() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: "j<enter>?")
        #expect(browser.text.contains("Help: entries"))
        try browser.press("sort by key", shows: "1             Sort by key")
        try browser.press("<enter>", shows: "key ▲")
        try browser.press("?zzzz", shows: "No matching action.")
        try browser.press("<enter>", hides: "Help:")
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
                + #"'find @key icontains "\\n" or @key icontains "\n" or @key matches "(?i)\\n"'"#
        ),
        ("j<enter>mm", "vellum --store /home/ada/.cache/demo rm City Jakarta Bandung --dry-run"),
        ("j<enter>jjjj<enter>", "vellum --store /home/ada/.cache/demo get City 'Cafe\u{301} de Flore'"),
        ("<enter><enter>", "vellum --store /home/ada/.cache/demo get Blob picture.png --hex"),
        ("jj<enter>", "vellum --store /home/ada/.cache/demo tail Trace"),
        // Regression: on these it was the list of archives.
        ("jE", "vellum --store /home/ada/.cache/demo watch --from-start"),
        ("j<enter>E", "vellum --store /home/ada/.cache/demo watch City --from-start"),
        ("jP", "vellum --store /home/ada/.cache/demo stats"),
        ("j<enter>P", "vellum --store /home/ada/.cache/demo stats City"),
        ("jT", "vellum --store /home/ada/.cache/demo stats City --watch"),
        ("ja", "vellum --store /home/ada/.cache/demo advise City"),
    ])
    func showsCommandLine(keys: String, words: String) throws {
        #expect(CommandLine.words(for: try Fixture.browser(Fixture.source(), keys: keys).model) == words)
    }

    @Test(arguments: [
        ("jj<enter>/!1<enter>", "tail Trace --lines 60", "Prints all messages; the filter has no command."),
        ("jE/ja<enter>", "watch --from-start", "Prints all events; the filter has no command."),
        ("jT", "stats City --watch", "Prints the figures of each second; no command draws graphs."),
        ("j<enter>M", "--dry-run", "Only the first 100 of the 117 marked keys."),
        ("j<enter>/é<enter>", "query City 'find @key icontains \"é\"'", "The command finds whole characters"),
    ])
    func commandLineStatesDifferences(keys: String, words: String, remark: String) throws {
        Fixture.addMessages(source)
        source.with { state in
            guard keys.hasSuffix("M") else { return }
            for number in 0..<101 {
                state.archives["City"]?.append(Fixture.record("\(number)", number: number, bytes: [0x31]))
            }
        }
        let browser = try Fixture.browser(source, columns: 100, rows: 40, keys: keys + "c")
        #expect(CommandLine.words(for: browser.model).hasSuffix(words))
        #expect(browser.text.contains(remark), "\(browser.text)")
    }

    /// A key may look like an option: `rm City --all` would delete everything.
    @Test func commandLineSeparatesKeysFromOptions() throws {
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

    /// Regression: a shell ends a word at a NUL, so the command named a different key.
    @Test func commandLineHasNoNUL() throws {
        source.with { $0.archives["City"]?.append(Fixture.record("City\u{0}x", number: 1, bytes: [0x31])) }
        let marked = try Fixture.browser(source, keys: "j<enter>/City<enter>gm")
        #expect(
            CommandLine.words(for: marked.model).hasSuffix(
                #" rm City --where '@key in ["City\u0000x"]' --dry-run"#), "\(marked.text)")
        let opened = try Fixture.browser(source, keys: "j<enter>/City<enter>g<enter>")
        #expect(CommandLine.words(for: opened.model).hasSuffix(#" query City 'find @key = "City\u0000x"'"#))
        let menu = try Fixture.browser(source, keys: "j<enter>/City<enter>gy")
        #expect(menu.text.contains("shells can't pass the NUL"), "\(menu.text)")
    }

    @Test func remappedKeysAreUsedAndShown() throws {
        var browser = HeadlessBrowser(
            Fixture.model(keyMap: Self.keyMap("open = o\nquit = ctrl+q")), source: Fixture.source(),
            clock: { Fixture.start })
        #expect(browser.text.contains("o Open"))
        try browser.press("q")
        #expect(browser.exit == nil)
        try browser.press("<ctrl+q>")
        #expect(browser.exit == .quit)
        let wrong = Fixture.model(
            problems: ["/c/config.toml:3: theme: \"drak\" is not one of dark, light; did you mean dark?"])
        #expect(Browser.frame(wrong).plainText.contains("/c/config.toml:3: theme: \"drak\" is not one of"))
        // Faulty settings don't prevent browsing.
        browser = HeadlessBrowser(wrong, source: Fixture.source(), clock: { Fixture.start })
        try browser.press("<enter><enter>", on: .entries)
    }

    private static func keyMap(_ assignments: String) -> BrowserKeyMap {
        var map = ActionTable.keyMap()
        #expect(map.remap(assignments) == [])
        return map
    }

    @Test("a key assigned to an action that a read-only browser lacks is accepted")
    func acceptsKeysOfAbsentActions() throws {
        let model = Fixture.model(isReadOnly: true, keyMap: Self.keyMap("delete = X"))
        #expect(model.keyMap.action(.delete) == nil)
    }

    private func click(_ column: Int, _ row: Int, _ kind: MouseEvent.Kind = .click) -> Message {
        .input(.mouse(MouseEvent(kind: kind, at: Point(column: column, row: row))))
    }

    @Test func mouseRunsActions() throws {
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
        let header = browser.lines[2]
        let size = try #require(
            header.range(of: "size").map { header.distance(from: header.startIndex, to: $0.lowerBound) })
        browser.send(click(size, 2))
        #expect(browser.text.contains("size ▼"))
        browser.send(click(size, 2))
        #expect(browser.text.contains("size ▲"))
        let footer = browser.lines[23]
        let help = try #require(
            footer.range(of: "? Help").map { footer.distance(from: footer.startIndex, to: $0.lowerBound) })
        browser.send(click(help, 23))
        #expect(browser.text.contains("Help: entries"))
        try browser.press("<esc>D")
        #expect(browser.model.planned != nil)
        let lines = browser.lines
        let row = try #require(lines.firstIndex { $0.contains("[ Cancel ]") })
        let cancel = try #require(lines[row].range(of: "[ Cancel ]"))
        // Wide characters left of the button take two columns.
        browser.send(click(TextWidth.width(of: String(lines[row][..<cancel.lowerBound])) + 2, row))
        #expect(browser.model.planned == nil)
    }

    @Test("a click below the last action leaves the palette open")
    func clickBelowActionsDoesNothing() throws {
        var browser = try Fixture.browser(Fixture.source(), keys: ":store ")
        browser.send(click(40, 18))
        #expect(browser.text.contains(" Actions "))
    }

    @Test func escapeLeavesEveryScreen() throws {
        var browser = try Fixture.browser(Fixture.source(), store: nil, keys: "<enter>j<enter><enter>")
        for screen in [Screen.value, .entries, .archives, .stores] {
            #expect(browser.model.screen == screen)
            try browser.press("<esc>")
        }
        #expect(browser.exit == nil)
        // A named store leads to the other stores of its folder.
        var onStore = try Fixture.browser(Fixture.source(), keys: "h")
        #expect(onStore.model.screen == .stores)
        #expect(onStore.text.contains("thumbnails"))
        try onStore.press("<esc>", shows: "This is the first screen; q quits.")
        onStore.press([.character("q"), .character("j")])
        #expect(onStore.exit == .quit)
    }
}
