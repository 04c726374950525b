/// All keys of a listing in one piece of memory, to be compared without making strings. Immutable once built; safe to share
/// between threads.
package final class KeyIndex: Sendable {
    private let bytes: [UInt8]
    /// Where each key begins, and where the last one ends. A key that couldn't be read is empty.
    private let starts: [Int]
    /// How many keys couldn't be read.
    package let unreadable: Int

    /// Reads every key of the listing. `checkpoint` hears how many are read and may throw to stop.
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

    /// Negative, 0 or positive, as the left key stands before, at or after the right one.
    func compare(_ left: Int, _ right: Int) -> Int {
        bytes.withUnsafeBufferPointer { all in
            let a = all[starts[left]..<starts[left + 1]]
            let b = all[starts[right]..<starts[right + 1]]
            for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
            return a.count - b.count
        }
    }
}

extension EntryListing {
    /// The entries among `candidates` whose key holds the pattern, in their order, and how many keys couldn't be read. `checkpoint`
    /// hears the share done, 0 to 1, and may throw to stop. Reads the key of each candidate, by several threads.
    package func entries<Stop: Error>(
        matching pattern: KeyPattern, among candidates: Positions, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> (found: [Int32], unreadable: Int) {
        guard case .some(let chosen) = candidates, chosen.count > count / 4 else {
            return try matches(pattern, candidates, checkpoint: checkpoint)
        }
        // The list's own order is about that in which keys lie in memory, and another one is none.
        var isChosen = [Bool](repeating: false, count: count)
        for index in chosen { isChosen[Int(index)] = true }
        let ordered = (0..<Int32(count)).filter { isChosen[Int($0)] }
        let (found, unreadable) = try matches(pattern, .some(ordered), checkpoint: checkpoint)
        var isFound = [Bool](repeating: false, count: count)
        for index in found { isFound[Int(index)] = true }
        return (chosen.filter { isFound[Int($0)] }, unreadable)
    }

    private func matches<Stop: Error>(
        _ pattern: KeyPattern, _ candidates: Positions, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> (found: [Int32], unreadable: Int) {
        var found: [Int32] = []
        var unreadable = 0
        var row = 0
        while row < candidates.count {
            try checkpoint(Double(row) / Double(candidates.count))
            // Some milliseconds' work.
            let end = min(row + 16_384 * SharedWork.threads, candidates.count)
            let parts = SharedWork.map(row..<end) { rows in
                var found: [Int32] = []
                let unreadable = readKeys(of: rows, in: candidates) { index, key in
                    if pattern.matches(key) { found.append(Int32(index)) }
                }
                return (found: found, unreadable: unreadable)
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

/// Text to find in keys, whatever its case. A value; safe to share between threads.
package struct KeyPattern: Sendable, Hashable {
    package let text: String
    private let folded: [UInt8]
    private let isASCII: Bool

    /// Nil for an empty text, which everything matches.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
        folded = Array(KeyPattern.folded(text).utf8)
        isASCII = folded.allSatisfy { $0 < 0x80 }
    }

    /// Lower case, with the one small letter that has two forms in one.
    private static func folded(_ text: String) -> String {
        let lowered = text.lowercased()
        return lowered.utf8.contains(0xcf) ? lowered.replacing("ς", with: "σ") : lowered
    }

    /// Whether UTF-8 holds the text. Bytes are compared where all are ASCII; else by Unicode's lower case, which needs a string
    /// for each key that isn't.
    func matches(_ key: UnsafeRawBufferPointer) -> Bool {
        if isASCII, KeyPattern.holds(key, folded, folding: true) { return true }
        guard key.contains(where: { $0 >= 0x80 }) else { return false }
        var lowered = KeyPattern.folded(String(decoding: key, as: UTF8.self))
        return lowered.withUTF8 { KeyPattern.holds(UnsafeRawBufferPointer($0), folded, folding: false) }
    }

    package func matches(_ key: String) -> Bool {
        var key = key
        return key.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
    }

    /// The characters of a text that match, to be highlighted: offsets of characters.
    package func range(in text: String) -> Range<Int>? {
        let wanted = self.text.lowercased().map { $0 }
        let characters = text.map { $0.lowercased() }
        guard !wanted.isEmpty, characters.count >= wanted.count else { return nil }
        for start in 0...(characters.count - wanted.count)
        where (0..<wanted.count).allSatisfy({ characters[start + $0] == String(wanted[$0]) }) {
            return start..<start + wanted.count
        }
        return nil
    }

    @inline(__always)
    private static func fold(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    private static func holds(_ text: UnsafeRawBufferPointer, _ wanted: [UInt8], folding: Bool) -> Bool {
        guard text.count >= wanted.count else { return false }
        let first = wanted[0]
        for start in 0...(text.count - wanted.count) {
            guard (folding ? fold(text[start]) : text[start]) == first else { continue }
            var offset = 1
            while offset < wanted.count {
                let byte = text[start + offset]
                guard (folding ? fold(byte) : byte) == wanted[offset] else { break }
                offset += 1
            }
            if offset == wanted.count { return true }
        }
        return false
    }
}
