/// How deeply the elements of an XML text are nested. Stateless; safe from any thread.
enum XMLNesting {
    /// Nil if that is more than `most`. Goes through the text once; what is no XML gets some number.
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
                // What looks like tags within these is none.
                if let end = end(ofPart: "!--", "-->", in: text, at: place)
                    ?? end(ofPart: "![CDATA[", "]]>", in: text, at: place)
                {
                    place = end
                }
            // A declaration of the document type ends nothing that was begun.
            default:
                let end = next(UInt8(ascii: ">"), in: text, from: place) ?? text.count
                if text[end - 1] != UInt8(ascii: "/") { depth += 1 }
                place = end
            }
            // More ends than beginnings must not make room for more levels.
            depth = max(0, depth)
            deepest = max(deepest, depth)
            guard deepest <= most else { return nil }
        }
        return deepest
    }

    private static func next(_ byte: UInt8, in text: UnsafeRawBufferPointer, from place: Int) -> Int? {
        text[min(place, text.count)...].firstIndex(of: byte)
    }

    /// Where a part that begins at `place` ends; nil if it is no such part.
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
