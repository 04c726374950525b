import CBOR

extension Lexer {
    /// Scans a text in quotes, with the escapes of JSON (RFC 8259, section 7).
    mutating func scanText() -> Token.Kind {
        offset += 1
        var content: [UInt8] = []
        var problem: String?
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                if let problem { return .invalid(problem) }
                return .quoted(String(decoding: content, as: UTF8.self))
            case UInt8(ascii: "\\"):
                var place = offset
                let escaped = bytes.withUnsafeBytes { JSONTranscoder.readEscape(in: $0, at: &place) }
                if let escaped {
                    content += escaped
                    offset = place
                } else {
                    problem = problem ?? "an escape that JSON doesn't have; a backslash itself is \\\\"
                    offset = min(offset + 1, bytes.count)
                }
            default: content.append(byte)
            }
        }
        return .invalid("the text has no closing quote")
    }
}
