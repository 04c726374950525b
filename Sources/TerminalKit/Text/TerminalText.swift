/// Makes any text harmless to a terminal, by showing characters that a terminal would execute or hide as ASCII escapes in
/// Swift's notation:
///
/// | in the text | shown |
/// |---|---|
/// | line feed, tab, carriage return, NUL, ESC | `\n`, `\t`, `\r`, `\0`, `\e` |
/// | other controls (C0, DEL, C1), line and paragraph separators | `\u{7}`, `\u{9b}`, `\u{2028}` |
/// | direction overrides and isolates, zero-width and other invisible characters | `\u{202e}`, `\u{200b}` |
/// | joiners, variation selectors and tags where they join or select nothing | `\u{200d}` |
/// | a combining mark without a base | `\u{301}` |
/// | a byte that isn't UTF-8 | `\xff` |
///
/// Backslashes stay, so the escapes are ambiguous. A cluster of more than 16 scalars keeps its first 16; no script needs more.
package enum TerminalText {
    static let maximumScalarsInCluster = 16

    /// The text with escapes for harmful characters. O(length); harmless text isn't copied.
    package static func sanitized(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text }
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for character in text {
            if isHarmless(character) {
                result.append(character)
            } else {
                result += sanitized(character)
            }
        }
        return result
    }

    /// Escapes everything beyond ASCII, such as `\u{e9}`.
    package static func ascii(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isASCII { result.unicodeScalars.append(scalar) } else { result += escape(scalar) }
        }
    }

    /// Decodes UTF-8; invalid bytes become `\xNN`.
    package static func sanitized(bytes: some Sequence<UInt8>) -> String {
        var result = ""
        var valid = String.UnicodeScalarView()
        var iterator = bytes.makeIterator()
        var pending: [UInt8] = []
        func flush(_ valid: inout String.UnicodeScalarView) {
            result += sanitized(String(valid))
            valid.removeAll(keepingCapacity: true)
        }
        while true {
            while pending.count < 4, let byte = iterator.next() { pending.append(byte) }
            guard let first = pending.first else { break }
            if let (scalar, length) = UTF8Scalar.decode(pending[...]) {
                valid.append(scalar)
                pending.removeFirst(length)
            } else {
                flush(&valid)
                result += "\\x" + hexadecimal(UInt32(first), digits: 2)
                pending.removeFirst()
            }
        }
        flush(&valid)
        return result
    }

    /// Whether a terminal shows this cluster and does nothing else.
    package static func isHarmless(_ character: Character) -> Bool {
        // The ASCII value of CR LF is that of LF.
        if let ascii = character.asciiValue { return ascii >= 0x20 && ascii < 0x7f }
        let scalars = character.unicodeScalars
        var previous: Unicode.Scalar?
        var index = scalars.startIndex
        var count = 0
        while index < scalars.endIndex {
            let next = scalars.index(after: index)
            let following = next < scalars.endIndex ? scalars[next] : nil
            if isHarmful(scalars[index], after: previous, before: following, base: scalars.first) {
                return false
            }
            previous = scalars[index]
            index = next
            count += 1
        }
        return count <= maximumScalarsInCluster
    }

    /// Whether a frame shows the cluster in full. Joiners and skin tones are left out.
    package static func isShownWhole(_ character: Character) -> Bool {
        isHarmless(character)
            && !character.unicodeScalars.contains {
                (0x200c...0x200d).contains($0.value) || TextWidth.isSkinTone($0)
            }
    }

    /// The cluster with escapes, which may be several clusters.
    static func sanitized(_ character: Character) -> String {
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        let scalars = Array(character.unicodeScalars.prefix(maximumScalarsInCluster))
        for (index, scalar) in scalars.enumerated() {
            let following = index + 1 < scalars.count ? scalars[index + 1] : nil
            if isHarmful(scalar, after: previous, before: following, base: scalars.first) {
                result.append(contentsOf: escape(scalar).unicodeScalars)
                previous = nil
            } else {
                result.append(scalar)
                previous = scalar
            }
        }
        return String(result)
    }

    /// Whether the scalar controls a terminal, a line or the direction of text: controls (C0, DEL, C1), line and paragraph
    /// separators, and direction controls. Refused in archive names and escaped in all output.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x300 { return scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) }
        if scalar.properties.isBidiControl { return true }
        return [.lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    package static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x00: "\\0"
        case 0x09: "\\t"
        case 0x0a: "\\n"
        case 0x0d: "\\r"
        case 0x1b: "\\e"
        default: "\\u{" + hexadecimal(scalar.value, digits: 1) + "}"
        }
    }

    /// Replaces the escapes in a text by their characters; nil if the text has no escape.
    package static func unescaped(_ text: String) -> String? {
        var result = String.UnicodeScalarView()
        var rest = Substring(text).unicodeScalars
        var isEscaped = false
        while let scalar = rest.popFirst() {
            guard scalar == "\\", let (meant, behind) = escaped(rest) else {
                result.append(scalar)
                continue
            }
            result.append(meant)
            rest = behind
            isEscaped = true
        }
        return isEscaped ? String(result) : nil
    }

    /// The scalar of an escape, given the text after its backslash, and the text after the escape; nil if it isn't an escape.
    private static func escaped(
        _ text: Substring.UnicodeScalarView
    ) -> (Unicode.Scalar, Substring.UnicodeScalarView)? {
        let rest = text.dropFirst()
        switch text.first {
        case "0": return ("\0", rest)
        case "t": return ("\t", rest)
        case "n": return ("\n", rest)
        case "r": return ("\r", rest)
        case "e": return ("\u{1b}", rest)
        case "u":
            guard rest.first == "{", let end = rest.prefix(12).firstIndex(of: "}"),
                let value = UInt32(String(rest[..<end].dropFirst()), radix: 16),
                let scalar = Unicode.Scalar(value)
            else { return nil }
            return (scalar, rest[rest.index(after: end)...])
        default: return nil
        }
    }

    private static func isHarmful(
        _ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before following: Unicode.Scalar?,
        base: Unicode.Scalar?
    ) -> Bool {
        let value = scalar.value
        if value < 0x300 { return isControl(scalar) || value == 0xad }
        switch value {
        case 0x200c, 0x200d:
            // Joiners shape emoji and scripts beyond ASCII; after ASCII or each other they only hide text.
            guard let previous, !previous.isASCII, !(0x200c...0x200d).contains(previous.value) else {
                return true
            }
            // U+200D is allowed inside a cluster; U+200C ends one.
            return value == 0x200d && following?.properties.isDefaultIgnorableCodePoint != false
        case 0xfe00...0xfe0f, 0xe0100...0xe01ef:
            guard let previous else { return true }
            if previous.isASCII { return !(value >= 0xfe0e && previous.properties.isEmoji) }
            return previous.properties.isVariationSelector
        case 0xe0020...0xe007f:
            // Tags spell the flags of regions after a black flag; elsewhere they are hidden text.
            return base?.value != 0x1f3f4 || previous == nil
        default: break
        }
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint { return true }
        switch properties.generalCategory {
        case .lineSeparator, .paragraphSeparator: return true
        case .format: return TextWidth.width(of: scalar) == 0
        case .nonspacingMark, .enclosingMark: return previous == nil
        default: return previous == nil && TextWidth.width(of: scalar) == 0
        }
    }

    package static func hexadecimal(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
