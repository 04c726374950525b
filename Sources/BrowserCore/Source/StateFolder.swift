import Foundation
import StoreInspection

package struct StateFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// In `$XDG_STATE_HOME` or `~/.local/state`; nil without a home folder.
    package static func standard(environment: [String: String]) -> StateFolder? {
        StateFile.folder("XDG_STATE_HOME", or: ".local/state", environment: environment)
            .map { StateFolder(path: $0) }
    }

    package var queries: StateRecords<PastQuery> { file("queries", most: PastQuery.most) }
    package var savedQueries: StateRecords<SavedQuery> {
        StateRecords(path: path + "/saved-queries", most: SavedQuery.most, forgets: false)
    }
    package var columns: StateRecords<ChosenColumns> { file("columns", most: ChosenColumns.most) }

    package var stores: StateRecords<RememberedStore> { file("stores", most: RememberedStore.most) }

    package var hints: StateFile { StateFile(path: path + "/hints") }

    private func file<Record>(_ name: String, most: Int) -> StateRecords<Record> {
        StateRecords(path: path + "/" + name, most: most)
    }
}
