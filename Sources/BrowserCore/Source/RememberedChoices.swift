import ArchiveQuery
import Foundation
import StorageEngine
import StoreInspection

package struct SavedQuery: Sendable, Hashable, Codable {
    package var name: String
    /// The archive's name without its store.
    package var archive: String
    package var text: String

    /// The place in the settings; such a query is for all archives and can't be deleted here.
    package var setting: String?

    package static let maximum = 500

    package init(name: String, archive: String, text: String) {
        (self.name, self.archive, self.text) = (name, archive, text)
    }

    /// A query of the settings; `place` is file and line.
    package init(name: String, text: String, setting place: String) {
        self.init(name: name, archive: "", text: text)
        setting = place
    }

    private enum CodingKeys: String, CodingKey {
        case name, archive
        case text = "query"
    }
}

extension SavedQuery {
    func isNamed(_ name: String, of archive: String) -> Bool {
        ExactText(self.name) == ExactText(name) && ExactText(self.archive) == ExactText(archive)
    }
}

extension [SavedQuery] {
    package mutating func remove(_ name: String, of archive: String) {
        removeAll { $0.isNamed(name, of: archive) }
    }

    /// Adds a query, replacing one of its name.
    package mutating func save(_ query: SavedQuery) {
        remove(query.name, of: query.archive)
        append(query)
    }
}

package struct ChosenColumns: Sendable, Hashable, Codable {
    /// The archive's name without its store.
    package var archive: String
    /// The path or address of the store; nil: archives of that name in all stores.
    package var store: String?
    /// Properties as spelled in queries, in order.
    private var columns: [String]
    package var hidden: [String]

    package static let maximum = 200
    package static let maximumProperties = 32
    /// Names of the columns that can be hidden: all but the key.
    package static let hideable = EntryColumn.allCases.dropFirst().map(\.title)

    package init(archive: String, in store: String? = nil, properties: [QueryProperty], hidden: Set<String>) {
        (self.archive, self.store) = (archive, store)
        columns = properties.map(\.description)
        self.hidden = hidden.sorted()
    }

    fileprivate var names: [ExactText?] { [archive, store].map { $0.map(ExactText.init) } }

    package var properties: [QueryProperty] {
        columns.prefix(ChosenColumns.maximumProperties).compactMap { try? QueryProperty($0) }
    }
}

/// Queries and columns of the settings; later choices take precedence.
package struct SettledChoices: Sendable {
    package var queries: [SavedQuery] = []
    package var columns: [ChosenColumns] = []

    package init() {}
}

extension [ChosenColumns] {
    /// The columns chosen for an archive, else for archives of its name in all stores.
    func of(_ archive: ArchiveAddress) -> ChosenColumns? {
        func chosen(in store: String?) -> ChosenColumns? {
            last { $0.names == [archive.name, store].map { $0.map(ExactText.init) } }
        }
        return chosen(in: archive.store) ?? chosen(in: nil)
    }

    package mutating func remember(_ chosen: ChosenColumns) {
        removeAll { $0.names == chosen.names }
        append(chosen)
    }
}

/// A store that was opened or is a favorite.
package struct RememberedStore: Sendable, Hashable, Codable {
    package var path: String
    package var isFavorite: Bool
    /// Seconds since 1970; 0: never.
    private var seconds: Double

    package static let maximum = 200
    /// Maximum listed stores in other folders.
    package static let maximumRecent = 10

    package init(path: String, isFavorite: Bool = false, opened: Timestamp? = nil) {
        (self.path, self.isFavorite) = (path, isFavorite)
        seconds = opened.map { Double($0.microseconds) / 1e6 } ?? 0
    }

    package var opened: Timestamp? { seconds > 0 ? Timestamp(seconds: min(seconds, 1e11)) : nil }

    private enum CodingKeys: String, CodingKey {
        case path
        case isFavorite = "favourite"
        case seconds = "opened"
    }
}

extension [RememberedStore] {
    /// Drops the stores opened longest ago, but no favorites.
    private mutating func put(_ store: RememberedStore) {
        removeAll { ExactText($0.path) == ExactText(store.path) }
        append(store)
        let others = filter { !$0.isFavorite }
        self = others + filter(\.isFavorite)
    }

    private func known(_ path: String) -> RememberedStore {
        last { ExactText($0.path) == ExactText(path) } ?? RememberedStore(path: path)
    }

    package mutating func noteOpened(_ path: String, at moment: Timestamp) {
        put(RememberedStore(path: path, isFavorite: known(path).isFavorite, opened: moment))
    }

    package mutating func setFavorite(_ isFavorite: Bool, _ path: String) {
        put(RememberedStore(path: path, isFavorite: isFavorite, opened: known(path).opened))
    }
}

package struct PastQuery: Sendable, Hashable, Codable {
    /// The archive's name without its store: archives of the same name share the history.
    package var archive: String
    package var text: String
    /// `12 rows  read …`, or the problem.
    package var outcome: String
    private var microseconds: Int64

    package var time: Timestamp { Timestamp(microseconds: microseconds) }

    package static let maximum = 200

    package init(archive: String, text: String, outcome: String, time: Timestamp) {
        self.archive = archive
        self.text = text
        self.outcome = outcome
        microseconds = time.microseconds
    }

    private enum CodingKeys: String, CodingKey {
        case archive
        case text = "query"
        case outcome
        case microseconds = "time"
    }
}

extension [PastQuery] {
    /// Adds a query at the end, or moves it there.
    package mutating func remember(_ past: PastQuery) {
        removeAll { $0.text == past.text && $0.archive == past.archive }
        append(past)
        removeFirst(Swift.max(0, count - PastQuery.maximum))
    }
}

extension StateFolder {
    package var queries: StateRecords<PastQuery> { file("queries", most: PastQuery.maximum) }
    package var savedQueries: StateRecords<SavedQuery> {
        StateRecords(path: path + "/saved-queries", most: SavedQuery.maximum, dropsOldest: false)
    }
    package var columns: StateRecords<ChosenColumns> { file("columns", most: ChosenColumns.maximum) }

    package var stores: StateRecords<RememberedStore> { file("stores", most: RememberedStore.maximum) }

    package var hints: StateFile { StateFile(path: path + "/hints") }

    private func file<Record>(_ name: String, most: Int) -> StateRecords<Record> {
        StateRecords(path: path + "/" + name, most: most)
    }
}
