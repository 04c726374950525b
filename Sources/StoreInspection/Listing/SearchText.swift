import ArchiveQuery

/// Text to find in keys and the like, whatever its case and its normal form: as `icontains` finds it in a query. A value; safe to share between
/// threads.
package struct SearchText: Sendable, Hashable {
    package let text: String
    private let search: TextSearch

    /// Nil for an empty text, which everything matches.
    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
        search = TextSearch(text, caseSensitive: false)
    }

    /// Whether UTF-8 holds the text.
    func matches(_ key: UnsafeRawBufferPointer) -> Bool { search.isFound(inUTF8: key) }

    package func matches(_ key: String) -> Bool { search.isFound(in: key) }

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
}
