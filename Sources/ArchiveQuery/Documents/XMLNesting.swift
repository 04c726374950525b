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
        ofPart beginning: String, _ end: String, in text: UnsafeRawBufferPointer, at place: Int
    ) -> Int? {
        guard text[place...].starts(with: beginning.utf8) else { return nil }
        let start = place + beginning.utf8.count
        return ByteSearch.place(of: Array(end.utf8), in: text, from: start).map { $0 + end.utf8.count }
            ?? text.count
    }
}
