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
            .open, "Open", "Open what the cursor is on.", [Key(.enter), "l", Key(.right)],
            opening, .footer),
        action(
            .fold, "Fold", "Fold or unfold; open a text in full.",
            [Key(.enter), "l", Key(.right), " "], [.value], .footer),
        action(
            .back, "Back", "Fold the part, or go back a screen.",
            ["h", Key(.left), Key(.backspace)], all.subtracting([.stores])),
        action(
            .filter, "Filter", "Show only what holds what you type.", ["/"],
            [.stores, .archives, .entries, .query, .monitor, .messages], .footer),
        action(.condition, "Where", "Show only what meets a condition.", ["W"], [.entries]),
        action(.find, "Find", "Find text or bytes in the whole value.", ["/"], [.value], .footer),
        action(.search, "Find", "Find by a pattern; ! before it: others.", ["f"], [.messages], .footer),
        action(.findNext, "Next match", "Go to the next match.", ["n"], [.value, .messages]),
        action(.findPrevious, "Previous match", "Go to the match before.", ["N"], [.value, .messages]),
        action(
            .mode, "View as", "Show it as a tree, as text or as bytes.",
            ["t", Key(.tab)], [.value], .footer),
        action(.unfoldAll, "Unfold all", "Unfold every part of the value.", ["+"], [.value]),
        action(.foldAll, "Fold all", "Fold every part of the value.", ["-"], [.value]),
        action(.preview, "Value pane", "Show or hide the value of the entry.", ["p"], [.entries]),
    ]

    private static let asking: [BrowserAction] = [
        action(.groups, "Groups", "Sizes by prefix, owner or property.", ["z"], [.archives, .entries]),
        action(.groupBy, "Group by", "Choose a separator, owner or kind.", ["t"], [.groups], .footer),
        action(
            .frequency, "Count by", "Count the values of a column.", ["f"],
            [.entries, .groups, .query], .footer),
        action(.list, "Entries", "List the entries of the group.", ["v"], [.groups], .footer),
        action(.query, "Query", "Ask for entries by their values.", ["Q"], ofStore, .footer),
        action(.edit, "Write", "Write the query.", ["i", Key(.tab)], [.query], .footer),
        action(.explain, "Explain", "Show how the query was carried out.", ["X"], [.query], .footer),
        action(.saveQuery, "Save query", "Give the query a name.", [.control("s")], [.query]),
        action(.savedQueries, "Saved queries", "Take a query that has a name.", [.control("o")], [.query]),
        action(.copySwift, "In Swift", "Show the query as Swift source.", ["S"], [.query]),
        action(.export, "Export", "Write the result to a file.", ["w"], [.query], .footer),
        action(.askEvery, "Ask every", "Ask every 1, 5 or 30 s, or by R alone.", ["a"], [.query], .footer),
    ]

    private static let watching: [BrowserAction] = [
        action(.events, "Event pane", "Show or hide the latest events.", ["t"], [.archives, .entries]),
        action(.monitor, "Events", "All events, with filters.", ["E"], all, .footer),
        action(.processes, "Processes", "The processes that have it open.", ["P"], all),
        action(.graphs, "Graphs", "Graphs of the last minutes to hours.", ["T"], all),
        action(.span, "Span", "Show graphs of a longer time.", ["s"], [.monitor], .footer),
        action(
            .earlier, "Earlier", "Read a column before, as left does.",
            ["<", Key(.left, modifiers: .shift)], [.monitor], .footer),
        action(
            .later, "Later", "Read a column after, as right does.",
            [">", Key(.right, modifiers: .shift)], [.monitor]),
        action(.alarm, "Alarm", "Ring the bell when it crosses a bound.", ["A"], ofStore, .footer),
        action(.entry, "Entry", "Open the entry of the event.", ["v"], [.monitor], .footer),
        action(.monitorPart, "Other part", "Events, processes or graphs.", [Key(.tab)], [.monitor]),
        action(.eventKind, "Kind", "Show only the next kind of event.", ["t"], [.monitor], .footer),
        action(.eventArchive, "Archive", "Show only the next archive.", ["a"], [.monitor], .footer),
        action(
            .biography, "Biography", "What the events tell of the entry.", ["b"],
            [.value, .monitor],
            .footer),
    ]

    private static let arranging: [BrowserAction] = [
        action(.sort, "Sort", "Sort by the next column.", ["s"], sortable, .footer),
        action(.reverse, "Reverse", "Turn the order round.", ["r"], sortable),
        action(.columns, "Columns", "Choose the columns that are shown.", ["C"], ofEntries),
        action(
            .columnsLeft, "Columns before", "Show the columns further left.",
            ["<", Key(.left, modifiers: .shift)], ofEntries),
        action(
            .columnsRight, "Columns behind", "Show the columns further right.",
            [">", Key(.right, modifiers: .shift)], ofEntries),
        action(.sortByKey, "Sort by key", "Sort by key.", ["1"], [.entries]),
        action(.sortBySize, "Sort by size", "Sort by the size of the value.", ["2"], [.entries]),
        action(.sortByTier, "Sort by tier", "Sort by where entries are held.", ["3"], [.entries]),
        action(.sortByIdle, "Sort by idle time", "In LRU order, the last used first.", ["4"], [.entries]),
        action(.sortByAge, "Sort by age", "Sort by the time of creation.", ["5"], [.entries]),
        action(.sortByExpires, "Sort by expiry", "Sort by deadline.", ["6"], [.entries]),
        action(.sortByHits, "Sort by hits", "Sort by the number of accesses.", ["7"], [.entries]),
        action(.sortByOwner, "Sort by owner", "Sort by owner.", ["8"], [.entries]),
    ]

    private static let choosingStores: [BrowserAction] =
        [
            action(.favourite, "Favourite", "List the store first, or no longer.", ["f"], [.stores], .footer),
            action(.closeStore, "Close", "Forget what was seen of an open store.", ["X"], [.stores]),
            action(.nextStore, "Next store", "Show the next open store.", ["]"], all),
            action(.previousStore, "Store before", "Show the open store before this.", ["["], all),
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
            ["d"], [.stores], .footer),
        action(
            .mark, "Mark", "Mark the entry, or take its mark away.",
            ["m", Key(.insert)], ofEntries, .footer),
        action(.markAll, "Mark all", "Mark every entry of the list or result.", ["M", "*"], ofEntries),
        action(.unmarkAll, "Unmark all", "Take all marks away.", ["-"], ofEntries),
        action(
            .delete, "Delete", "Plan to delete what is marked, or this.",
            ["D", Key(.delete)], [.entries, .groups, .value, .query], [.destructive, .footer]),
        action(
            .expire, "Expire", "Plan when it expires: soon, now, never.", ["x"],
            [.entries, .groups, .value, .query], [.destructive, .footer]),
        action(
            .deleteAll, "Delete all", "Delete all messages, for good.", [.control("x")], [.messages],
            .destructive),
        action(.resizeArchive, "Resize archive", "Plan other limits.", ["L"], [.archives], .destructive),
        action(
            .compactArchive, "Compact archive", "Plan to release unused space.", ["K"],
            [.archives], .destructive),
        action(.renameArchive, "Rename archive", "Plan another name.", ["N"], [.archives], .destructive),
        action(
            .dropArchive, "Drop archive", "Remove it, if you type its name.",
            ["D", Key(.delete)], [.archives], .destructive),
        action(.undo, "Undo", "Take back the last delete or expiry.", ["u"], inArchive, .destructive),
        action(.undoList, "Undo which", "Choose what to take back.", ["U"], inArchive, .destructive),
    ]

    private static let handing: [BrowserAction] = [
        action(
            .copy, "Copy", "Copy key, value, JSON, command or path.", ["y"],
            [.archives, .entries, .value, .query, .messages]),
        action(.pager, "Open in a pager", "Read the value in $PAGER.", ["o"], withValue),
        action(.pipe, "Pipe", "Give the value to a command.", ["|"], withValue),
        action(.write, "Write", "Write the value to a file.", ["w"], [.entries, .value]),
        action(
            .editValue, "Edit value", "Edit it in $EDITOR, then see a plan.", ["e"], withValue,
            .destructive),
        action(.newEntry, "New entry", "Name a key and write its value.", ["n"], [.entries], .destructive),
    ]

    private static let general: [BrowserAction] = [
        action(.pause, "Pause", "Stop the screen, or let it go on.", [" "], opening, .footer),
        action(.follow, "Follow", "Keep to the newest row.", ["F"], [.entries, .messages, .monitor]),
        action(.refresh, "Refresh", "Read the store again now.", ["R"], all),
        action(.clear, "Clear", "Leave filter, search or marks; go back.", [Key(.escape)], all),
        action(.commandLine, "Command", "Show the command line for the same.", ["c"], all),
        action(.palette, "Actions", "Choose an action by its name.", [":"], all),
        action(
            .help, "Help", "List keys; type to search, Enter runs.",
            ["?", Key(.function(1))], all, .footer),
        action(.hints, "Hints", "Hide the line of hints, or show it.", ["H"], all),
        action(
            .mouse, "Mouse", "Give the mouse to the terminal, or not.", [.control("t"), Key(.function(2))],
            all),
        action(.quit, "Quit", "Leave the browser.", ["q", .control("c")], all, .footer),
    ]

    private static let moving: [BrowserAction] = [
        action(.up, "Up", "One row up.", [Key(.up), "k"], all),
        action(.down, "Down", "One row down.", [Key(.down), "j"], all),
        action(.pageUp, "Page up", "One page up.", [Key(.pageUp), .control("b")], all),
        action(.pageDown, "Page down", "One page down.", [Key(.pageDown), .control("f")], all),
        action(.halfPageUp, "Half a page up", "Half a page up.", [.control("u")], all),
        action(.halfPageDown, "Half a page down", "Half a page down.", [.control("d")], all),
        action(.first, "First", "To the first row.", [Key(.home), "g"], all),
        action(.last, "Last", "To the last row.", [Key(.end), "G"], all),
    ]

    private static func action(
        _ id: ActionID, _ title: String, _ help: String, _ keys: [Key], _ screens: Set<Screen>,
        _ flags: ActionFlags = []
    ) -> BrowserAction {
        Action(id, title: title, help: help, keys: keys, contexts: screens, flags: flags)
    }
}
