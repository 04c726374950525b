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
        for index in 0..<listing.count {
            if index % 4096 == 0 { try checkpoint(index) }
            listing.prefetch(behind: index, of: .all(listing.count))
            starts.append(bytes.count)
            do throws(SourceError) {
                try listing.appendKey(at: index, to: &bytes)
            } catch {
                unreadable += 1
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
    /// hears the share done, 0 to 1, and may throw to stop. Reads the key of each candidate.
    package func entries<Stop: Error>(
        matching pattern: KeyPattern, among candidates: Positions, checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> (found: [Int32], unreadable: Int) {
        var search = KeySearch(listing: self, pattern: pattern)
        guard case .some(let chosen) = candidates, chosen.count > count / 4 else {
            let found = try search.matches(among: candidates, checkpoint: checkpoint)
            return (found, search.unreadable)
        }
        // The list's own order is about that in which keys lie in memory, and another one is none.
        var isChosen = [Bool](repeating: false, count: count)
        for index in chosen { isChosen[Int(index)] = true }
        var matches = [Bool](repeating: false, count: count)
        for index in try search.matches(among: .all(count), where: { isChosen[$0] }, checkpoint: checkpoint) {
            matches[Int(index)] = true
        }
        return (chosen.filter { matches[Int($0)] }, search.unreadable)
    }
}

/// Reads keys one after the other, each fetched ahead. For one thread.
private struct KeySearch {
    let listing: any EntryListing
    let pattern: KeyPattern
    private(set) var unreadable = 0
    private var key: [UInt8] = []

    init(listing: any EntryListing, pattern: KeyPattern) {
        self.listing = listing
        self.pattern = pattern
    }

    mutating func matches<Stop: Error>(
        among candidates: Positions, where isChosen: (Int) -> Bool = { _ in true },
        checkpoint: (Double) throws(Stop) -> Void
    ) throws(Stop) -> [Int32] {
        var found: [Int32] = []
        for row in 0..<candidates.count {
            if row % 4096 == 0 { try checkpoint(Double(row) / Double(candidates.count)) }
            listing.prefetch(behind: row, of: candidates)
            let index = candidates.index(atRow: row)
            if isChosen(index), matches(index) { found.append(Int32(index)) }
        }
        return found
    }

    private mutating func matches(_ index: Int) -> Bool {
        key.removeAll(keepingCapacity: true)
        do throws(SourceError) {
            try listing.appendKey(at: index, to: &key)
        } catch {
            unreadable += 1
            return false
        }
        return key.withUnsafeBufferPointer(pattern.matches)
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
    func matches(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        if isASCII, KeyPattern.holds(key, folded, folding: true) { return true }
        guard key.contains(where: { $0 >= 0x80 }) else { return false }
        var lowered = KeyPattern.folded(String(decoding: key, as: UTF8.self))
        return lowered.withUTF8 { KeyPattern.holds($0, folded, folding: false) }
    }

    package func matches(_ key: String) -> Bool {
        var key = key
        return key.withUTF8 { matches($0) }
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

    private static func holds(_ text: UnsafeBufferPointer<UInt8>, _ wanted: [UInt8], folding: Bool) -> Bool {
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
