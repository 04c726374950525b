package enum ScanOrder: Sendable, Hashable {
    /// Sorts by location in the log, segment by segment: the fastest order.
    case location
    /// Sorts by the last access before the scan, the most recent first.
    case recency
}

/// A scan's record of an entry until it is visited: 16 bytes.
struct ScanItem: Sendable, Hashable {
    var location: Location
    var number: UInt32
    /// Low bits of the key's hash: if the slot is reused, the new entry has a different tag.
    var tag: UInt32
}

struct ScanEntry: Hashable {
    var number: UInt32
    var tag: UInt32
}

extension [ScanItem] {
    /// The items grouped by segment, in their former order within each, without comparisons.
    func groupedBySegment() -> [ScanItem] {
        guard let first else { return self }
        var least = first.location.segment
        var most = least
        var isGrouped = true
        var previous = least
        for item in self {
            let segment = item.location.segment
            isGrouped = isGrouped && segment >= previous
            previous = segment
            least = Swift.min(least, segment)
            most = Swift.max(most, segment)
        }
        // Segments of one log are never that far apart, even if a damaged index claims so.
        guard !isGrouped, most - least < 1 << 20 else { return self }
        var starts = [Int](repeating: 0, count: Int(most - least) + 2)
        for item in self { starts[Int(item.location.segment - least) + 1] += 1 }
        for place in 1..<starts.count { starts[place] += starts[place - 1] }
        var grouped = self
        for item in self {
            let place = Int(item.location.segment - least)
            grouped[starts[place]] = item
            starts[place] += 1
        }
        return grouped
    }

    func sorted(byDescending stamps: [UInt64]) -> [ScanItem] {
        NumberSort.positions(of: stamps.map(Int64.init(clamping:)), descending: true).map { self[Int($0)] }
    }
}
