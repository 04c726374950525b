import Foundation

/// A prefix or suffix to test many texts for, by characters.
struct TextEdge: Sendable {
    private let characters: [Character]
    private let atEnd: Bool
    /// The bytes for ASCII texts; nil if these must be compared by characters too.
    private let bytes: [UInt8]?

    init(_ text: String, atEnd: Bool) {
        self.atEnd = atEnd
        let text = MarkOrder.string(text)
        characters = Array(text)
        // A few other characters are equivalent to an ASCII one. CR and LF together are one character.
        let utf8 = Array(MarkOrder.composed(text).utf8)
        bytes = utf8.contains { $0 == 0x0d || $0 == 0x0a } ? nil : utf8
    }

    func isFound(in text: String) -> Bool {
        let text = MarkOrder.string(text)
        return atEnd ? text.reversed().starts(with: characters.reversed()) : text.starts(with: characters)
    }

    func isFound(inUTF8 text: UnsafeRawBufferPointer) -> Bool {
        guard let bytes else { return isFound(in: UTF8Text.string(text)) }
        // A combining mark after the end would change the last character, so include one more byte.
        let count = min(text.count, bytes.count + 1)
        let part = atEnd ? text[(text.count - count)...] : text[..<count]
        guard UTF8Text.isASCII(UnsafeRawBufferPointer(rebasing: part)) else {
            return isFound(in: UTF8Text.string(text))
        }
        guard text.count >= bytes.count else { return false }
        let edge = atEnd ? text.suffix(bytes.count) : text.prefix(bytes.count)
        return bytes.withUnsafeBytes {
            UTF8Text.compareBytes(UnsafeRawBufferPointer(rebasing: edge), $0) == 0
        }
    }
}
