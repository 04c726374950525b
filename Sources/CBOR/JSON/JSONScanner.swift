/// Writes JSON text, whose memory must outlive it, as CBOR. Methods are RFC 8259's productions. Not thread-safe.
struct JSONScanner {
    let text: UnsafeRawBufferPointer
    var place: Int
    /// The names, to refuse repeated ones; nil: an object may have a name twice.
    var names: ObjectNames?
    /// Whether strings that spell byte strings are read as these (``ByteText``).
    var readsBytes = false

    init(_ text: UnsafeRawBufferPointer, at place: Int) {
        self.text = text
        self.place = place
    }

    /// Reads a value and the white space before it. `depth` is the number of enclosing arrays and objects.
    mutating func value(into writer: inout CBORWriter, depth: Int) throws(JSONError) {
        skipWhitespace()
        guard place < text.count else { throw unexpected(.value) }
        switch text[place] {
        case UInt8(ascii: "\""): try spelled(into: &writer)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(into: &writer)
        case UInt8(ascii: "{"): try object(into: &writer, depth: depth)
        case UInt8(ascii: "["): try array(into: &writer, depth: depth)
        case UInt8(ascii: "t"):
            try literal("true")
            writer.write(true)
        case UInt8(ascii: "f"):
            try literal("false")
            writer.write(false)
        case UInt8(ascii: "n"):
            try literal("null")
            writer.writeNull()
        default: throw unexpected(.value)
        }
    }

    mutating func expectEnd() throws(JSONError) {
        skipWhitespace()
        guard place == text.count else { throw unexpected(.end) }
    }

    private mutating func object(into writer: inout CBORWriter, depth: Int) throws(JSONError) {
        try enter(depth: depth)
        let head = writer.beginDeferred()
        var count = 0
        names?.beginObject()
        if !skip(UInt8(ascii: "}")) {
            repeat {
                skipWhitespace()
                guard place < text.count, text[place] == UInt8(ascii: "\"") else {
                    throw unexpected(count == 0 ? .keyOrEnd : .key)
                }
                let (start, written) = (place, writer.bytes.count)
                try spelled(into: &writer)
                let isNew = writer.bytes.withUnsafeBytes { names?.add(written..<$0.count, of: $0) }
                if isNew == false { throw repeatedName(from: start) }
                guard skip(UInt8(ascii: ":")) else { throw unexpected(.colon) }
                try value(into: &writer, depth: depth + 1)
                count += 1
            } while skip(UInt8(ascii: ","))
            guard skip(UInt8(ascii: "}")) else { throw unexpected(.commaOrObjectEnd) }
        }
        names?.endObject()
        writer.endDeferred(.map, at: head, count: count)
    }

    func repeatedName(from start: Int) -> JSONError {
        let name = String(decoding: text[start..<place], as: UTF8.self)
        let most = 60
        return JSONError(
            offset: start, reason: .repeatedName(name.count > most ? name.prefix(most - 2) + "…\"" : name))
    }

    private mutating func array(into writer: inout CBORWriter, depth: Int) throws(JSONError) {
        try enter(depth: depth)
        let head = writer.beginDeferred()
        var count = 0
        if !skip(UInt8(ascii: "]")) {
            repeat {
                try value(into: &writer, depth: depth + 1)
                count += 1
            } while skip(UInt8(ascii: ","))
            guard skip(UInt8(ascii: "]")) else { throw unexpected(.commaOrArrayEnd) }
        }
        writer.endDeferred(.array, at: head, count: count)
    }

    mutating func enter(depth: Int) throws(JSONError) {
        guard depth < JSONTranscoder.maximumDepth else {
            throw JSONError(offset: place, reason: .nestingTooDeep(limit: JSONTranscoder.maximumDepth))
        }
        place += 1
    }

    private mutating func literal(_ name: StaticString) throws(JSONError) {
        for index in 0..<name.utf8CodeUnitCount {
            guard place < text.count, text[place] == name.utf8Start[index] else { throw unexpected(.literal) }
            place += 1
        }
    }

    /// Skips white space, and then `byte` if it is next. Returns whether it was.
    @inline(__always)
    mutating func skip(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard place < text.count, text[place] == byte else { return false }
        place += 1
        return true
    }

    @inline(__always)
    mutating func skipWhitespace() {
        while place < text.count, text[place] <= 0x20 {
            switch text[place] {
            case 0x20, 0x0a, 0x0d, 0x09: place += 1
            default: return
            }
        }
    }

    /// The error for the byte at `place`, or for the end of the text.
    func unexpected(_ expected: JSONError.Expectation) -> JSONError {
        guard place < text.count else {
            return JSONError(offset: text.count, reason: .unexpectedEnd(expected: expected))
        }
        return JSONError(offset: place, reason: .unexpected(found: text[place], expected: expected))
    }
}
