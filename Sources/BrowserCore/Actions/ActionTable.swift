import TerminalKit

/// The one table of all actions: footer, help, palette and the documents' lists of keys come from it. Immutable.
package enum ActionTable {
    private static let all = Set(Screen.allCases)
    private static let ofStore = all.subtracting([.stores])
    private static let live: Set<Screen> = [.stores, .archives, .entries, .messages, .monitor]
    private static let opening: Set<Screen> = live.union([.query, .groups])
    private static let withValue: Set<Screen> = [.entries, .value, .query]
    private static let inArchive: Set<Screen> = [.archives, .entries, .groups, .value, .query]
    private static let ofEntries: Set<Screen> = [.entries, .query]
    private static let sortable: Set<Screen> = ofEntries.union([.archives, .groups])

    /// The key map as it is shipped. In a store that is only read the actions that change it are absent.
    package static func keyMap(readOnly: Bool = false) -> BrowserKeyMap {
        let map = KeyMap(topics.flatMap(\.actions))
        return readOnly ? map.without(.destructive) : map
    }

    /// All actions by task, as the help groups them.
    static let topics: [(title: String, actions: [BrowserAction])] = [
        ("Open and look", looking), ("Query and group", asking), ("Stores", choosingStores),
        ("Sort and columns", arranging), ("Mark, delete, expire, undo", acting),
        ("Copy, edit, write", handing),
        ("Events and graphs", watching), ("Browser", general), ("Move the cursor", moving),
    ]

    private static let looking: [BrowserAction] = [
        action(
            .open, "Open", "Open what the cursor is on.", [Key(.enter), .character("l"), Key(.right)],
            opening, .footer),
        action(
            .fold, "Fold", "Fold or unfold; open a text in full.",
            [Key(.enter), .character("l"), Key(.right), .character(" ")], [.value], .footer),
        action(
            .back, "Back", "Fold the part, or go back a screen.",
            [.character("h"), Key(.left), Key(.backspace)], all.subtracting([.stores])),
        action(
            .filter, "Filter", "Show only what holds what you type.", [.character("/")],
            [.stores, .archives, .entries, .query, .monitor, .messages], .footer),
        action(
            .condition, "Where", "Show only what meets a condition.", [.character("W")], [.entries]),
        action(
            .find, "Find", "Find text or bytes in the whole value.",
            [.character("/")], [.value], .footer),
        action(
            .search, "Find", "Find by a pattern; ! before it: others.", [.character("f")],
            [.messages], .footer),
        action(
            .findNext, "Next match", "Go to the next match.", [.character("n")], [.value, .messages]),
        action(
            .findPrevious, "Previous match", "Go to the match before.", [.character("N")],
            [.value, .messages]),
        action(
            .mode, "View as", "Show it as a tree, as text or as bytes.",
            [.character("t"), Key(.tab)], [.value], .footer),
        action(.unfoldAll, "Unfold all", "Unfold every part of the value.", [.character("+")], [.value]),
        action(.foldAll, "Fold all", "Fold every part of the value.", [.character("-")], [.value]),
        action(
            .preview, "Value pane", "Show or hide the value of the entry.", [.character("p")],
            [.entries]),
    ]

    private static let asking: [BrowserAction] = [
        action(
            .groups, "Groups", "Sizes by prefix, owner or property.", [.character("z")],
            [.archives, .entries]),
        action(
            .groupBy, "Group by", "Choose a separator, owner or kind.", [.character("t")], [.groups],
            .footer),
        action(
            .frequency, "Count by", "Count the values of a column.", [.character("f")],
            [.entries, .groups, .query], .footer),
        action(.list, "Entries", "List the entries of the group.", [.character("v")], [.groups], .footer),
        action(
            .query, "Query", "Ask for entries by their values.", [.character("Q")], ofStore,
            .footer),
        action(
            .edit, "Write", "Write the query.", [.character("i"), Key(.tab)], [.query],
            .footer),
        action(
            .explain, "Explain", "Show how the query was carried out.", [.character("X")], [.query], .footer),
        action(
            .saveQuery, "Save query", "Give the query a name.", [.control("s")], [.query]),
        action(
            .savedQueries, "Saved queries", "Take a query that has a name.", [.control("o")], [.query]),
        action(.copySwift, "In Swift", "Show the query as Swift source.", [.character("S")], [.query]),
        action(
            .export, "Export", "Write the result to a file.", [.character("w")], [.query], .footer),
        action(
            .askEvery, "Ask every", "Ask every 1, 5 or 30 s, or by R alone.", [.character("a")], [.query],
            .footer),
    ]

    private static let watching: [BrowserAction] = [
        action(
            .events, "Event pane", "Show or hide the latest events.", [.character("t")],
            [.archives, .entries]),
        action(
            .monitor, "Events", "All events, with filters.", [.character("E")], all,
            .footer),
        action(
            .processes, "Processes", "The processes that have it open.", [.character("P")], all),
        action(
            .graphs, "Graphs", "Graphs of the last minutes to hours.", [.character("T")], all),
        action(.span, "Span", "Show graphs of a longer time.", [.character("s")], [.monitor], .footer),
        action(
            .earlier, "Earlier", "Read a column before, as left does.",
            [.character("<"), Key(.left, modifiers: .shift)], [.monitor], .footer),
        action(
            .later, "Later", "Read a column after, as right does.",
            [.character(">"), Key(.right, modifiers: .shift)], [.monitor]),
        action(
            .alarm, "Alarm", "Ring the bell when it crosses a bound.", [.character("A")], ofStore,
            .footer),
        action(.entry, "Entry", "Open the entry of the event.", [.character("v")], [.monitor], .footer),
        action(
            .monitorPart, "Other part", "Events, processes or graphs.", [Key(.tab)], [.monitor]),
        action(
            .eventKind, "Kind", "Show only the next kind of event.", [.character("t")], [.monitor], .footer),
        action(
            .eventArchive, "Archive", "Show only the next archive.", [.character("a")], [.monitor], .footer),
        action(
            .biography, "Biography", "What the events tell of the entry.", [.character("b")],
            [.value, .monitor],
            .footer),
    ]

    private static let arranging: [BrowserAction] = [
        action(.sort, "Sort", "Sort by the next column.", [.character("s")], sortable, .footer),
        action(.reverse, "Reverse", "Turn the order round.", [.character("r")], sortable),
        action(
            .columns, "Columns", "Choose the columns that are shown.", [.character("C")], ofEntries),
        action(
            .columnsLeft, "Columns before", "Show the columns further left.",
            [.character("<"), Key(.left, modifiers: .shift)], ofEntries),
        action(
            .columnsRight, "Columns behind", "Show the columns further right.",
            [.character(">"), Key(.right, modifiers: .shift)], ofEntries),
        action(.sortByKey, "Sort by key", "Sort by key.", [.character("1")], [.entries]),
        action(.sortBySize, "Sort by size", "Sort by the size of the value.", [.character("2")], [.entries]),
        action(
            .sortByTier, "Sort by tier", "Sort by where entries are held.", [.character("3")], [.entries]),
        action(
            .sortByIdle, "Sort by idle time", "In LRU order, the last used first.", [.character("4")],
            [.entries]),
        action(.sortByAge, "Sort by age", "Sort by the time of creation.", [.character("5")], [.entries]),
        action(.sortByExpires, "Sort by expiry", "Sort by deadline.", [.character("6")], [.entries]),
        action(.sortByHits, "Sort by hits", "Sort by the number of accesses.", [.character("7")], [.entries]),
        action(.sortByOwner, "Sort by owner", "Sort by owner.", [.character("8")], [.entries]),
    ]

    private static let choosingStores: [BrowserAction] =
        [
            action(
                .favourite, "Favourite", "List the store first, or no longer.", [.character("f")], [.stores],
                .footer),
            action(
                .closeStore, "Close", "Forget what was seen of an open store.", [.character("X")], [.stores]),
            action(.nextStore, "Next store", "Show the next open store.", [.character("]")], all),
            action(
                .previousStore, "Store before", "Show the open store before this.", [.character("[")],
                all),
        ]
        + ActionID.stores.enumerated().map { place, id in
            action(
                id, "Store \(place + 1)",
                place == 0 ? "Show the open store of that number." : "Show open store \(place + 1).",
                [.character(Character(String(place + 1)))], [.stores, .archives])
        }

    private static let acting: [BrowserAction] = [
        action(
            .demo, "Demo", "Look at a store under a workload.",
            [.character("d")], [.stores], .footer),
        action(
            .mark, "Mark", "Mark the entry, or take its mark away.",
            [.character("m"), Key(.insert)], ofEntries, .footer),
        action(
            .markAll, "Mark all", "Mark every entry of the list or result.",
            [.character("M"), .character("*")], ofEntries),
        action(.unmarkAll, "Unmark all", "Take all marks away.", [.character("-")], ofEntries),
        action(
            .delete, "Delete", "Plan to delete what is marked, or this.",
            [.character("D"), Key(.delete)], [.entries, .groups, .value, .query], [.destructive, .footer]),
        action(
            .expire, "Expire", "Plan when it expires: soon, now, never.", [.character("x")],
            [.entries, .groups, .value, .query], [.destructive, .footer]),
        action(
            .deleteAll, "Delete all", "Delete all messages, for good.", [.control("x")], [.messages],
            .destructive),
        action(
            .resizeArchive, "Resize archive", "Plan other limits.", [.character("L")], [.archives],
            .destructive),
        action(
            .compactArchive, "Compact archive", "Plan to release unused space.", [.character("K")],
            [.archives], .destructive),
        action(
            .renameArchive, "Rename archive", "Plan another name.", [.character("N")], [.archives],
            .destructive),
        action(
            .dropArchive, "Drop archive", "Remove it, if you type its name.",
            [.character("D"), Key(.delete)], [.archives], .destructive),
        action(
            .undo, "Undo", "Take back the last delete or expiry.", [.character("u")], inArchive,
            .destructive),
        action(
            .undoList, "Undo which", "Choose what to take back.", [.character("U")], inArchive, .destructive),
    ]

    /// What hands on what the cursor is on.
    private static let handing: [BrowserAction] = [
        action(
            .copy, "Copy", "Copy key, value, JSON, command or path.", [.character("y")],
            [.archives, .entries, .value, .query, .messages]),
        action(.pager, "Open in a pager", "Read the value in $PAGER.", [.character("o")], withValue),
        action(.pipe, "Pipe", "Give the value to a command.", [.character("|")], withValue),
        action(.write, "Write", "Write the value to a file.", [.character("w")], [.entries, .value]),
        action(
            .editValue, "Edit value", "Edit it in $EDITOR, then see a plan.", [.character("e")], withValue,
            .destructive),
        action(
            .newEntry, "New entry", "Name a key and write its value.", [.character("n")], [.entries],
            .destructive),
    ]

    private static let general: [BrowserAction] = [
        action(
            .pause, "Pause", "Stop the screen, or let it go on.", [.character(" ")], opening,
            .footer),
        action(
            .follow, "Follow", "Keep to the newest row.", [.character("F")],
            [.entries, .messages, .monitor]),
        action(.refresh, "Refresh", "Read the store again now.", [.character("R")], all),
        action(
            .clear, "Clear", "Leave filter, search or marks; go back.",
            [Key(.escape)], all),
        action(
            .commandLine, "Command", "Show the command line for the same.", [.character("c")], all),
        action(.palette, "Actions", "Choose an action by its name.", [.character(":")], all),
        action(
            .help, "Help", "List keys; type to search, Enter runs.",
            [.character("?"), Key(.function(1))], all, .footer),
        action(.hints, "Hints", "Hide the line of hints, or show it.", [.character("H")], all),
        action(
            .mouse, "Mouse", "Give the mouse to the terminal, or not.", [.control("t"), Key(.function(2))],
            all),
        action(
            .quit, "Quit", "Leave the browser.", [.character("q"), .control("c")],
            all,
            .footer),
    ]

    private static let moving: [BrowserAction] = [
        action(.up, "Up", "One row up.", [Key(.up), .character("k")], all),
        action(.down, "Down", "One row down.", [Key(.down), .character("j")], all),
        action(.pageUp, "Page up", "One page up.", [Key(.pageUp), .control("b")], all),
        action(.pageDown, "Page down", "One page down.", [Key(.pageDown), .control("f")], all),
        action(.halfPageUp, "Half a page up", "Half a page up.", [.control("u")], all),
        action(.halfPageDown, "Half a page down", "Half a page down.", [.control("d")], all),
        action(.first, "First", "To the first row.", [Key(.home), .character("g")], all),
        action(.last, "Last", "To the last row.", [Key(.end), .character("G")], all),
    ]

    private static func action(
        _ id: ActionID, _ title: String, _ help: String, _ keys: [Key], _ screens: Set<Screen>,
        _ flags: ActionFlags = []
    ) -> BrowserAction {
        Action(id, title: title, help: help, keys: keys, contexts: screens, flags: flags)
    }
}
