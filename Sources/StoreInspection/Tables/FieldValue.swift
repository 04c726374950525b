import CBOR

/// Converts fields of CSV and TSV to JSON values, and recognizes texts that need an escape. The inverse of ``DelimitedText``.
///
/// | field | value |
/// |---|---|
/// | empty, without quotes | none: the object has no such property |
/// | `true`, `false`, `null`, without quotes | these |
/// | a number as JSON spells it, without quotes | the number; but `007` and `+1` are text |
/// | a whole JSON array or object, in quotes or not | the array or object; none if an object in it has a name twice |
/// | a JSON string, within quotes of its own, that escapes a text which would be read as one of the above | that text |
/// | `h'636166e9'`, in quotes or not | the byte string of these hexadecimal digits; behind a backslash: that text without it |
/// | anything else, and all else in quotes | text |
///
/// TSV has no quotes, so it also escapes numbers, words, empty texts, tabs, line ends and texts that begin with a quote.
package enum FieldValue {
    /// Appends the value of a non-empty field, which is valid UTF-8.
    /// - Throws: if an object has a repeated name; nothing is appended then.
    package static func read(
        _ field: UnsafeRawBufferPointer, isQuoted: Bool, of table: DelimitedText,
        into writer: inout CBORWriter
    ) throws(JSONError) {
        if !isQuoted {
            switch FieldKind(field) {
            case .integer, .number, .boolean, .null:
                if transcode(field, into: &writer) { return }
            case .container, .text: break
            }
        }
        try readText(field, of: table, into: &writer)
    }

    /// As ``read(_:isQuoted:of:into:)``, but numbers and words are text.
    package static func readText(
        _ field: UnsafeRawBufferPointer, of table: DelimitedText, into writer: inout CBORWriter
    ) throws(JSONError) {
        if mayBeContainer(field) {
            do throws(JSONError) {
                return try JSONTranscoder.transcode(field, into: &writer, uniqueNames: true, readsBytes: true)
            } catch {
                // Invalid JSON is text; valid JSON with a repeated name is an error.
                if case .repeatedName = error.reason, isContainer(field) { throw error }
            }
        }
        if let escaped = escapedText(in: field, of: table) {
            writer.write(escaped)
        } else if let value = ByteText.value(of: field) {
            writer.write(value)
        } else {
            writer.write(utf8: field)
        }
    }

    /// The text of an escaped `field`; nil if it needs no escape.
    package static func escapedText(in field: UnsafeRawBufferPointer, of table: DelimitedText) -> String? {
        guard table.hasEscapes, field.count >= 2, field.first == UInt8(ascii: "\"") else { return nil }
        var item = CBORWriter()
        guard transcode(field, into: &item), case .text(let text)? = try? CBORReader.decode(item.bytes) else {
            return nil
        }
        var content = text
        return content.withUTF8 { needsEscape(UnsafeRawBufferPointer($0), in: table) } ? text : nil
    }

    /// Whether a text needs an escape even in quotes.
    static func needsEscape(_ text: UnsafeRawBufferPointer, in table: DelimitedText) -> Bool {
        if !table.hasQuotes {
            // Another program could have quoted it.
            if text.isEmpty || text.first == UInt8(ascii: "\"") || endsField(text, table) { return true }
            if FieldKind(text) != .text || beginsWithByteOrderMark(text) { return true }
        }
        return isContainer(text) || escapedText(in: text, of: table) != nil
    }

    /// Whether a text needs quotes, because it would otherwise be read as another value.
    package static func needsQuotes(_ text: UnsafeRawBufferPointer, in table: DelimitedText) -> Bool {
        if text.isEmpty || text.first == 0x20 || text.last == 0x20 { return true }
        if beginsWithByteOrderMark(text) { return true }
        // The field would end early or look quoted.
        if endsField(text, table) || text.contains(UInt8(ascii: "\"")) { return true }
        return mayBeContainer(text) || FieldKind(text) != .text
    }

    static func isContainer(_ text: UnsafeRawBufferPointer) -> Bool {
        mayBeContainer(text) && text.jsonProblem == nil
    }

    /// Whether a text begins with a byte order mark, which readers drop at the beginning of a file.
    private static func beginsWithByteOrderMark(_ text: UnsafeRawBufferPointer) -> Bool {
        text.first == 0xef && text.starts(with: [0xef, 0xbb, 0xbf])
    }

    private static func endsField(_ text: UnsafeRawBufferPointer, _ table: DelimitedText) -> Bool {
        text.contains { $0 == table.separator || $0 == 0x0a || $0 == 0x0d }
    }

    private static func mayBeContainer(_ text: UnsafeRawBufferPointer) -> Bool {
        text.first == UInt8(ascii: "[") || text.first == UInt8(ascii: "{")
    }

    private static func transcode(_ text: UnsafeRawBufferPointer, into writer: inout CBORWriter) -> Bool {
        (try? JSONTranscoder.transcode(text, into: &writer)) != nil
    }
}
