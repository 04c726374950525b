/// Limits for text property lists before Foundation parses them: depth, parts, runs of combining marks.
enum PropertyListText {
    /// Foundation's XML parser recurses for each level.
    private static let deepest = 200
    /// Foundation creates an object of some 100 bytes for each.
    private static let mostParts = 400_000
    /// Swift hashes a run of marks in quadratic time. Stream-safe texts have runs of 30 at most (Unicode Standard Annex #15).
    private static let longestRun = 256

    /// Whether the text is within the limits. O(length).
    static func isModest(_ text: UnsafeRawBufferPointer) -> Bool {
        !isTooDeep(text) && parts(of: text) <= mostParts && !hasLongRun(text)
    }

    /// Whether elements are nested beyond the limit. Meaningless for other text than XML.
    private static func isTooDeep(_ text: UnsafeRawBufferPointer) -> Bool {
        var (depth, place) = (0, 0)
        while let start = next(UInt8(ascii: "<"), in: text, from: place) {
            place = start + 1
            guard place < text.count else { break }
            switch text[place] {
            // Unmatched end tags must not allow more levels.
            case UInt8(ascii: "/"): depth = max(0, depth - 1)
            case UInt8(ascii: "?"): break
            case UInt8(ascii: "!"):
                // Comments and CDATA sections may contain text like tags. A document type declaration has no end tag.
                place =
                    end(ofPart: "!--", "-->", in: text, at: place)
                    ?? end(ofPart: "![CDATA[", "]]>", in: text, at: place) ?? place
            default:
                place = next(UInt8(ascii: ">"), in: text, from: place) ?? text.count
                if text[place - 1] != UInt8(ascii: "/") { depth += 1 }
                if depth > deepest { return true }
            }
        }
        return false
    }

    private static func next(_ byte: UInt8, in text: UnsafeRawBufferPointer, from place: Int) -> Int? {
        text[min(place, text.count)...].firstIndex(of: byte)
    }

    /// The end of the part at `place`; nil for another part.
    private static func end(
        ofPart beginning: String, _ end: String, in text: UnsafeRawBufferPointer, at place: Int
    ) -> Int? {
        guard text[place...].starts(with: beginning.utf8) else { return nil }
        let start = place + beginning.utf8.count
        return ByteSearch.place(of: Array(end.utf8), in: text, from: start).map { $0 + end.utf8.count }
            ?? text.count
    }

    /// Decodes UTF-16 with a byte order mark like Foundation; nil for other text.
    static func utf8(ofUTF16 text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.starts(with: [0xfe, 0xff]) || text.starts(with: [0xff, 0xfe]) else { return nil }
        let isBig = text[0] == 0xfe
        let units = (1..<max(1, text.count / 2)).lazy.map { unit in
            let place = 2 * unit
            return UInt16(text[place + (isBig ? 0 : 1)]) << 8 | UInt16(text[place + (isBig ? 1 : 0)])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// An upper bound for the number of parts: each is preceded or followed by one of these bytes.
    private static func parts(of text: UnsafeRawBufferPointer) -> Int {
        let isXML = text.first { !isSpace($0) } == UInt8(ascii: "<")
        return text.reduce(0) { count, byte in
            switch byte {
            case UInt8(ascii: "<"): count + 1
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "("),
                UInt8(ascii: "{"):
                isXML ? count : count + 1
            default: count
            }
        } / (isXML ? 2 : 1)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static func hasLongRun(_ text: UnsafeRawBufferPointer) -> Bool {
        var run = 0
        var place = 0
        while place < text.count {
            let (scalar, length) = scalar(in: text, at: place)
            place += length
            run = isMark(scalar) ? run + 1 : 0
            if run > longestRun { return true }
        }
        return false
    }

    /// Invalid scalars count as marks, because they may be surrogates of one.
    private static func isMark(_ value: UInt32) -> Bool {
        guard value >= 0x300 else { return false }
        return Unicode.Scalar(value).map { $0.properties.canonicalCombiningClass != .notReordered } ?? true
    }

    /// The scalar at an offset, and its length. Decodes references (`&#x301;`) and escapes (`\U0301`).
    private static func scalar(in text: UnsafeRawBufferPointer, at place: Int) -> (UInt32, length: Int) {
        let byte = text[place]
        let rest = UnsafeRawBufferPointer(rebasing: text[place...])
        switch byte {
        case UInt8(ascii: "&"): return reference(rest) ?? (UInt32(byte), 1)
        case UInt8(ascii: "\\"): return escape(rest) ?? (UInt32(byte), 1)
        case ..<0x80: return (UInt32(byte), 1)
        default:
            let length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
            guard length <= rest.count else { return (UInt32(byte), 1) }
            let lead = UInt32(byte) & (0x7f >> UInt32(length))
            return (rest[1..<length].reduce(lead) { $0 << 6 | UInt32($1 & 0x3f) }, length)
        }
    }

    private static func reference(_ text: UnsafeRawBufferPointer) -> (UInt32, length: Int)? {
        guard text.count > 3, text[1] == UInt8(ascii: "#"),
            let end = text.prefix(64).firstIndex(of: UInt8(ascii: ";"))
        else { return nil }
        let isHex = text[2] | 0x20 == UInt8(ascii: "x")
        let digits = String(decoding: text[(isHex ? 3 : 2)..<end], as: UTF8.self)
        return UInt32(digits, radix: isHex ? 16 : 10).map { ($0, end + 1) }
    }

    private static func escape(_ text: UnsafeRawBufferPointer) -> (UInt32, length: Int)? {
        guard text.count >= 6, text[1] | 0x20 == UInt8(ascii: "u") else { return nil }
        return UInt32(String(decoding: text[2..<6], as: UTF8.self), radix: 16).map { ($0, 6) }
    }
}
