import TerminalKit

/// The one table of all actions: footer, help, palette and the documents' lists of keys come from it. Immutable.
public enum ActionTable {
    private static let all = Set(Screen.allCases)
    private static let lists: Set<Screen> = [.stores, .archives, .entries]

    /// The key map as it is shipped. In a store that is only read the actions that change it are absent.
    public static func keyMap(readOnly: Bool = false) -> BrowserKeyMap {
        KeyMap(
            (looking + arranging + acting + moving).filter { !readOnly || !$0.flags.contains(.destructive) })
    }

    private static let looking: [BrowserAction] = [
        action(
            .open, "Open", "Open what the cursor is on.", [Key(.enter), .character("l"), Key(.right)], lists,
            .footer),
        action(
            .fold, "Fold", "Fold or unfold the part of the value under the cursor.",
            [Key(.enter), .character("l"), Key(.right), .character(" ")], [.value], .footer),
        action(
            .back, "Back", "Go back to the screen before; in a value, fold or go to what holds the part.",
            [.character("h"), Key(.left), Key(.backspace)], [.archives, .entries, .value]),
        action(
            .filter, "Filter", "Show only the entries whose key holds what you type.", [.character("/")],
            [.entries], .footer),
        action(
            .find, "Find", "Find text in the names and values of the tree, or in the text.",
            [.character("/")], [.value], .footer),
        action(.findNext, "Next match", "Go to the next match.", [.character("n")], [.value]),
        action(.findPrevious, "Previous match", "Go to the match before.", [.character("N")], [.value]),
        action(
            .mode, "View as", "Show the value as a tree, as text or as bytes.",
            [.character("t"), Key(.tab)], [.value], .footer),
        action(.unfoldAll, "Unfold all", "Unfold every part of the value.", [.character("E")], [.value]),
        action(.foldAll, "Fold all", "Fold every part of the value.", [.character("C")], [.value]),
        action(
            .preview, "Value pane", "Show or hide the value beside or below the entries.", [.character("p")],
            [.entries]),
    ]

    private static let arranging: [BrowserAction] = [
        action(.sort, "Sort", "Sort by the next column.", [.character("s")], [.entries], .footer),
        action(
            .reverse, "Reverse", "Turn the order round.", [.character("r"), .character("S")], [.entries]),
        action(.sortByKey, "Sort by key", "Sort by key.", [.character("1")], [.entries]),
        action(.sortBySize, "Sort by size", "Sort by the size of the value.", [.character("2")], [.entries]),
        action(
            .sortByTier, "Sort by tier", "Sort by where entries are held.", [.character("3")], [.entries]),
        action(
            .sortByIdle, "Sort by idle time", "LRU order, the most recently used first.", [.character("4")],
            [.entries]),
        action(.sortByAge, "Sort by age", "Sort by the time of creation.", [.character("5")], [.entries]),
        action(.sortByExpires, "Sort by expiry", "Sort by deadline.", [.character("6")], [.entries]),
        action(.sortByHits, "Sort by hits", "Sort by the number of accesses.", [.character("7")], [.entries]),
        action(.sortByOwner, "Sort by owner", "Sort by owner.", [.character("8")], [.entries]),
    ]

    private static let acting: [BrowserAction] = [
        action(
            .demo, "Demo", "Fill a store from real data, run a workload on it and look at it.",
            [.character("d")], [.stores], .footer),
        action(
            .mark, "Mark", "Mark the entry, or take its mark away.",
            [.character("m"), .character("x"), Key(.insert)], [.entries], .footer),
        action(
            .markAll, "Mark all", "Mark every entry that the filter shows.",
            [.character("M"), .character("*")], [.entries]),
        action(.unmarkAll, "Unmark all", "Take all marks away.", [.character("U")], [.entries]),
        action(
            .delete, "Delete", "Plan to delete the marked entries, or the one under the cursor.",
            [.character("D"), Key(.delete)], [.entries, .value], [.destructive, .footer]),
        action(
            .pause, "Pause", "Stop the screen where it is, or let it go on.", [.character(" ")], lists,
            .footer),
        action(
            .follow, "Follow", "Keep the cursor at the top row, whatever comes there.", [.character("F")],
            [.entries]),
        action(.refresh, "Refresh", "Read the store again now.", [.character("R")], all),
        action(
            .clear, "Clear", "Leave the filter, the search or the marks; with none of them, go back.",
            [Key(.escape)], all),
        action(
            .commandLine, "Command", "Show the command line that gives the same.", [.character("c")], all),
        action(.palette, "Actions", "Choose an action by its name.", [.character(":")], all),
        action(
            .help, "Help", "List the keys; type to search, Enter runs one.",
            [.character("?"), Key(.function(1))], all, .footer),
        action(
            .quit, "Quit", "Leave the browser. The store is as it was.", [.character("q"), .control("c")],
            all,
            .footer),
    ]

    private static let moving: [BrowserAction] = [
        action(.up, "Up", "One row up.", [Key(.up), .character("k")], all, .hidden),
        action(.down, "Down", "One row down.", [Key(.down), .character("j")], all, .hidden),
        action(.pageUp, "Page up", "One page up.", [Key(.pageUp), .control("b")], all, .hidden),
        action(.pageDown, "Page down", "One page down.", [Key(.pageDown), .control("f")], all, .hidden),
        action(.halfPageUp, "Half a page up", "Half a page up.", [.control("u")], all, .hidden),
        action(.halfPageDown, "Half a page down", "Half a page down.", [.control("d")], all, .hidden),
        action(.first, "First", "To the first row.", [Key(.home), .character("g")], all, .hidden),
        action(.last, "Last", "To the last row.", [Key(.end), .character("G")], all, .hidden),
    ]

    private static func action(
        _ id: ActionID, _ title: String, _ help: String, _ keys: [Key], _ screens: Set<Screen>,
        _ flags: ActionFlags = []
    ) -> BrowserAction {
        Action(id, title: title, help: help, keys: keys, contexts: screens, flags: flags)
    }
}
