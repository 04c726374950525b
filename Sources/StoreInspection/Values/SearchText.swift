import ArchiveQuery
import CBOR
import TerminalKit

/// A text to find regardless of case and normal form, also within a character such as a joined emoji, and in its escaped form
/// such as `\n`.
package struct SearchText: Sendable, Hashable {
    package let text: String
    private let search: TextSearch
    /// The text with its escapes decoded.
    private let meant: TextSearch?

    package init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
        func search(_ text: String) -> TextSearch {
            TextSearch(text, caseSensitive: false, partsOfCharacters: true)
        }
        self.search = search(text)
        meant = TerminalText.unescaped(text).map(search)
    }

    /// Whether a key in UTF-8 contains the text. For a key that spells bytes (``ByteText``), whether the bytes contain it.
    package func matches(_ key: UnsafeRawBufferPointer) -> Bool {
        if search.isFound(inUTF8: key) || meant?.isFound(inUTF8: key) == true { return true }
        guard case .bytes(let bytes)? = ByteText.value(of: key) else { return false }
        return matches(String(decoding: bytes, as: UTF8.self))
    }

    package func matches(_ key: String) -> Bool { search.isFound(in: key) || meant?.isFound(in: key) == true }

    /// The first match to highlight, in characters; nil if the whole text matches or none does.
    package func range(in text: String) -> Range<Int>? {
        func parts(_ text: String) -> [Unicode.Scalar] {
            Array(MarkOrder.composed(text.foldedCase).unicodeScalars)
        }
        let wanted = parts(self.text)
        var scalars: [Unicode.Scalar] = []
        var places: [Int] = []
        for (place, character) in text.enumerated() {
            scalars += parts(String(character))
            places += Array(repeating: place, count: scalars.count - places.count)
        }
        guard !wanted.isEmpty, scalars.count >= wanted.count else { return nil }
        for start in 0...(scalars.count - wanted.count) where scalars[start...].starts(with: wanted) {
            return places[start]..<places[start + wanted.count - 1] + 1
        }
        return nil
    }
}
