enum XMLNesting {
    /// The nesting of elements; nil if it exceeds `most`. One pass. Meaningless for other text.
    static func depth(of text: UnsafeRawBufferPointer, atMost most: Int) -> Int? {
        var depth = 0
        var deepest = 0
        var place = 0
        while let start = next(UInt8(ascii: "<"), in: text, from: place) {
            place = start + 1
            guard place < text.count else { break }
            switch text[place] {
            case UInt8(ascii: "/"): depth -= 1
            case UInt8(ascii: "?"): break
            case UInt8(ascii: "!"):
                // Comments and CDATA sections may contain text like tags.
                if let end = end(ofPart: "!--", "-->", in: text, at: place)
                    ?? end(ofPart: "![CDATA[", "]]>", in: text, at: place)
                {
                    place = end
                }
            // A document type declaration closes nothing.
            default:
                let end = next(UInt8(ascii: ">"), in: text, from: place) ?? text.count
                if text[end - 1] != UInt8(ascii: "/") { depth += 1 }
                place = end
            }
            // Unmatched end tags must not allow more levels.
            depth = max(0, depth)
            deepest = max(deepest, depth)
            guard deepest <= most else { return nil }
        }
        return deepest
    }

    private static func next(_ byte: UInt8, in text: UnsafeRawBufferPointer, from place: Int) -> Int? {
        text[min(place, text.count)...].firstIndex(of: byte)
    }

    /// The end of the part at `place`; nil for another part.
    private static func end(
        ofPart beginning: StaticString, _ end: StaticString, in text: UnsafeRawBufferPointer, at place: Int
    ) -> Int? {
        func bytes(_ string: StaticString) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: string.utf8Start, count: string.utf8CodeUnitCount)
        }
        guard text[place...].starts(with: bytes(beginning)) else { return nil }
        let last = bytes(end)
        var start = place + beginning.utf8CodeUnitCount
        while let found = next(last[0], in: text, from: start) {
            if text[found...].starts(with: last) { return found + last.count }
            start = found + 1
        }
        return text.count
    }
}
