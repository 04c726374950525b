/// In which order a scan visits the entries.
package enum ScanOrder: Sendable, Hashable {
    /// As they lie in the log, segment by segment: the quickest.
    case location
    /// The most recent first, as they were used up to the moment when the scan began.
    case recency
}

/// What a scan remembers of an entry until it gets there: 16 bytes.
struct ScanItem: Sendable, Hashable {
    var location: Location
    var number: UInt32
    /// Low bits of the key's hash: another entry that takes the slot meanwhile has another one.
    var tag: UInt32
}

/// An entry as an item names it.
struct ScanEntry: Hashable {
    var number: UInt32
    var tag: UInt32
}

extension [ScanItem] {
    /// The items by their segments, those of one segment as they were: one pass to count and one to place, without
    /// comparisons.
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
        // Segments of one log are never so far apart; a damaged index may say so.
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

    /// The items by their stamps, the greatest first: digit by digit, for a comparison sort of a million takes longer
    /// than looking at them all.
    func sorted(byDescending stamps: [UInt64]) -> [ScanItem] {
        guard let most = stamps.max(), let least = stamps.min(), most > least else { return self }
        var items = self
        var keys = stamps.map { most - $0 }
        var otherItems = items
        var otherKeys = keys
        var shift: UInt64 = 0
        while (most - least) >> shift > 0 {
            var starts = [Int](repeating: 0, count: 2049)
            for key in keys { starts[Int(key >> shift & 2047) + 1] += 1 }
            for digit in 1...2048 { starts[digit] += starts[digit - 1] }
            for place in keys.indices {
                let digit = Int(keys[place] >> shift & 2047)
                otherItems[starts[digit]] = items[place]
                otherKeys[starts[digit]] = keys[place]
                starts[digit] += 1
            }
            swap(&items, &otherItems)
            swap(&keys, &otherKeys)
            shift += 11
        }
        return items
    }
}
