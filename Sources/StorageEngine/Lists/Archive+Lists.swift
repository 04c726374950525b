extension Archive {
    /// All present entries; those that others store or remove during the call may be listed or not (``EntryList``).
    /// Costs some ten nanoseconds an entry, and copies no key or value. Leaves no trace.
    public func entries(order: RecencyOrder = .mostRecentFirst) throws(StorageError) -> EntryList {
        try EntryList(engine: try engine(), order: order)
    }

    /// The most recent entries, shown while ``entries(order:)`` lists a large archive. Costs in proportion to `most`.
    package func recentEntries(_ most: Int) throws(StorageError) -> EntryList {
        try EntryList(engine: try engine(), order: .mostRecentFirst, mostRecent: most)
    }
}
