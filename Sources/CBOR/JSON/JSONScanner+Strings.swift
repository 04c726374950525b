extension JSONScanner {
    /// Reads a string, or the byte string that it spells.
    @inline(__always)
    mutating func spelled(into writer: inout CBORWriter) throws(JSONError) {
        let start = writer.bytes.count
        try string(into: &writer)
        guard readsBytes, writer.bytes.last == UInt8(ascii: "'"),
            case .text(var text)? = try? CBORReader.decode(Array(writer.bytes[start...])),
            let value = text.withUTF8({ ByteText.value(of: UnsafeRawBufferPointer($0)) })
        else { return }
        writer.bytes.removeSubrange(start...)
        writer.write(value)
    }

    /// Reads a string. `place` moves from its opening quote to the byte after its closing quote.
    @inline(__always)
    mutating func string(into writer: inout CBORWriter) throws(JSONError) {
        let start = place + 1
        var isASCII = true
        place = endOfPlainText(from: start, isASCII: &isASCII)
        guard place < text.count else { throw unexpected(.quote) }
        let content = UnsafeRawBufferPointer(rebasing: text[start..<place])
        if !isASCII { try checkUTF8(content, at: start) }
        guard text[place] == UInt8(ascii: "\"") else {
            return try escapedString(beginning: content, into: &writer)
        }
        place += 1
        writer.write(utf8: content)
    }

    /// The place of the first quote, backslash or control character, or the end of the text.
    @inline(__always)
    func endOfPlainText(from start: Int, isASCII: inout Bool) -> Int {
        var place = start
        var seen: UInt64 = 0
        while place + 8 <= text.count {
            let word = ByteWord(text, at: place)
            let stops = word.matches(UInt8(ascii: "\"")) | word.matches(UInt8(ascii: "\\")) | word.controls
            if stops != 0 {
                // Only the bytes before the first stop belong to the string.
                let before = (stops & (0 &- stops)) &- 1
                seen |= word.nonASCII & before
                isASCII = seen == 0
                return place + ByteWord.firstIndex(in: stops)
            }
            seen |= word.nonASCII
            place += 8
        }
        while place < text.count {
            let byte = text[place]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            seen |= UInt64(byte & 0x80)
            place += 1
        }
        isASCII = seen == 0
        return place
    }

    func checkUTF8(_ content: UnsafeRawBufferPointer, at start: Int) throws(JSONError) {
        let valid = UTF8Scan.validLength(of: content)
        guard valid == content.count else { throw JSONError(offset: start + valid, reason: .invalidUTF8) }
    }

    /// Reads the rest of a string from its first escape or forbidden byte on; `content` precedes it.
    @inline(never)
    private mutating func escapedString(
        beginning content: UnsafeRawBufferPointer, into writer: inout CBORWriter
    ) throws(JSONError) {
        let head = writer.beginDeferred()
        writer.bytes.append(contentsOf: content)
        while true {
            guard place < text.count else { throw unexpected(.quote) }
            switch text[place] {
            case UInt8(ascii: "\""):
                place += 1
                writer.endDeferred(.text, at: head, count: writer.bytes.count - head - 1)
                return
            case UInt8(ascii: "\\"):
                place += 1
                try escape(into: &writer)
            default:
                throw JSONError(offset: place, reason: .controlCharacter(text[place]))
            }
            let start = place
            var isASCII = true
            place = endOfPlainText(from: start, isASCII: &isASCII)
            let content = UnsafeRawBufferPointer(rebasing: text[start..<place])
            if !isASCII { try checkUTF8(content, at: start) }
            writer.bytes.append(contentsOf: content)
        }
    }

    mutating func escape(into writer: inout CBORWriter) throws(JSONError) {
        guard place < text.count else { throw unexpected(.escape) }
        switch text[place] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): writer.bytes.append(text[place])
        case UInt8(ascii: "b"): writer.bytes.append(0x08)
        case UInt8(ascii: "f"): writer.bytes.append(0x0c)
        case UInt8(ascii: "n"): writer.bytes.append(0x0a)
        case UInt8(ascii: "r"): writer.bytes.append(0x0d)
        case UInt8(ascii: "t"): writer.bytes.append(0x09)
        case UInt8(ascii: "u"): return try unicodeEscape(into: &writer)
        default: throw unexpected(.escape)
        }
        place += 1
    }

    /// Reads `u` and four hexadecimal digits, and beyond U+FFFF the escape of the low surrogate.
    private mutating func unicodeEscape(into writer: inout CBORWriter) throws(JSONError) {
        let start = place - 1
        place += 1
        let first = try fourHexDigits()
        var code = UInt32(first)
        if UTF16.isLeadSurrogate(first), place + 1 < text.count, text[place] == UInt8(ascii: "\\"),
            text[place + 1] == UInt8(ascii: "u")
        {
            place += 2
            let second = try fourHexDigits()
            guard UTF16.isTrailSurrogate(second) else {
                throw JSONError(offset: start, reason: .loneSurrogate(first))
            }
            code = 0x1_0000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(code) else {
            throw JSONError(offset: start, reason: .loneSurrogate(first))
        }
        writer.bytes.append(contentsOf: scalar.utf8)
    }

    private mutating func fourHexDigits() throws(JSONError) -> UInt16 {
        var number: UInt16 = 0
        for _ in 0..<4 {
            guard place < text.count, let digit = Hexadecimal.value(of: text[place]) else {
                throw unexpected(.hexDigit)
            }
            number = number << 4 | UInt16(digit)
            place += 1
        }
        return number
    }
}
