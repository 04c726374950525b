package struct EntryStanding: Sendable, Hashable {
    package var isExpired: Bool
    package var expires: Timestamp?
    package var holders: [AttachedProcess]
}

extension Archive {
    /// All present entries; those that others store or remove during the call may be listed or not (``EntryList``).
    /// Costs some ten nanoseconds an entry, and copies no key or value. Records no access.
    public func entries(order: RecencyOrder = .mostRecentFirst) throws(StorageError) -> EntryList {
        try EntryList(engine: try engine(), order: order)
    }

    /// The most recent entries, shown while ``entries(order:)`` lists a large archive. Costs in proportion to `most`.
    package func recentEntries(_ most: Int) throws(StorageError) -> EntryList {
        try EntryList(engine: try engine(), order: .mostRecentFirst, mostRecent: most)
    }

    /// A scan of all entries. Costs some ten nanoseconds an entry before the first is visited.
    package func scan(_ order: ScanOrder) throws(StorageError) -> EntryScan {
        try EntryScan(engine: try engine(), order: order)
    }

    package func scan(keys: [String]) throws(StorageError) -> EntryScan {
        try EntryScan(engine: try engine(), keys: keys)
    }

    /// Keys at this moment, without their values. Records no access and reads no value.
    ///
    /// Costs some 100 ns for each entry: reads its slot in the index and, if it may match, the beginning of its frame. Takes 16
    /// bytes of memory an entry while it runs and, with a limit, space for about twice as many keys as the limit. So an archive
    /// with more keys than fit into memory can be read page by page (``KeyQuery/after``). In the order of recency the search ends
    /// when the limit is reached. Throws also `limitReached` if descriptors or memory have run out; `invalidOwner` for an empty
    /// owner.
    public func keys(_ query: KeyQuery = KeyQuery()) throws(StorageError) -> KeyPage {
        if let owner = query.owner { try EntryAttributes.checkNotEmpty(owner: owner) }
        var search = KeySearch(query)
        return try search.search(engine())
    }

    /// Totals for each owner, and for the entries without one, most bytes first. Names are compared by bytes. Records no access.
    /// Costs some 100 ns for each entry: reads its slot in the index and, if it has an owner, the beginning of its frame. Reads
    /// no value. Throws also `limitReached` if descriptors or memory have run out.
    public func owners() throws(StorageError) -> [OwnerSummary] { try OwnerSummary.all(in: engine()) }

    /// Keys of the `limit` most recently accessed entries that are on disk or in this process's memory, read under the archive's
    /// lock in time proportional to `limit`. `nil` if removed or expired entries make ``entries(order:)`` cheaper.
    package func latestKeys(_ limit: Int) throws(StorageError) -> LatestKeys? {
        let engine = try engine()
        try engine.requireEntries(to: "list keys")
        let section = try engine.acquireDrained()
        return try LatestKeys(section, limit)
    }

    /// Largest limit for ``latestKeys(_:)``; a call with it takes some hundred microseconds.
    package static var mostLatestKeys: Int { 512 }

    /// Expiry time and holders of the entry of `key`; `nil` if absent. Records no access.
    package func standing(of key: String) throws(StorageError) -> EntryStanding? {
        let engine = try engine()
        var standing: EntryStanding?
        try withHashed(key) { (key) throws(StorageError) in
            try engine.withSlotContent(of: key.bytes, tag: key.tag) { entry, content in
                let numbers =
                    content.isMemoryOnly
                    ? engine.memoryOnlyNumbers(of: key.bytes, tag: key.tag) : [entry.number]
                let holders = numbers.flatMap(engine.holders(of:))
                standing = EntryStanding(
                    isExpired: content.isMemoryOnly
                        ? !numbers.contains(where: engine.isPresent) : engine.isExpired(entry),
                    expires: content.expires,
                    holders: StatusReader(engine).processes().filter { holders.contains($0.pid) })
            }
        }
        return standing
    }
}
