import TerminalKit

/// Bytes, or a text regardless of case, also in its escaped form (`\e`).
package struct BytePattern: Sendable, Hashable {
    /// The forms of each character of a text, in UTF-8.
    private typealias Spelling = [[[UInt8]]]

    private let spellings: [Spelling]
    /// Bytes that may begin a match.
    private let begins: [Bool]
    package let longest: Int
    /// The bytes if the text was digits.
    package let bytes: [UInt8]?

    /// Pairs of hexadecimal digits, or a text; ambiguous ones match both. `0x` before digits means bytes only.
    /// Nil for an empty text, and for `0x` without pairs of digits.
    package init?(digitsOrText text: String) {
        let isMarked = text.lowercased().hasPrefix("0x")
        let bytes = BytePattern.bytes(isMarked ? String(text.dropFirst(2)) : text)
        if isMarked, bytes == nil { return nil }
        self.init(isMarked ? [] : BytePattern.spellings(text), bytes: bytes)
    }

    private init?(_ texts: [Spelling], bytes: [UInt8]?) {
        let spellings = (texts + [bytes.map { $0.map { [[$0]] } } ?? []]).filter { !$0.isEmpty }
        guard !spellings.isEmpty else { return nil }
        self.spellings = spellings
        self.bytes = bytes
        var begins = [Bool](repeating: false, count: 256)
        for spelling in spellings { for form in spelling[0] { begins[Int(form[0])] = true } }
        self.begins = begins
        longest = spellings.map { $0.reduce(0) { $0 + ($1.map(\.count).max() ?? 0) } }.max() ?? 0
    }

    private static func spellings(_ text: String) -> [Spelling] {
        // `\n` is searched literally: a line end is shown as a line end, not as this escape.
        let meant = TerminalText.unescaped(text).flatMap { $0.unicodeScalars.contains("\n") ? nil : $0 }
        return [spelling(text)] + (meant.map { [spelling($0)] } ?? [])
    }

    /// The forms of each character: unchanged, in lower and in upper case.
    private static func spelling(_ text: String) -> Spelling {
        text.map { character in
            let lower = character.lowercased()
            var forms: [[UInt8]] = []
            for form in [String(character), lower, lower.uppercased()] {
                let bytes = Array(form.utf8)
                if !forms.contains(bytes) { forms.append(bytes) }
            }
            return forms
        }
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.filter { $0 != " " })
        guard !digits.isEmpty, digits.count % 2 == 0, digits.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else { return nil }
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    /// Number of matching bytes at a place; nil without a match.
    @inline(__always)
    func length(in bytes: UnsafeBufferPointer<UInt8>, at place: Int) -> Int? {
        guard begins[Int(bytes[place])] else { return nil }
        for spelling in spellings {
            var next = place
            let isWhole = spelling.allSatisfy { forms in
                guard let form = forms.first(where: { BytePattern.holds(bytes, $0, at: next) }) else {
                    return false
                }
                next += form.count
                return true
            }
            if isWhole { return next - place }
        }
        return nil
    }

    private static func holds(_ bytes: UnsafeBufferPointer<UInt8>, _ form: [UInt8], at place: Int) -> Bool {
        guard place + form.count <= bytes.count else { return false }
        for index in form.indices where bytes[place + index] != form[index] { return false }
        return true
    }
}
