import StorageEngine

/// The entries of a list that an action applies to.
package struct CollectedTargets: Sendable {
    package private(set) var targets: [Target] = []
    /// Number of unreadable entries, which are left out.
    private var unreadable = 0

    /// Entries that are prefetched at once: more than a screen shows.
    package static let block = 256

    /// Reads the entries at these places; nil if `progress`, which gets the share done, stopped it.
    package init?(_ listing: any EntryListing, _ places: some Collection<Int>, _ progress: (Double) -> Bool) {
        let count = places.count
        targets.reserveCapacity(count)
        var unread = places[...]
        for (number, index) in places.enumerated() {
            if number % CollectedTargets.block == 0 {
                guard progress(Double(number) / Double(count)) else { return nil }
                // If this fails, each entry is read separately.
                try? listing.prepare(Array(unread.prefix(CollectedTargets.block)))
                unread = unread.dropFirst(CollectedTargets.block)
            }
            do throws(SourceError) {
                if let entry = try listing.entry(at: index) { targets.append(entry.target) }
            } catch {
                unreadable += 1
            }
        }
    }

    /// A message about unreadable entries; nil if all are readable.
    package var omission: String? {
        unreadable == 0
            ? nil
            : Figures.count(unreadable, "entry that can't be read is", "entries that can't be read are")
                + " left out; run vellum check"
    }
}

extension EntryListing {
    /// The entries last accessed before a moment, at the end of the list.
    package func idle(before moment: Timestamp) -> Range<Int> {
        (0..<count).partitioningIndex { accessed(at: $0) < moment }..<count
    }
}
