import ArchiveQuery

package final class KeyIndex: Sendable {
    private let bytes: [UInt8]
    /// Offset of each key and of the end. Unreadable keys are empty.
    private let starts: [Int]
    package let unreadable: Int

    /// Reads every key. `checkpoint` gets the number read and may throw to stop.
    package init<Stop: Error>(_ listing: any EntryListing, checkpoint: (Int) throws(Stop) -> Void)
        throws(Stop)
    {
        var bytes: [UInt8] = []
        var starts: [Int] = []
        var unreadable = 0
        bytes.reserveCapacity(listing.count * 16)
        starts.reserveCapacity(listing.count + 1)
        for index in stride(from: 0, to: listing.count, by: 4096) {
            try checkpoint(index)
            let rows = index..<min(index + 4096, listing.count)
            unreadable += listing.readKeys(of: rows, in: .all(listing.count)) { _, key in
                starts.append(bytes.count)
                bytes.append(contentsOf: key)
            }
        }
        starts.append(bytes.count)
        self.bytes = bytes
        self.starts = starts
        self.unreadable = unreadable
    }

    package var count: Int { starts.count - 1 }

    package func key(at index: Int) -> ArraySlice<UInt8> { bytes[starts[index]..<starts[index + 1]] }

    /// Negative, 0 or positive if the left key is before, equal to or after the right one.
    package func compare(_ left: Int, _ right: Int) -> Int {
        bytes.withUnsafeBufferPointer { all in
            let a = all[starts[left]..<starts[left + 1]]
            let b = all[starts[right]..<starts[right + 1]]
            for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
            return a.count - b.count
        }
    }
}

/// The entries whose key matches a filter.
package struct KeyMatches {
    package var found: [Int32] = []
    package var unreadable = 0
    /// Keys for which the filter's regular expression takes too long.
    package var untested = 0
}

extension EntryListing {
    /// The candidates whose key matches, in their order. `checkpoint` gets the share done,
    /// 0 to 1, and may throw to stop. Reads every candidate's key on several threads.
    package func entries<Stop: Error>(
        matching pattern: FilterPattern, among candidates: Positions,
        checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> KeyMatches {
        guard case .some(let chosen) = candidates, chosen.count > count / 4 else {
            return try matches(pattern, candidates, checkpoint: checkpoint)
        }
        // Ascending order approximates the order in memory.
        var isChosen = [Bool](repeating: false, count: count)
        for index in chosen { isChosen[Int(index)] = true }
        let ordered = (0..<Int32(count)).filter { isChosen[Int($0)] }
        var matches = try matches(pattern, .some(ordered), checkpoint: checkpoint)
        var isFound = [Bool](repeating: false, count: count)
        for index in matches.found { isFound[Int(index)] = true }
        matches.found = chosen.filter { isFound[Int($0)] }
        return matches
    }

    private func matches<Stop: Error>(
        _ pattern: FilterPattern, _ candidates: Positions, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> KeyMatches {
        var all = KeyMatches()
        let timeLimit = SearchTimeLimit()
        var row = 0
        while row < candidates.count {
            try checkpoint(Double(row) / Double(candidates.count))
            let end = min(row + 16_384 * SharedWork.threads, candidates.count)
            let parts = SharedWork.map(row..<end) { rows in
                var part = KeyMatches()
                part.unreadable = readKeys(of: rows, in: candidates) { index, key in
                    switch pattern.matches(key: key, within: timeLimit) {
                    case true?: part.found.append(Int32(index))
                    case false?: break
                    case nil: part.untested += 1
                    }
                }
                return part
            }
            for part in parts {
                all.found += part.found
                all.unreadable += part.unreadable
                all.untested += part.untested
            }
            row = end
        }
        return all
    }
}
