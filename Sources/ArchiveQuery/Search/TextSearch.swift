import Foundation

/// A string to search many texts for.
package struct TextSearch: Sendable {
    private let caseSensitive: Bool
    /// The searched characters, case-folded unless case matters.
    private let characters: [Character]
    /// The same as bytes, for ASCII texts; nil if those must be compared by characters too.
    private let bytes: [UInt8]?
    /// The bytes, for an ASCII text if case matters.
    private let plain: ByteSearch?

    package init(_ string: String, caseSensitive: Bool) {
        self.caseSensitive = caseSensitive
        let string = MarkOrder.string(string)
        let needle = caseSensitive ? string : string.foldedCase
        characters = Array(needle)
        // A few non-ASCII characters are equivalent to an ASCII one, such as the Kelvin sign to K.
        let utf8 = Array(needle.precomposedStringWithCanonicalMapping.utf8)
        // In ASCII only CR LF is a character of two bytes.
        bytes = utf8.contains { $0 == 0x0d || $0 == 0x0a } ? nil : utf8
        plain = caseSensitive ? ByteSearch(utf8) : nil
    }

    package func isFound(in text: String) -> Bool {
        if let bytes, let answer = text.utf8.withContiguousStorageIfAvailable({ isFound(bytes, in: $0) }),
            let answer
        {
            return answer
        }
        let text = MarkOrder.string(text)
        return isFound(characters, in: caseSensitive ? text : text.foldedCase)
    }

    /// Like ``isFound(in:)``, for a stored text in UTF-8.
    package func isFound(inUTF8 text: UnsafeRawBufferPointer) -> Bool {
        if let plain, let answer = plain.isFoundWhole(in: text) { return answer }
        if let bytes, let answer = isFound(bytes, in: text.assumingMemoryBound(to: UInt8.self)) {
            return answer
        }
        return isFound(in: String(decoding: text, as: UTF8.self))
    }

    /// Compares whole characters, which neither the standard library's `contains` nor Foundation's guarantees.
    private func isFound(_ characters: [Character], in text: String) -> Bool {
        var rest = text[...]
        while !rest.starts(with: characters) {
            if rest.isEmpty { return false }
            rest.removeFirst()
        }
        return true
    }

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
