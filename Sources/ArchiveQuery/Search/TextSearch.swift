import Foundation

/// A string to search many texts for.
package struct TextSearch: Sendable, Hashable {
    private let caseSensitive: Bool
    /// The searched text in UTF-8 and Unicode's normal form C, case-folded unless case matters.
    private let composed: [UInt8]
    /// The same for ASCII texts; nil if those must be compared by characters too.
    private let bytes: [UInt8]?
    /// The bytes, for an ASCII text if case matters.
    private let plain: ByteSearch?

    package init(_ string: String, caseSensitive: Bool) {
        self.caseSensitive = caseSensitive
        let needle = caseSensitive ? string : MarkOrder.string(string).foldedCase
        // A few non-ASCII characters are equivalent to an ASCII one, such as the Kelvin sign to K.
        composed = Array(MarkOrder.composed(needle).utf8)
        // In ASCII only CR LF is a character of two bytes.
        bytes = composed.contains { $0 == 0x0d || $0 == 0x0a } ? nil : composed
        plain = caseSensitive ? ByteSearch(composed) : nil
    }

    package func isFound(in text: String) -> Bool {
        if let bytes, let answer = text.utf8.withContiguousStorageIfAvailable({ isFound(bytes, in: $0) }),
            let answer
        {
            return answer
        }
        return isFoundComposed(in: caseSensitive ? text : MarkOrder.string(text).foldedCase)
    }

    /// Like ``isFound(in:)``, for a stored text in UTF-8.
    package func isFound(inUTF8 text: UnsafeRawBufferPointer) -> Bool {
        if let plain, let answer = plain.isFoundWhole(in: text) { return answer }
        if let bytes, let answer = isFound(bytes, in: text.assumingMemoryBound(to: UInt8.self)) {
            return answer
        }
        return isFound(in: String(decoding: text, as: UTF8.self))
    }

    /// Compares whole characters, which neither the standard library's `contains` nor Foundation's guarantees. Equal ones have the
    /// same bytes in normal form C, and characters begin and end in the same places in any form.
    private func isFoundComposed(in text: String) -> Bool {
        var text = MarkOrder.composed(text)
        var (first, tries) = (0, 0)
        var bounds: CharacterBounds?
        while let place = text.withUTF8({ ByteSearch.place(of: composed, in: $0, from: first) }) {
            let end = place + composed.count
            if tries < TextSearch.mostTries {
                if text.beginsCharacter(at: place), text.beginsCharacter(at: end) { return true }
            } else {
                let known = bounds ?? CharacterBounds(text)
                bounds = known
                if known.contains(place), known.contains(end) { return true }
            }
            tries += 1
            first = place + 1
        }
        return false
    }

    /// To find out whether a character begins at a place may take time in proportion to what is before it; of all places at once it
    /// takes hardly more.
    private static let mostTries = 4

    /// Nil if the text isn't ASCII.
    private func isFound(_ bytes: [UInt8], in text: UnsafeBufferPointer<UInt8>) -> Bool? {
        guard text.allSatisfy({ $0 < 0x80 }) else { return nil }
        guard let first = bytes.first else { return true }
        if text.count < bytes.count { return false }
        for start in 0...text.count - bytes.count where folded(text[start]) == first {
            var length = 1
            while length < bytes.count, folded(text[start + length]) == bytes[length] { length += 1 }
            if length == bytes.count { return true }
        }
        return false
    }

    private func folded(_ byte: UInt8) -> UInt8 {
        !caseSensitive && byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    }
}

extension String {
    /// `offset`: in UTF-8.
    fileprivate func beginsCharacter(at offset: Int) -> Bool {
        utf8.index(startIndex, offsetBy: offset).samePosition(in: self) != nil
    }
}

/// The places in UTF-8 where a text's characters begin, and its end.
private struct CharacterBounds {
    private var bits: [UInt64]

    init(_ text: String) {
        bits = [UInt64](repeating: 0, count: text.utf8.count / 64 + 1)
        var offset = 0
        bits[0] = 1
        for character in text {
            offset += character.utf8.count
            bits[offset / 64] |= 1 << UInt64(offset % 64)
        }
    }

    func contains(_ offset: Int) -> Bool { bits[offset / 64] >> UInt64(offset % 64) & 1 != 0 }
}
