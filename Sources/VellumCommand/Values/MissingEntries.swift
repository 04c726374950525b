import StorageEngine
import StoreInspection

extension EntryList {
    /// Whether the entry at `index`, whose metadata or value came back as nil, is lost to damage: the archive still has
    /// it, in the same place. Otherwise it has been removed, replaced or moved since the list was made.
    func isMissing(at index: Int) throws(StorageError) -> Bool {
        guard isCurrent(at: index) else { return false }
        return try metadata(at: index) == nil
    }
}

extension Narration {
    /// Says how many entries of an archive could not be read, if any.
    static func complainOfMissing(_ count: Int) {
        guard count > 0 else { return }
        complain(
            "\(Figures.count(count, "entry", "entries")) cannot be read, for the log is damaged; run vellum check"
        )
    }
}
