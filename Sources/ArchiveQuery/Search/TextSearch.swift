import Foundation

/// A string that is looked for in many texts.
package struct TextSearch: Sendable {
    private let caseSensitive: Bool
    /// What is looked for, folded unless the case counts.
    private let characters: [Character]
    /// The same for texts of ASCII; nil if such a text has to be compared character by character too.
    private let bytes: [UInt8]?
    /// The same where it is of ASCII and the case counts.
    private let plain: ByteSearch?

    package init(_ string: String, caseSensitive: Bool) {
        self.caseSensitive = caseSensitive
        let string = MarkOrder.string(string)
        let needle = caseSensitive ? string : string.foldedCase
        characters = Array(needle)
        // A few characters that are not ASCII are the same as one that is, as the Kelvin sign and K.
        let utf8 = Array(needle.precomposedStringWithCanonicalMapping.utf8)
        // In ASCII only CR and LF make one character of two bytes.
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

    /// As ``isFound(in:)`` for a text that is stored as UTF-8.
    package func isFound(inUTF8 text: UnsafeRawBufferPointer) -> Bool {
        if let plain, let answer = plain.isFoundWhole(in: text) { return answer }
        if let bytes, let answer = isFound(bytes, in: text.assumingMemoryBound(to: UInt8.self)) {
            return answer
        }
        return isFound(in: String(decoding: text, as: UTF8.self))
    }

    /// By characters, which neither the standard library's `contains` nor Foundation's promises.
    private func isFound(_ characters: [Character], in text: String) -> Bool {
        var rest = text[...]
        while !rest.starts(with: characters) {
            if rest.isEmpty { return false }
            rest.removeFirst()
        }
        return true
    }

    /// nil if the text is not ASCII.
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
