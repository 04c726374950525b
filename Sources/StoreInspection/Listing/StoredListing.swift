import StorageEngine

package struct StoredListing: EntryListing {
    private let archive: Archive
    package let list: EntryList
    package let evictionOrder: EvictionOrder?

    /// - Parameter most: maximum number of the most recent entries, without their order of eviction; nil: all.
    package init(_ archive: Archive, mostRecent most: Int? = nil) throws(StorageError) {
        self.archive = archive
        list = if let most { try archive.recentEntries(most) } else { try archive.entries() }
        evictionOrder = most == nil ? list.evictionOrder() : nil
    }

    package var count: Int { list.count }
    package var valueBytes: UInt64 { list.totalValueBytes }

    package func figures(at index: Int) -> (size: UInt64, hits: UInt32) {
        let reference = list[index]
        return (UInt64(reference.valueBytes), reference.hits)
    }

    package func expiryAndTier(at index: Int) -> (expires: Timestamp?, tier: Tier) {
        (list[index].expires, list[index].tier)
    }

    package func accessed(at index: Int) -> Timestamp { list[index].accessed }

    package func prefetch(at index: Int) { list.prefetch(at: index) }

    package func key(at index: Int) throws(SourceError) -> String? {
        try unlessClosed { () throws(StorageError) in try list.presentKey(at: index) }
    }

    package func readKeys(
        of rows: Range<Int>, in positions: Positions, _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) -> Int {
        list.readPresentKeys(rows, at: positions.index(atRow:), body)
    }

    // A replaced entry shows the key's current metadata.
    package func entry(at index: Int) throws(SourceError) -> EntryMetadata? {
        var entry = try unlessClosed { () throws(StorageError) in try list.presentMetadata(at: index) }
        entry?.queue = evictionOrder?[index]
        return entry
    }

    package func value(at index: Int) throws(SourceError) -> (encoding: ValueEncoding, bytes: [UInt8])? {
        let content = try unlessClosed { () throws(StorageError) in
            try list.presentContent(at: index).map { ($0.encoding, $0.value) }
        }
        if content == nil, list[index].tier != .memory, (try? list.isDamaged(at: index)) == true {
            throw SourceError("the value is damaged or its segment is missing")
        }
        return content
    }

    /// A removed archive has no entries.
    private func unlessClosed<Found>(
        _ look: () throws(StorageError) -> Found?
    ) throws(SourceError) -> Found? {
        try SourceError.translating { () throws(StorageError) in
            do throws(StorageError) {
                return try look()
            } catch {
                guard case .closed = error else { throw error }
                return nil
            }
        }
    }

    /// Finds the key's entry by its access stamp, which is unique. An entry accessed since the list was made isn't found.
    package func index(ofKey key: String) -> Int? {
        guard let stamp = (try? archive.metadata(key))?.recency else { return nil }
        let index = (0..<list.count).partitioningIndex { list[$0].recency <= stamp }
        return index < list.count && list[index].recency == stamp ? index : nil
    }
}
