/// Writes JSON strings (RFC 8259, section 7), which diagnostic notation uses too. Escapes quotes, backslashes and all control
/// characters, also U+007F to U+009F, which terminals would execute. Everything else stays UTF-8.
package enum JSONString {
    /// Appends the text with quotes around it. `text` must be valid UTF-8.
    package static func append(_ text: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        append(content: text, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Appends a part of a string: escaped, but without quotes.
    static func append(content text: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        var place = 0
        while place < text.count {
            let stop = endOfPlainText(in: text, from: place)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[place..<stop]))
            place = stop
            if place < text.count { place += appendEscape(in: text, at: place, to: &output) }
        }
    }

    /// The offset of the first byte that may begin a character to escape, or the end.
    @inline(__always)
    private static func endOfPlainText(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var place = start
        while place + 8 <= text.count {
            let word = ByteWord(text, at: place)
            let stops =
                word.matches(UInt8(ascii: "\"")) | word.matches(UInt8(ascii: "\\")) | word.controls
                | word.matches(0x7f) | word.matches(0xc2)
            if stops != 0 { return place + ByteWord.firstIndex(in: stops) }
            place += 8
        }
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x7f, 0xc2: return place
            default: place += 1
            }
        }
        return place
    }

    /// Appends the character at `place`, escaped if necessary, and returns its length in bytes.
    private static func appendEscape(
        in text: UnsafeRawBufferPointer, at place: Int, to output: inout [UInt8]
    ) -> Int {
        let byte = text[place]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(escape: byte, to: &output)
        case 0x08: append(escape: UInt8(ascii: "b"), to: &output)
        case 0x09: append(escape: UInt8(ascii: "t"), to: &output)
        case 0x0a: append(escape: UInt8(ascii: "n"), to: &output)
        case 0x0c: append(escape: UInt8(ascii: "f"), to: &output)
        case 0x0d: append(escape: UInt8(ascii: "r"), to: &output)
        case 0xc2:
            // U+0080...U+00BF. Those below U+00A0 are control characters, and their second byte is their code.
            let second = text[place + 1]
            if second < 0xa0 {
                append(code: second, to: &output)
            } else {
                output.append(byte)
                output.append(second)
            }
            return 2
        default: append(code: byte, to: &output)
        }
        return 1
    }

    private static func append(escape character: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\\"))
        output.append(character)
    }

    private static func append(code: UInt8, to output: inout [UInt8]) {
        output.append(contentsOf: "\\u00".utf8)
        output.append(Hexadecimal.digit(code >> 4))
        output.append(Hexadecimal.digit(code & 0xf))
    }
}
