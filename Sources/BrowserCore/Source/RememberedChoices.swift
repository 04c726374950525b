import ArchiveQuery
import StorageEngine

/// A query that got a name. A value; safe to share between threads.
package struct SavedQuery: Sendable, Hashable, Codable {
    package var name: String
    /// The archive's name alone, as in ``PastQuery``.
    package var archive: String
    package var text: String

    /// Where the person's settings say it: it is for all archives, and stays.
    package var setting: String?

    /// Queries that are kept.
    package static let most = 500

    package init(name: String, archive: String, text: String) {
        (self.name, self.archive, self.text) = (name, archive, text)
    }

    /// One of the person's settings; `place` is the file and the line.
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
    /// Names are the same if their bytes are.
    func isNamed(_ name: String, of archive: String) -> Bool {
        ExactText(self.name) == ExactText(name) && ExactText(self.archive) == ExactText(archive)
    }
}

extension [SavedQuery] {
    /// Takes away what has the name, in that archive.
    package mutating func remove(_ name: String, of archive: String) {
        removeAll { $0.isNamed(name, of: archive) }
    }

    /// Adds one; it takes the place of one that has its name.
    package mutating func save(_ query: SavedQuery) {
        remove(query.name, of: query.archive)
        append(query)
    }
}

/// The columns that a person chose for an archive's entries. A value; safe to share between threads.
package struct ChosenColumns: Sendable, Hashable, Codable {
    /// The archive's name alone: what is wanted of one store is of use in another that has the same archive.
    package var archive: String
    /// Properties as queries spell them, in their order.
    private var columns: [String]
    /// Names of the other columns that nobody wants to see.
    package var hidden: [String]

    /// Archives of which it is kept.
    package static let most = 200
    /// Properties that can be chosen.
    package static let mostProperties = 32
    /// Names of the other columns, all but the key.
    package static let hideable = EntriesView.hideable

    package init(archive: String, properties: [QueryProperty], hidden: Set<String>) {
        self.archive = archive
        columns = properties.map(\.description)
        self.hidden = hidden.sorted()
    }

    /// Those that can be read as properties.
    package var properties: [QueryProperty] {
        columns.prefix(ChosenColumns.mostProperties).compactMap { try? QueryProperty($0) }
    }
}

/// What a person's settings say of queries and columns; what was chosen since wins. A value; safe to share between threads.
package struct SettledChoices: Sendable {
    package var queries: [SavedQuery] = []
    package var columns: [ChosenColumns] = []

    package init() {}
}

extension [ChosenColumns] {
    func of(_ archive: String) -> ChosenColumns? {
        last { ExactText($0.archive) == ExactText(archive) }
    }

    package mutating func remember(_ chosen: ChosenColumns) {
        removeAll { ExactText($0.archive) == ExactText(chosen.archive) }
        append(chosen)
    }
}

/// A store that was opened, or that is to stand first. A value; safe to share between threads.
package struct RememberedStore: Sendable, Hashable, Codable {
    package var path: String
    package var isFavourite: Bool
    /// Seconds since 1970; 0: never.
    private var seconds: Double

    /// Stores that are kept.
    package static let most = 200
    /// Stores in other folders that are listed because they were opened.
    package static let mostRecent = 10

    package init(path: String, isFavourite: Bool = false, opened: Timestamp? = nil) {
        (self.path, self.isFavourite) = (path, isFavourite)
        seconds = opened.map { Double($0.microseconds) / 1e6 } ?? 0
    }

    package var opened: Timestamp? { seconds > 0 ? Timestamp(seconds: min(seconds, 1e11)) : nil }

    private enum CodingKeys: String, CodingKey {
        case path
        case isFavourite = "favourite"
        case seconds = "opened"
    }
}

extension [RememberedStore] {
    /// Favourites stay however many others there are: those that were opened longest ago go first.
    private mutating func put(_ store: RememberedStore) {
        removeAll { ExactText($0.path) == ExactText(store.path) }
        append(store)
        let others = filter { !$0.isFavourite }
        self = others + filter(\.isFavourite)
    }

    private func known(_ path: String) -> RememberedStore {
        last { ExactText($0.path) == ExactText(path) } ?? RememberedStore(path: path)
    }

    package mutating func noteOpened(_ path: String, at moment: Timestamp) {
        put(RememberedStore(path: path, isFavourite: known(path).isFavourite, opened: moment))
    }

    package mutating func setFavourite(_ isFavourite: Bool, _ path: String) {
        put(RememberedStore(path: path, isFavourite: isFavourite, opened: known(path).opened))
    }
}
