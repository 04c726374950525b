import StoreInspection
import TerminalKit

package enum Screen: String, Sendable, Hashable, CaseIterable {
    case stores, archives, entries, groups, value, query, messages, monitor, advise

    /// The name in messages.
    var title: String { self == .monitor ? "events, processes, graphs" : rawValue }
}

package enum ActionID: String, Sendable, Hashable, CaseIterable {
    case open, back, quit
    case up, down, pageUp = "page-up", pageDown = "page-down", first, last
    case halfPageUp = "half-page-up", halfPageDown = "half-page-down"
    case filter, condition, find, findNext = "find-next", findPrevious = "find-previous", search, clear
    case nextVictim = "next-victim"
    case sort, reverse
    case sortByKey = "sort-by-key", sortBySize = "sort-by-size", sortByTier = "sort-by-tier"
    case sortByIdle = "sort-by-idle", sortByAge = "sort-by-age", sortByExpires = "sort-by-expires"
    case sortByHits = "sort-by-hits", sortByOwner = "sort-by-owner", sortByQueue = "sort-by-queue"
    case sortByProperty = "sort-by-property"
    case mark, markAll = "mark-all", unmarkAll = "unmark-all", delete
    case expire, undo, undoList = "undo-list", deleteAll = "delete-all"
    case events, monitor, processes, monitorPart = "monitor-part", graphs, span, alarm, entry, earlier, later
    case eventKind = "event-kind", nextEventKind = "next-event-kind", eventArchive = "event-archive", history
    case pause, follow, refresh, preview
    case fold, unfoldAll = "unfold-all", foldAll = "fold-all", mode
    case groups, groupBy = "group-by", list, frequency
    case query, saveQuery = "save-query", savedQueries = "saved-queries", edit, explain, copySwift =
        "copy-swift", export, askEvery = "ask-every"
    case wrap, columns, columnsLeft = "columns-left", columnsRight = "columns-right"
    case commandLine = "command-line", palette, help, hints, mouse, demo
    case resizeArchive = "resize-archive", compactArchive = "compact-archive"
    case renameArchive = "rename-archive", dropArchive = "drop-archive"
    case advise, smallerLimit = "smaller-limit", largerLimit = "larger-limit"
    case resizeToMarked = "resize-to-marked"
    case openStore = "open-store", favorite = "favourite"
    case closeStore = "close-store", nextStore = "next-store", previousStore = "previous-store"
    case store1 = "store-1", store2 = "store-2", store3 = "store-3", store4 = "store-4", store5 = "store-5"
    case store6 = "store-6", store7 = "store-7", store8 = "store-8", store9 = "store-9"
    case copy, pager, pipe, write, editValue = "edit-value", newEntry = "new-entry"
    case addElement = "add-element"

    static let stores: [ActionID] = [
        .store1, .store2, .store3, .store4, .store5, .store6, .store7, .store8, .store9,
    ]

    /// Whether the title begins with a verb.
    var isVerb: Bool {
        [
            .open, .fold, .foldAll, .unfoldAll, .filter, .sort, .mark, .markAll, .delete, .expire, .editValue,
            .addElement, .follow, .closeStore, .resizeArchive, .resizeToMarked, .renameArchive,
            .compactArchive, .dropArchive,
        ].contains(self)
    }

    var isMove: Bool {
        [.up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .first, .last].contains(self)
    }

    var isAboutRows: Bool {
        [.open, .mark, .delete, .expire, .copy, .pager, .pipe, .write, .editValue, .history].contains(self)
    }

    var leadsToText: Bool {
        [
            .filter, .condition, .find, .search, .query, .edit, .saveQuery, .export, .pipe, .write, .newEntry,
            .addElement, .alarm, .openStore,
        ].contains(self)
    }

    private static let sortColumns: [ActionID: EntryColumn] = [
        .sortByKey: .key, .sortBySize: .size, .sortByTier: .tier, .sortByIdle: .idle, .sortByAge: .age,
        .sortByExpires: .expires, .sortByHits: .hits, .sortByOwner: .owner, .sortByQueue: .queue,
    ]

    var column: EntryColumn? { ActionID.sortColumns[self] }
}

package typealias BrowserAction = Action<ActionID, Screen>
package typealias BrowserKeyMap = KeyMap<ActionID, Screen>

/// The table of all actions. Footer, help, palette and the key list of the man page are generated from it.
package enum ActionTable {
    private static let all = Set(Screen.allCases)
    private static let ofStore = all.subtracting([.stores])
    private static let live: Set<Screen> = [.stores, .archives, .entries, .messages, .monitor]
    private static let opening: Set<Screen> = live.union([.query, .groups])
    private static let withValue: Set<Screen> = [.entries, .value, .query]
    private static let inArchive: Set<Screen> = [.archives, .entries, .groups, .value, .query, .advise]
    private static let ofEntries: Set<Screen> = [.entries, .query]
    private static let sortable: Set<Screen> = ofEntries.union([.archives, .groups])

    /// The default key map; for a read-only store without the actions that change it.
    package static func keyMap(readOnly: Bool = false) -> BrowserKeyMap {
        let map = KeyMap(topics.flatMap(\.actions))
        return readOnly ? map.without(.destructive) : map
    }

    /// All actions by task, as the help groups them.
    static let topics: [(title: String, actions: [BrowserAction])] = [
        ("Open and view", looking), ("Query and group", asking), ("Stores", choosingStores),
        ("Sort and columns", arranging), ("Mark, delete, expire, undo", acting),
        ("Copy, edit, write", copying),
        ("Events and graphs", watching), ("Browser", general), ("Move the cursor", moving),
    ]

    private static let looking: [BrowserAction] = [
        action(.open, "Open", "Open the selected row.", [Key(.enter), "l", Key(.right)], opening, .footer),
        action(
            .fold, "Fold", "Fold or unfold; open a text in full.",
            [Key(.enter), "l", Key(.right), " "], [.value], .footer),
        action(
            .back, "Back", "Go back one screen.", ["h", Key(.left), Key(.backspace)],
            all.subtracting([.stores, .advise])),
        action(
            .filter, "Filter", "Show only rows that contain a text.", ["/"],
            opening, .footer),
        action(.condition, "Where", "Filter entries by a condition.", ["W"], [.entries]),
        action(.find, "Find", "Find text or bytes in the whole value.", ["/"], [.value], .footer),
        action(.search, "Find", "Find a pattern upwards; ! inverts it.", ["f"], [.messages], .footer),
        action(
            .findNext, "Next match", "Go to the next match; upwards in a log.", ["n"], [.value, .messages]),
        action(.findPrevious, "Previous match", "Go to the previous match.", ["N"], [.value, .messages]),
        action(.nextVictim, "Next victim", "Go to the next entry to be evicted.", ["V"], [.entries]),
        action(
            .mode, "View as", "Switch between tree, text and bytes.", ["t", Key(.tab)], [.value], .footer),
        action(.unfoldAll, "Unfold all", "Unfold the whole value.", ["+"], [.value]),
        action(.foldAll, "Fold all", "Fold the whole value.", ["-"], [.value]),
        action(.preview, "Value pane", "Show or hide the value pane.", ["p"], [.entries]),
    ]

    private static let asking: [BrowserAction] = [
        action(.groups, "Groups", "Sizes by prefix, owner or property.", ["z"], [.archives, .entries]),
        action(
            .advise, "Advise", "Simulate other limits and policies.", ["a"], [.archives, .entries], .footer),
        action(
            .smallerLimit, "Smaller", "Mark the next smaller limit.", [Key(.left), "h", "<"], [.advise],
            .footer),
        action(
            .largerLimit, "Larger", "Mark the next larger limit.", [Key(.right), "l", ">"], [.advise], .footer
        ),
        action(.groupBy, "Group by", "Choose a separator, owner or kind.", ["t"], [.groups], .footer),
        action(
            .frequency, "Count by", "Count the values of a column.", ["f"],
            [.entries, .groups, .query], .footer),
        action(.list, "Entries", "List the entries of the group.", ["v"], [.groups], .footer),
        action(.query, "Query", "Query entries by value.", ["Q"], ofStore, .footer),
        action(.edit, "Edit query", "Edit the query.", ["i", Key(.tab)], [.query], .footer),
        action(.explain, "Explain", "Show the query plan and timing.", ["X"], [.query], .footer),
        action(.saveQuery, "Save query", "Save the query under a name.", [.control("s")], [.query]),
        action(.savedQueries, "Saved queries", "Open a saved query.", [.control("o")], [.query]),
        action(.copySwift, "As Swift", "Show the query as Swift source.", ["S"], [.query]),
        action(
            .export, "Export", "Write the rows to a file.", ["w"], [.groups, .query, .messages, .monitor],
            .footer),
        action(.askEvery, "Auto-refresh", "Refresh every 1, 5 or 30 s, or never.", ["a"], [.query], .footer),
    ]

    private static let watching: [BrowserAction] = [
        action(.events, "Event pane", "Show or hide the latest events.", ["t"], [.archives, .entries]),
        action(.monitor, "Events", "Show all events, with filters.", ["E"], all, .footer),
        action(.processes, "Processes", "Show the processes that use the store.", ["P"], all),
        action(.graphs, "Graphs", "Show graphs over minutes to hours.", ["T"], all),
        action(.span, "Span", "Change the span, or sort the table.", ["s"], [.monitor], .footer),
        action(
            .earlier, "Earlier", "Go to the previous column; also left.",
            ["<", Key(.left, modifiers: .shift)], [.monitor], .footer),
        action(
            .later, "Later", "Go to the next column; also right.",
            [">", Key(.right, modifiers: .shift)], [.monitor]),
        action(.alarm, "Alarm", "Set an alarm threshold.", ["A"], ofStore, .footer),
        action(.entry, "Entry", "Open the entry of the event.", ["v"], [.monitor], .footer),
        action(.monitorPart, "Next view", "Switch events, processes, graphs.", [Key(.tab)], [.monitor]),
        action(.eventKind, "Kind", "Filter by kind, or hide vellum's rows.", ["t"], [.monitor], .footer),
        action(.nextEventKind, "Next kind", "Filter by the next kind of event.", ["K"], [.monitor]),
        action(.eventArchive, "Archive", "Filter by the next archive.", ["a"], [.monitor], .footer),
        action(
            .history, "Key history", "Show the events of the key.", ["b"], [.entries, .value, .monitor],
            .footer),
    ]

    private static let arranging: [BrowserAction] = [
        action(.sort, "Sort", "Sort by the next column.", ["s"], sortable, .footer),
        action(.reverse, "Reverse", "Reverse the order.", ["r"], sortable.union([.monitor])),
        action(.columns, "Columns", "Choose and order the columns.", ["C"], ofEntries),
        action(
            .columnsLeft, "Columns left", "Scroll columns or messages left.",
            ["<", Key(.left, modifiers: .shift)], ofEntries.union([.messages])),
        action(
            .columnsRight, "Columns right", "Scroll columns or messages right.",
            [">", Key(.right, modifiers: .shift)], ofEntries.union([.messages])),
        action(.wrap, "Wrap", "Wrap long messages, or cut them.", [.control("w")], [.messages], .footer),
        action(.sortByKey, "Sort by key", "Sort by key.", ["1"], [.entries]),
        action(.sortBySize, "Sort by size", "Sort by the size of the value.", ["2"], [.entries]),
        action(.sortByTier, "Sort by tier", "Sort by tier: disk or memory.", ["3"], [.entries]),
        action(.sortByIdle, "Sort by idle time", "Most recently used first.", ["4"], [.entries]),
        action(.sortByAge, "Sort by age", "Sort by the time of creation.", ["5"], [.entries]),
        action(.sortByExpires, "Sort by expiry", "Sort by expiry time.", ["6"], [.entries]),
        action(.sortByHits, "Sort by hits", "Sort by the number of hits.", ["7"], [.entries]),
        action(.sortByOwner, "Sort by owner", "Sort by owner.", ["8"], [.entries]),
        action(.sortByQueue, "Sort by queue", "The next entry that S3-FIFO evicts first.", ["0"], [.entries]),
        action(.sortByProperty, "Sort by property", "Sort by the next chosen property.", ["9"], [.entries]),
    ]

    private static let choosingStores: [BrowserAction] =
        [
            action(.demo, "Demo", "Open a demo store under load.", ["d"], [.stores], .footer),
            action(.openStore, "Open store", "Open another store or server.", ["O"], all),
            action(
                .favorite, "Favorite", "Add to or remove from the favorites.", ["f"], [.stores], .footer),
            action(.closeStore, "Close", "Close an open store.", ["X"], [.stores]),
            action(.nextStore, "Next store", "Show the next open store.", ["]"], all),
            action(.previousStore, "Previous store", "Show the previous open store.", ["["], all),
        ]
        + ActionID.stores.enumerated().map { place, id in
            action(
                id, "Store \(place + 1)",
                place == 0 ? "Show the open store with that number." : "Show open store \(place + 1).",
                [.character(Character(String(place + 1)))], [.stores, .archives])
        }

    private static let acting: [BrowserAction] = [
        action(.mark, "Mark", "Mark or unmark the entry.", ["m", Key(.insert)], ofEntries, .footer),
        action(.markAll, "Mark all", "Mark all entries of the list or result.", ["M", "*"], ofEntries),
        action(.unmarkAll, "Unmark all", "Remove all marks.", ["-"], ofEntries),
        action(
            .delete, "Delete", "Delete the marked or selected entries.", ["D", Key(.delete)],
            [.entries, .groups, .value, .query], [.destructive, .footer]),
        action(
            .expire, "Expire", "Expire entries later, now or never.", ["x"],
            [.entries, .groups, .value, .query], [.destructive, .footer]),
        action(
            .deleteAll, "Delete all", "Delete all messages; no undo.", [.control("x")], [.messages],
            .destructive),
        action(
            .resizeArchive, "Resize archive", "Change limits and eviction policy.", ["L"], [.archives],
            [.destructive, .footer]),
        action(
            .resizeToMarked, "Resize", "Resize the archive to the marked limit.", [Key(.enter), "L"],
            [.advise],
            [.destructive, .footer]),
        action(
            .compactArchive, "Compact archive", "Release unused disk space.", ["K"], [.archives],
            [.destructive, .footer]),
        action(
            .renameArchive, "Rename archive", "Rename the archive.", ["N"], [.archives],
            [.destructive, .footer]),
        action(
            .dropArchive, "Drop archive", "Delete the archive and its entries.", ["D", Key(.delete)],
            [.archives], [.destructive, .footer]),
        action(.undo, "Undo", "Undo the last delete, expiry or resize.", ["u"], inArchive, .destructive),
        action(.undoList, "Undo list", "Choose the change to undo.", ["U"], inArchive, .destructive),
    ]

    private static let copying: [BrowserAction] = [
        action(
            .copy, "Copy", "Copy parts of the row or marked rows.", ["y"],
            [.archives, .entries, .value, .query, .messages, .monitor]),
        action(.pager, "Open in a pager", "Open the value in $PAGER.", ["o"], withValue.union([.messages])),
        action(.pipe, "Pipe", "Pipe the value to a command.", ["|"], withValue.union([.messages])),
        action(
            .write, "Write", "Write the value, or the shown or marked entries.", ["w"], [.entries, .value]),
        action(.editValue, "Edit value", "Edit the value in $EDITOR.", ["e"], withValue, .destructive),
        action(.newEntry, "New entry", "Add an entry with $EDITOR.", ["n"], [.entries], .destructive),
        action(.addElement, "Add element", "Add a field, element or member.", ["I"], [.value], .destructive),
    ]

    private static let general: [BrowserAction] = [
        action(.pause, "Pause", "Pause or resume the screen.", [" "], opening.union([.advise]), .footer),
        action(.follow, "Follow", "Follow the newest row.", ["F"], [.entries, .messages, .monitor]),
        action(.refresh, "Refresh", "Read the store again.", ["R"], all),
        action(.clear, "Clear", "Clear filter, search, marks; go back.", [Key(.escape)], all),
        action(.commandLine, "Command", "Show the equivalent shell command.", ["c"], all),
        action(.palette, "Actions", "Search the actions by name.", [":", .control("p")], all),
        action(.help, "Help", "Search all keys; enter runs one.", ["?", Key(.function(1))], all, .footer),
        action(.hints, "Hints", "Show or hide the hint line.", ["H"], all),
        action(.mouse, "Mouse", "Turn mouse capture on or off.", [.control("t"), Key(.function(2))], all),
        action(
            .quit, "Quit", "Go back, or quit; ctrl+c always quits.", ["q", .control("c")], all,
            .footer),
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

    /// Words of other tools by which the palette finds an action.
    private static let keywords: [ActionID: String] = [
        .advise: "curve evict hit limit maxmemory miss policy size tune",
        .resizeToMarked: "limit maxmemory quota",
        .open: "describe enter get select view", .back: "return", .quit: "close exit leave",
        .filter: "grep search", .condition: "grep search", .find: "grep search", .search: "grep search",
        .nextVictim: "evict lru", .mode: "hex raw", .preview: "peek", .groups: "du prefix usage",
        .frequency: "facet histogram top", .query: "select sql", .export: "dump save", .askEvery: "watch",
        .monitor: "log tail watch", .processes: "clients ps", .graphs: "chart evict stats",
        .alarm: "alert threshold", .span: "sort",
        .history: "audit describe evicted log missing why", .sortByIdle: "lru", .sortByQueue: "evict",
        .sortByExpires: "ttl",
        .columns: "fields",
        .wrap: "fold long lines",
        .openStore: "connect context ctx path redis switch url valkey",
        .mark: "select", .markAll: "select", .delete: "evict flush kill purge remove rm truncate",
        .expire: "evict persist touch ttl", .deleteAll: "flush purge truncate", .undo: "restore revert",
        .undoList: "restore revert", .resizeArchive: "evict limit maxmemory quota",
        .compactArchive: "defrag gc shrink vacuum", .renameArchive: "move mv",
        .dropArchive: "delete flush kill purge remove truncate", .copy: "clipboard yank",
        .pager: "cat less", .pipe: "shell", .write: "dump export save", .editValue: "change set",
        .newEntry: "add create insert put set", .addElement: "hset insert new push sadd zadd",
        .pause: "freeze stop", .follow: "tail",
        .refresh: "reload", .clear: "cancel escape", .commandLine: "cli shell", .palette: "command",
    ]

    private static func action(
        _ id: ActionID, _ title: String, _ help: String, _ keys: [Key], _ screens: Set<Screen>,
        _ flags: ActionFlags = []
    ) -> BrowserAction {
        Action(
            id, title: title, help: help, keys: keys, contexts: screens, flags: flags,
            keywords: keywords[id] ?? "")
    }
}
