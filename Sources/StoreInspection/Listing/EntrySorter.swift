import ArchiveQuery
import StorageEngine

/// Sorts a listing by a column; equal entries stay most recently used first. Recency is free; the key column reads every key, age and owner
/// every entry's metadata, a property every value.
package struct EntrySorter<Stop: Error> {
    private let listing: any EntryListing
    private let now: Timestamp
    private let checkpoint: (Double) throws(Stop) -> Void
    /// Number of unreadable values; their entries are sorted last.
    package private(set) var unreadable = 0
    /// Remarks on the kinds of values, one line each.
    package private(set) var remarks: [String] = []

    /// - Parameters:
    ///   - now: the time for ages.
    ///   - checkpoint: gets the share done, 0 to 1, and may throw to stop.
    package init(
        listing: any EntryListing, now: Timestamp,
        checkpoint: @escaping (Double) throws(Stop) -> Void
    ) {
        self.listing = listing
        self.now = now
        self.checkpoint = checkpoint
    }

    package mutating func positions(_ order: EntryOrder) throws(Stop) -> Positions {
        switch order.basis {
        case .column(let column): try positions(order, by: column)
        case .property(let property): try positions(by: property, descending: order.descending)
        case .scan: order.descending ? .reversed(listing.count) : .all(listing.count)
        }
    }

    private mutating func positions(by property: QueryProperty, descending: Bool) throws(Stop) -> Positions {
        let probe = ListingProbe(listing, properties: [property], now: now)
        let count = listing.count
        var values: [SortValue] = []
        values.reserveCapacity(count)
        for index in 0..<count {
            if index % 64 == 0 { try checkpoint(0.5 * Double(index) / Double(count)) }
            listing.prefetch(after: index, of: .all(count))
            values.append(probe.sortValue(0, at: index, isDescending: descending))
        }
        (unreadable, remarks) = (probe.unreadable, probe.kindRemarks)
        return try sorted(false) {
            SortValue.compare(values[Int($0)], values[Int($1)], isDescending: descending)
        }
    }

    private func positions(_ order: EntryOrder, by column: EntryColumn) throws(Stop) -> Positions {
        let count = listing.count
        switch column {
        case .idle where listing.isByRecency: return order.descending ? .reversed(count) : .all(count)
        case .idle: return try sorted(order) { ~listing.accessed(at: $0).microseconds }
        case .queue:
            guard let indices = listing.evictionOrder?.indices else {
                return try positions(EntryOrder(.idle, descending: !order.descending), by: .idle)
            }
            return .some(order.descending ? indices.reversed() : indices)
        case .size: return try sorted(order) { Int64(listing.figures(at: $0).size) }
        case .hits: return try sorted(order) { Int64(listing.figures(at: $0).hits) }
        case .tier: return try sorted(order) { listing.expiryAndTier(at: $0).tier.order }
        case .age:
            return try sorted(order) {
                listing.prefetch(after: $0, of: .all(count))
                // The complement reverses the order without overflow.
                return ~(entry($0)?.created.microseconds ?? .min)
            }
        case .expires:
            return try sorted(order) { listing.expiryAndTier(at: $0).expires?.microseconds ?? .max }
        case .key:
            let keys = try KeyIndex(listing) { index throws(Stop) in
                try checkpoint(0.5 * Double(index) / Double(count))
            }
            return try sorted(order.descending) { keys.compare(Int($0), Int($1)) }
        case .owner:
            var owners: [String] = []
            owners.reserveCapacity(count)
            for index in 0..<count {
                if index % 4096 == 0 { try checkpoint(0.5 * Double(index) / Double(count)) }
                listing.prefetch(after: index, of: .all(count))
                owners.append(entry(index)?.owner ?? "\u{10ffff}")
            }
            return try sorted(order.descending) { left, right in
                let (a, b) = (owners[Int(left)], owners[Int(right)])
                // Owners are compared as bytes.
                return a.utf8.elementsEqual(b.utf8)
                    ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
            }
        }
    }

    /// Unreadable values are sorted last.
    private func entry(_ index: Int) -> EntryMetadata? { (try? listing.entry(at: index)) ?? nil }

    private func sorted(_ order: EntryOrder, by value: (Int) -> Int64) throws(Stop) -> Positions {
        var values: [Int64] = []
        values.reserveCapacity(listing.count)
        for index in 0..<listing.count {
            if index % 4096 == 0 { try checkpoint(0.5 * Double(index) / Double(listing.count)) }
            values.append(value(index))
        }
        return .some(
            try NumberSort.positions(of: values, descending: order.descending) { share throws(Stop) in
                try checkpoint(0.5 + 0.5 * share)
            })
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
    package func positions(in listing: any EntryListing, now: Timestamp) -> Positions {
        var sorter = EntrySorter(listing: listing, now: now) { (_) throws(Never) in }
        return sorter.positions(self)
    }
}
