import StoreInspection
import TerminalKit

package enum Screen: String, Sendable, Hashable, CaseIterable {
    case stores, archives, entries, groups, value, query, messages, monitor
}

/// Actions by their names in key assignments and documents.
package enum ActionID: String, Sendable, Hashable, CaseIterable {
    case open, back, quit
    case up, down, pageUp = "page-up", pageDown = "page-down", first, last
    case halfPageUp = "half-page-up", halfPageDown = "half-page-down"
    case filter, condition, find, findNext = "find-next", findPrevious = "find-previous", search, clear
    case nextVictim = "next-victim"
    case sort, reverse
    case sortByKey = "sort-by-key", sortBySize = "sort-by-size", sortByTier = "sort-by-tier"
    case sortByIdle = "sort-by-idle", sortByAge = "sort-by-age", sortByExpires = "sort-by-expires"
    case sortByHits = "sort-by-hits", sortByOwner = "sort-by-owner"
    case sortByProperty = "sort-by-property"
    case mark, markAll = "mark-all", unmarkAll = "unmark-all", delete
    case expire, undo, undoList = "undo-list", deleteAll = "delete-all"
    case events, monitor, processes, monitorPart = "monitor-part", graphs, span, alarm, entry, earlier, later
    case eventKind = "event-kind", eventArchive = "event-archive", history
    case pause, follow, refresh, preview
    case fold, unfoldAll = "unfold-all", foldAll = "fold-all", mode
    case groups, groupBy = "group-by", list, frequency
    case query, saveQuery = "save-query", savedQueries = "saved-queries", edit, explain, copySwift =
        "copy-swift", export, askEvery = "ask-every"
    case columns, columnsLeft = "columns-left", columnsRight = "columns-right"
    case commandLine = "command-line", palette, help, hints, mouse, demo
    case resizeArchive = "resize-archive", compactArchive = "compact-archive"
    case renameArchive = "rename-archive", dropArchive = "drop-archive"
    case favourite, closeStore = "close-store", nextStore = "next-store", previousStore = "previous-store"
    case store1 = "store-1", store2 = "store-2", store3 = "store-3", store4 = "store-4", store5 = "store-5"
    case store6 = "store-6", store7 = "store-7", store8 = "store-8", store9 = "store-9"
    case copy, pager, pipe, write, editValue = "edit-value", newEntry = "new-entry"

    static let stores: [ActionID] = [
        .store1, .store2, .store3, .store4, .store5, .store6, .store7, .store8, .store9,
    ]

    /// Whether the title begins with a verb.
    var isVerb: Bool {
        [
            .open, .fold, .foldAll, .unfoldAll, .filter, .sort, .mark, .markAll, .delete, .expire, .editValue,
            .follow, .closeStore, .resizeArchive, .renameArchive, .compactArchive, .dropArchive,
        ].contains(self)
    }

    var isMove: Bool {
        [.up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .first, .last].contains(self)
    }

    /// Whether it acts on the selected row or the marked rows.
    var isAboutRows: Bool {
        [.open, .mark, .delete, .expire, .copy, .pager, .pipe, .write, .editValue, .history].contains(self)
    }

    /// Whether it usually opens a text field.
    var leadsToText: Bool {
        [
            .filter, .condition, .find, .search, .query, .edit, .saveQuery, .export, .pipe, .write, .newEntry,
            .alarm,
        ].contains(self)
    }

    private static let sortColumns: [ActionID: EntryColumn] = [
        .sortByKey: .key, .sortBySize: .size, .sortByTier: .tier, .sortByIdle: .idle, .sortByAge: .age,
        .sortByExpires: .expires, .sortByHits: .hits, .sortByOwner: .owner,
    ]

    var column: EntryColumn? { ActionID.sortColumns[self] }
}

package typealias BrowserAction = Action<ActionID, Screen>
package typealias BrowserKeyMap = KeyMap<ActionID, Screen>
