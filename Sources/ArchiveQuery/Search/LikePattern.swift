import Foundation

/// A pattern of `like`: `%` matches any characters, `_` one, a backslash escapes.
struct LikePattern: Sendable {
    private enum Part: Sendable, Equatable {
        case one(Character)
        case anyOne
        case many
    }

    private let caseSensitive: Bool
    private let parts: [Part]
    /// The pattern for ASCII texts; nil if these must be compared by characters too.
    private let bytes: [Int16]?
    private static let anyByte: Int16 = -1
    private static let manyBytes: Int16 = -2

    init(_ pattern: String, caseSensitive: Bool) {
        self.caseSensitive = caseSensitive
        let parts = Self.read(pattern).flatMap { part -> [Part] in
            guard !caseSensitive, case .one(let character) = part else { return [part] }
            return String(character).foldedCase.map(Part.one)
        }
        self.parts = parts
        var bytes: [Int16]? = []
        for part in parts {
            switch part {
            case .anyOne: bytes?.append(Self.anyByte)
            case .many: bytes?.append(Self.manyBytes)
            case .one(let character):
                // A few other characters are equivalent to an ASCII one. CR and LF together are one character.
                let plain = MarkOrder.composed(String(character)).utf8
                if plain.count == 1, let byte = plain.first, byte < 0x80, byte != 0x0d {
                    bytes?.append(Int16(byte))
                } else if plain.contains(0x0d) {
                    bytes = nil
                } else {
                    // No ASCII text contains it.
                    bytes?.append(.max)
                }
            }
        }
        self.bytes = bytes
    }

    private static func read(_ pattern: String) -> [Part] {
        var parts: [Part] = []
        var rest = Substring(pattern)
        while let character = rest.popFirst() {
            switch character {
            case "%": if parts.last != .many { parts.append(.many) }
            case "_": parts.append(.anyOne)
            case "\\" where rest.first.map { "%_\\".contains($0) } == true:
                parts.append(.one(rest.removeFirst()))
            default: parts.append(.one(character))
            }
        }
        return parts
    }

    func matches(_ text: String) -> Bool {
        let text = MarkOrder.string(text)
        // A folded character may be several, like ß; `_` matches all of them.
        var characters: [(folded: Character, left: Int)] = []
        for character in text {
            let folded = caseSensitive ? [character] : Array(String(character).foldedCase)
            for (place, part) in folded.enumerated() { characters.append((part, folded.count - place)) }
        }
        return Self.matches(characters.count, parts, isMany: { $0 == .many }) { place, part in
            switch part {
            case .anyOne: characters[place].left
            case .one(let character): characters[place].folded == character ? 1 : 0
            case .many: 0
            }
        }
    }

    func matches(utf8 text: UnsafeRawBufferPointer) -> Bool {
        guard let bytes, UTF8Text.isASCII(text), !text.contains(0x0d) else {
            return matches(UTF8Text.string(text))
        }
        return Self.matches(text.count, bytes, isMany: { $0 == Self.manyBytes }) {
            [caseSensitive] place, part in
            let byte = text[place]
            let folded = !caseSensitive && byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
            return part == Self.anyByte || Int16(folded) == part ? 1 : 0
        }
    }

    /// `taken`: the length that a part matches, 0: none. Backtracks only to the last `%`: at most O(text · pattern).
    @inline(__always)
    private static func matches<Part>(
        _ count: Int, _ parts: [Part], isMany: (Part) -> Bool, taken: (_ place: Int, Part) -> Int
    ) -> Bool {
        var (place, part) = (0, 0)
        /// The end of the last `%` if it matches one more character.
        var back: (place: Int, part: Int)?
        while place < count {
            if part < parts.count, isMany(parts[part]) {
                part += 1
                back = (place + 1, part)
                continue
            }
            let length = part < parts.count ? taken(place, parts[part]) : 0
            if length > 0 {
                place += length
                part += 1
            } else if let longer = back {
                (place, part) = longer
                back = (place + 1, part)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy(isMany)
    }

    var regularExpression: String {
        let body = parts.map { part in
            switch part {
            case .many: ".*"
            case .anyOne: "."
            case .one(let character):
                "\\^$.|?*+()[]{}".contains(character) ? "\\" + String(character) : String(character)
            }
        }
        return (caseSensitive ? "(?s)^" : "(?si)^") + body.joined() + "\\z"
    }
}
