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

extension EntryListing {
    /// The candidates whose key matches, in their order, and the number of unreadable keys. `checkpoint` gets the share done,
    /// 0 to 1, and may throw to stop. Reads every candidate's key on several threads.
    package func entries<Stop: Error>(
        matching pattern: FilterPattern, among candidates: Positions,
        checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> (found: [Int32], unreadable: Int) {
        guard case .some(let chosen) = candidates, chosen.count > count / 4 else {
            return try matches(pattern, candidates, checkpoint: checkpoint)
        }
        // Ascending order is close to the order in memory.
        var isChosen = [Bool](repeating: false, count: count)
        for index in chosen { isChosen[Int(index)] = true }
        let ordered = (0..<Int32(count)).filter { isChosen[Int($0)] }
        let (found, unreadable) = try matches(pattern, .some(ordered), checkpoint: checkpoint)
        var isFound = [Bool](repeating: false, count: count)
        for index in found { isFound[Int(index)] = true }
        return (chosen.filter { isFound[Int($0)] }, unreadable)
    }

    private func matches<Stop: Error>(
        _ pattern: FilterPattern, _ candidates: Positions, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> (found: [Int32], unreadable: Int) {
        var found: [Int32] = []
        var unreadable = 0
        var row = 0
        while row < candidates.count {
            try checkpoint(Double(row) / Double(candidates.count))
            let end = min(row + 16_384 * SharedWork.threads, candidates.count)
            let parts = SharedWork.map(row..<end) { rows in
                var found: [Int32] = []
                var slow = 0
                let unreadable = readKeys(of: rows, in: candidates) { index, key in
                    switch pattern.matches(key: key) {
                    case true?: found.append(Int32(index))
                    case false?: break
                    case nil: slow += 1
                    }
                }
                return (found: found, unreadable: unreadable + slow)
            }
            for part in parts {
                found += part.found
                unreadable += part.unreadable
            }
            row = end
        }
        return (found, unreadable)
    }
}
