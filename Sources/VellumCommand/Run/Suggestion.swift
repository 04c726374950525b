import ArchiveQuery

enum Suggestion {
    /// A suggestion of an archive with a similar name, for the error that an archive doesn't exist.
    static func archive(for error: StorageError) -> String? {
        guard case .noSuchArchive(let name, let path) = error,
            let store = try? Store.open(
                at: path, mode: .readOnly, createIfMissing: false, options: .forReading),
            let names = try? store.archiveNames()
        else { return nil }
        return advice(for: name, among: names)
    }

    private static func advice(for word: String, among names: [String]) -> String? {
        nearest(to: word, among: names).map { "; did you mean \(TerminalSafe.quoted($0))?" }
    }

    /// The message that a store doesn't exist. Names the missing path, and in the caches folder a store of a similar name or, if
    /// none is similar, the first few stores.
    static func absence(ofStore path: String) -> String {
        let folder = CachesFolder.path()
        let stores = (try? StoresFolder.stores(in: folder)) ?? []
        let names = stores.map(StorePath.name)
        var text = StorageError.storeNotFound(path: StorePath.absolute(path)).finding
        if let near = nearest(to: StorePath.name(path), among: names),
            let store = stores.first(where: { StorePath.name($0) == near })
        {
            text += "; did you mean --store \(ShellWord.quoted(store))?"
        } else if stores.isEmpty {
            text += "; vellum put creates one"
        } else {
            text += "; \(folder) has \(names.prefix(mostStores).joined(separator: ", "))"
            if names.count > mostStores { text += " and \(names.count - mostStores) more" }
        }
        return text
    }

    private static let mostStores = 5

    /// A suggestion of a similar key, for the message that a key has no entry. Searches keys with the same beginning.
    static func key(for key: String, in archive: Archive) -> String {
        let beginning = String(
            key.unicodeScalars.prefix(max(1, key.unicodeScalars.count / 2)).map(Character.init))
        let page = try? archive.keys(KeyQuery(prefix: beginning, limit: mostKeys))
        return advice(for: key, among: page?.keys ?? []) ?? ""
    }

    private static let mostKeys = 2_000

    /// The name with the smallest edit distance, if that is small enough.
    static func nearest(to word: String, among names: [String]) -> String? {
        let word = Array(word.lowercased().unicodeScalars.prefix(longest))
        let most = max(1, word.count / 3)
        let near = names.map {
            (
                name: $0,
                distance: NameGuess.distance(word, Array($0.lowercased().unicodeScalars.prefix(longest)))
            )
        }
        .filter { $0.distance <= most && ($0.distance < word.count) }
        return near.min { $0.distance < $1.distance }?.name
    }

    private static let longest = 80
}
