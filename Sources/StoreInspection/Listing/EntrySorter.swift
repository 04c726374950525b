import StorageEngine

/// Puts a listing's entries in order of a column. For one thread.
///
/// Equal entries keep LRU order. Recency costs nothing; keys are compared in one piece of memory; age and owner
/// need every entry's metadata; the other columns are in the list.
package struct EntrySorter<Stop: Error> {
    private let listing: any EntryListing
    private let keys: KeyIndex?
    private let checkpoint: (Double) throws(Stop) -> Void

    /// - Parameters:
    ///   - keys: needed for an order by key.
    ///   - checkpoint: hears the share done, 0 to 1, and may throw to stop.
    package init(
        listing: any EntryListing, keys: KeyIndex?, checkpoint: @escaping (Double) throws(Stop) -> Void
    ) {
        self.listing = listing
        self.keys = keys
        self.checkpoint = checkpoint
    }

    package func positions(_ order: EntryOrder) throws(Stop) -> Positions {
        let count = listing.count
        switch order.column {
        case .idle: return order.descending ? .reversed(count) : .all(count)
        case .size: return try sorted(order) { Int64(listing.figures(at: $0).size) }
        case .hits: return try sorted(order) { Int64(listing.figures(at: $0).hits) }
        case .tier: return try sorted(order) { listing.terms(at: $0).tier.order }
        // The youngest has the latest creation.
        case .age:
            return try sorted(order) {
                // The bitwise complement turns the order round, and there is one of every number.
                ~(entry($0)?.created.microseconds ?? .min)
            }
        case .expires: return try sorted(order) { listing.terms(at: $0).expires?.microseconds ?? .max }
        case .key:
            guard let keys else { return .all(count) }
            return try sorted(order.descending) { keys.compare(Int($0), Int($1)) }
        case .owner:
            var owners: [String] = []
            owners.reserveCapacity(count)
            for index in 0..<count {
                if index % 4096 == 0 { try checkpoint(0.5 * Double(index) / Double(count)) }
                owners.append(entry(index)?.owner ?? "\u{10ffff}")
            }
            return try sorted(order.descending) { left, right in
                let (a, b) = (owners[Int(left)], owners[Int(right)])
                return a == b ? 0 : a < b ? -1 : 1
            }
        }
    }

    /// What can't be read has no place among the others.
    private func entry(_ index: Int) -> EntryMetadata? { (try? listing.entry(at: index)) ?? nil }

    private func sorted(_ order: EntryOrder, by value: (Int) -> Int64) throws(Stop) -> Positions {
        var values: [Int64] = []
        values.reserveCapacity(listing.count)
        for index in 0..<listing.count {
            if index % 4096 == 0 { try checkpoint(0.5 * Double(index) / Double(listing.count)) }
            values.append(value(index))
        }
        return try sorted(order.descending) { left, right in
            let (a, b) = (values[Int(left)], values[Int(right)])
            return a == b ? 0 : a < b ? -1 : 1
        }
    }

    private func sorted(_ descending: Bool, compare: (Int32, Int32) -> Int) throws(Stop) -> Positions {
        var indices = (0..<Int32(clamping: listing.count)).map { $0 }
        try StoppableSort.sort(
            &indices,
            by: { left, right in
                let comparison = descending ? compare(right, left) : compare(left, right)
                return comparison == 0 ? left < right : comparison < 0
            },
            checkpoint: { share throws(Stop) in try checkpoint(0.5 + 0.5 * share) })
        return .some(indices)
    }
}

extension Tier {
    fileprivate var order: Int64 {
        switch self {
        case .memory: 0
        case .both: 1
        case .disk: 2
        }
    }
}

extension EntryOrder {
    /// The entries of a list in this order, in one go.
    package func positions(in listing: any EntryListing) -> Positions {
        let keys = column == .key ? KeyIndex(listing) { (_) throws(Never) in } : nil
        return EntrySorter(listing: listing, keys: keys) { (_) throws(Never) in }.positions(self)
    }
}
