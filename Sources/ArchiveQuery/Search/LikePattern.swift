import Foundation

/// Sendable value type; safe to use from any thread. A pattern of `like`, to match many whole texts: `%` stands for any
/// characters, `_` for one, and a backslash before one of the three for the character itself.
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
        return Self.matches(
            Array(caseSensitive ? text : text.foldedCase), parts, isMany: { $0 == .many },
            fits: { $1 == .anyOne || $1 == .one($0) })
    }

    func matches(utf8 text: UnsafeRawBufferPointer) -> Bool {
        guard let bytes, UTF8Text.isASCII(text), !text.contains(0x0d) else {
            return matches(UTF8Text.string(text))
        }
        return Self.matches(text, bytes, isMany: { $0 == Self.manyBytes }) { [caseSensitive] byte, part in
            let folded = !caseSensitive && byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
            return part == Self.anyByte || Int16(folded) == part
        }
    }

    /// Backtracks only to the last `%`, so the time is at most proportional to the product of both lengths.
    @inline(__always)
    private static func matches<Text: RandomAccessCollection, Part>(
        _ text: Text, _ parts: [Part], isMany: (Part) -> Bool, fits: (Text.Element, Part) -> Bool
    ) -> Bool where Text.Index == Int {
        var (place, part) = (text.startIndex, 0)
        /// Where the last `%` ends once it stands for one more character.
        var back: (place: Int, part: Int)?
        while place < text.endIndex {
            if part < parts.count, isMany(parts[part]) {
                part += 1
                back = (place + 1, part)
            } else if part < parts.count, fits(text[place], parts[part]) {
                place += 1
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

    /// The pattern as a regular expression.
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
