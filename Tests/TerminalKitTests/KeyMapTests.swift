import TerminalKit
import Testing

private enum Name: String, Sendable { case quit, open, delete, deleteAll = "delete-all", help, down }
private enum Screen: Sendable { case list, value }

extension Action {
    /// `keys`: spellings of keys, separated by spaces.
    fileprivate init(
        _ id: ID, title: String, help: String, keys: String, contexts: Set<Context>, flags: ActionFlags = []
    ) throws {
        let keys = try keys.split(separator: " ").map { try Key(parsing: String($0)) }
        self.init(id, title: title, help: help, keys: keys, contexts: contexts, flags: flags)
    }
}

@Suite struct KeyMapTests {
    private func map() throws -> KeyMap<Name, Screen> {
        KeyMap([
            try Action(
                .open, title: "Open", help: "Opens the entry.", keys: "enter l", contexts: [.list],
                flags: .footer),
            try Action(
                .delete, title: "Delete", help: "Plans the removal of the marked entries.", keys: "d",
                contexts: [.list], flags: [.footer, .destructive]),
            try Action(
                .deleteAll, title: "Delete all", help: "Plans the removal of every entry.", keys: "D",
                contexts: [.list], flags: .destructive),
            try Action(
                .help, title: "Help", help: "Lists all actions.", keys: "?", contexts: [.list, .value],
                flags: .footer),
            try Action(
                .down, title: "Down", help: "Moves down.", keys: "j down", contexts: [.list, .value],
                flags: .hidden),
            try Action(
                .quit, title: "Quit", help: "Leaves the browser.", keys: "q ctrl+c",
                contexts: [.list, .value]),
        ])
    }

    @Test func findsActionOfScreen() throws {
        let map = try map()
        #expect(map.action(for: Key(.enter), in: .list)?.id == .open)
        #expect(map.action(for: Key(.enter), in: .value) == nil)
        #expect(map.action(for: .control("c"), in: .value)?.id == .quit)
    }

    @Test func firstActionInTableGetsSharedKey() throws {
        let first = try Action<Name, Screen>(.open, title: "", help: "", keys: "x", contexts: [.list])
        let second = try Action<Name, Screen>(
            .quit, title: "", help: "", keys: "y x", contexts: [.list, .value])
        #expect(KeyMap([first, second]).action(for: .character("x"), in: .list)?.id == .open)
    }

    @Test func listsHintsAndActions() throws {
        let map = try map()
        #expect(map.hints(in: .list).map { "\($0.key) \($0.title)" } == ["enter Open", "d Delete", "? Help"])
        #expect(map.actions(in: .value).map(\.id) == [.help, .quit])
        #expect(map.action(.quit)?.keyList == "q, ctrl+c")
    }

    @Test func searchFindsByTitleHelpAndKey() throws {
        let map = try map()
        #expect(map.search("del", in: .list).map(\.id) == [.delete, .deleteAll])
        #expect(map.search("dall", in: .list).map(\.id) == [.deleteAll])
        #expect(map.search("browser", in: .list).map(\.id) == [.quit])
        #expect(map.search("?", in: .list).map(\.id) == [.help])
        #expect(map.search("zzz", in: .list).isEmpty)
        #expect(map.search("", in: .list).count == 5)
    }

    @Test func remapRemovesKeysFromOtherActions() throws {
        var map = try map()
        #expect(map.remap("# mine\n\nquit = x, ctrl+q\nopen = d\r\nhelp =\n") == [])
        #expect(map.action(for: .character("x"), in: .list)?.id == .quit)
        #expect(map.action(for: .character("q"), in: .list) == nil)
        #expect(map.action(for: .character("d"), in: .list)?.id == .open)
        #expect(map.action(.delete)?.keys == [])
        #expect(map.action(.help)?.keys == [])
    }

    @Test func remapSwapsKeys() throws {
        var map = try map()
        #expect(map.remap("delete = D\ndelete-all = d") == [])
        #expect(map.action(for: .character("D"), in: .list)?.id == .delete)
        #expect(map.action(for: .character("d"), in: .list)?.id == .deleteAll)
    }

    @Test func reportsLinesOfErrors() throws {
        var map = try map()
        let errors = map.remap("quit x\nhlp = x\nopen = foo\n\nquit = x\nhelp = x\nopen = a,,b")
        #expect(errors.map(\.line) == [1, 2, 3, 6, 7])
        #expect(errors[1].description == "line 2: unknown action \"hlp\"; did you mean help?")
        #expect(errors[2].reason.contains("foo"))
        #expect(errors[3].reason.contains("quit"))
        #expect(map.action(for: .character("x"), in: .list)?.id == .quit)
        #expect(map.action(.open)?.keyList == "enter, l")
    }

    @Test func fuzzyMatchesPreferBeginnings() throws {
        let match = try #require(FuzzyMatch("ca", in: "Copy archive, Cancel"))
        #expect(match.positions == [14, 15])
        #expect(FuzzyMatch("ac", in: "ca") == nil)
        #expect(FuzzyMatch("", in: "x") == nil)
        #expect(try #require(FuzzyMatch("dl", in: "DeLete")).positions == [0, 2])
    }
}
