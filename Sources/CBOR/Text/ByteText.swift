/// Byte strings as text: `h'636166e9'`, as in diagnostic notation (RFC 8949, section 8). A text of this form, also with
/// backslashes before it, gets one more backslash where both may occur, so that each spelling is unique.
package enum ByteText {
    package static func spelling(of bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        Array(bytes).withUnsafeBytes { Hexadecimal.append($0, to: &digits) }
        return "h'" + String(decoding: digits, as: UTF8.self) + "'"
    }

    /// Whether a text must be spelled with one more backslash.
    package static func needsEscape(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.last == UInt8(ascii: "'"), let first = text.first,
            first == UInt8(ascii: "h") || first == UInt8(ascii: "\\")
        else { return false }
        let form = text.drop { $0 == UInt8(ascii: "\\") }
        guard form.count >= 3, form.count % 2 == 1, form.starts(with: "h'".utf8) else { return false }
        return form.dropFirst(2).dropLast().allSatisfy { digit($0) != nil }
    }

    package static func spelling(of text: String) -> String {
        var text = text
        return text.withUTF8 { needsEscape(UnsafeRawBufferPointer($0)) } ? "\\" + text : text
    }

    package static func value(of spelling: UnsafeRawBufferPointer) -> CBORValue? {
        guard needsEscape(spelling) else { return nil }
        guard spelling.first == UInt8(ascii: "h") else {
            return .text(String(decoding: spelling.dropFirst(), as: UTF8.self))
        }
        let digits = spelling.dropFirst(2).dropLast().compactMap(digit)
        return .bytes(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// The value that a spelling stands for; any other text stands for itself.
    package static func value(of spelling: String) -> CBORValue {
        var text = spelling
        return text.withUTF8 { value(of: UnsafeRawBufferPointer($0)) } ?? .text(spelling)
    }

    /// The number of a digit; nil for capitals, because byte strings are spelled in lower case.
    private static func digit(_ character: UInt8) -> UInt8? {
        UInt8(ascii: "A")...UInt8(ascii: "F") ~= character ? nil : Hexadecimal.value(of: character)
    }
}

extension CBORValue {
    /// The value as the name of an object's member: a text, or the spelling of another value.
    package var memberName: String {
        switch self {
        case .text(let text): ByteText.spelling(of: text)
        case .bytes(let bytes): ByteText.spelling(of: bytes)
        default: json()
        }
    }
}
