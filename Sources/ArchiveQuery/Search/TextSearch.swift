import Foundation

/// A string to search in many texts, by characters or else by scalars in normal form C. Linear, unlike `contains`.
package struct TextSearch: Sendable, Hashable {
    private let caseSensitive: Bool
    /// Whether parts of joined emoji and of syllables are found.
    private let partsOfCharacters: Bool
    /// The searched characters, case-folded unless case matters.
    private let characters: [Character]
    /// For each prefix the length of its longest border (Knuth, Morris, Pratt, 1977).
    private let borders: [Int]
    private let composed: [UInt8]
    /// Whether composition never produces any of its characters, so that most texts can be skipped.
    private let isNeverComposed: Bool
    /// Whether a search by bytes is correct in texts whose characters are single scalars with one form.
    private let searchesBytes: Bool
    /// The bytes of an ASCII text if case matters.
    private let plain: ByteSearch?

    package init(_ string: String, caseSensitive: Bool, partsOfCharacters: Bool = false) {
        self.caseSensitive = caseSensitive
        self.partsOfCharacters = partsOfCharacters
        let string = MarkOrder.string(string)
        let needle = caseSensitive ? string : string.foldedCase
        characters = Array(needle)
        borders = TextSearch.borders(of: characters)
        // A few non-ASCII characters are equivalent to an ASCII one, such as the Kelvin sign to K.
        composed = Array(MarkOrder.composed(needle).utf8)
        isNeverComposed = needle.unicodeScalars.allSatisfy {
            // Other characters are composed to these three. No emoji has another form, unlike others beyond U+FFFF.
            $0.isASCII ? ![";", "`", "K"].contains($0) : 0x1f000...0x1faff ~= $0.value
        }
        // In ASCII only CR LF is a character of two bytes.
        let hasLineEnds = composed.contains { $0 == 0x0d || $0 == 0x0a }
        searchesBytes = !hasLineEnds || partsOfCharacters
        plain = caseSensitive && !partsOfCharacters ? ByteSearch(composed) : nil
    }

    private static func borders(of characters: [Character]) -> [Int] {
        var borders = [Int](repeating: 0, count: characters.count)
        var length = 0
        for place in characters.indices.dropFirst() {
            while length > 0, characters[place] != characters[length] { length = borders[length - 1] }
            if characters[place] == characters[length] { length += 1 }
            borders[place] = length
        }
        return borders
    }

    package func isFound(in text: String) -> Bool {
        if let answer = text.utf8.withContiguousStorageIfAvailable({
            isFoundInBytes(UnsafeRawBufferPointer($0))
        }),
            let answer
        {
            return answer
        }
        return isFoundWhole(in: MarkOrder.string(text))
    }

    package func isFound(inUTF8 text: UnsafeRawBufferPointer) -> Bool {
        if let plain, let answer = plain.isFoundWhole(in: text) { return answer }
        return isFoundInBytes(text) ?? isFoundWhole(in: MarkOrder.string(text))
    }

    /// Nil if characters must be compared: for texts with scalars that have several forms, or other ASCII if case matters.
    private func isFoundInBytes(_ text: UnsafeRawBufferPointer) -> Bool? {
        guard searchesBytes else { return nil }
        if caseSensitive {
            guard UTF8Text.isASCII(text) else { return nil }
            return ByteSearch.place(of: composed, in: text) != nil
        }
        return CaseFolding.isFound(composed, inFolded: text)
    }

    private func isFoundWhole(in text: String) -> Bool {
        guard !characters.isEmpty else { return true }
        let text = caseSensitive ? text : text.foldedCase
        func isIn(_ text: String) -> Bool {
            var text = text
            return text.withUTF8 { ByteSearch.place(of: composed, in: UnsafeRawBufferPointer($0)) } != nil
        }
        if partsOfCharacters { return (!isNeverComposed || isIn(text)) && isIn(MarkOrder.composed(text)) }
        // Characters of one scalar with only one form are equal if their bytes are; in ASCII, CR LF has two scalars.
        if searchesBytes, text.unicodeScalars.allSatisfy(\.hasOneForm) { return isIn(text) }
        var matched = 0
        for character in text {
            while matched > 0, characters[matched] != character { matched = borders[matched - 1] }
            if characters[matched] == character { matched += 1 }
            if matched == characters.count { return true }
        }
        return false
    }
}

extension Unicode.Scalar {
    var hasOneForm: Bool { value.isOfOneForm }
}

extension UInt32 {
    /// Whether this scalar is its own character without equivalents. Known only for the most used scripts; else false.
    var isOfOneForm: Bool {
        switch self {
        case ..<0x300, 0x388...0x3ce, 0x400...0x482, 0x48a...0x52f, 0x5d0...0x5ea, 0x621...0x64a,
            0x2010...0x2027,
            0x2030...0x205e, 0x3001...0x3020, 0x3041...0x3096, 0x30a1...0x30ff, 0x4e00...0x9fff,
            0xac00...0xd7a3,
            0xff01...0xff9d:
            true
        default: false
        }
    }
}
