import CBOR

/// Stateless; safe from any thread. What a field of a CSV file means as a JSON value, and how a JSON value is spelled
/// in one. The two are each other's inverse: what export writes, import reads back equal.
///
/// | field | value |
/// |---|---|
/// | empty, without quotes | none: the object has no such property |
/// | `true`, `false`, `null`, without quotes | these |
/// | a number without quotes that JSON would spell the same | the number: `42`, `-1.5`; but `007` and `1.50` are text |
/// | a whole JSON array or object, in quotes or not | the array or object |
/// | a JSON string, within quotes of its own, that escapes a text which would be read as one of the above two | that text |
/// | anything else, and all else in quotes | text |
package enum FieldValue {
    /// Appends the value of a field that has one. The field is valid UTF-8.
    package static func read(_ field: UnsafeRawBufferPointer, isQuoted: Bool, into writer: inout CBORWriter) {
        if !isQuoted, readWord(field, into: &writer) || readNumber(field, into: &writer) { return }
        if mayBeContainer(field), transcode(field, into: &writer) { return }
        if let escaped = escapedText(in: field) {
            writer.write(escaped)
        } else {
            writer.write(utf8: field)
        }
    }

    /// Whether a text would be read as an array, an object or an escaped text, even in quotes.
    package static func needsEscape(_ text: UnsafeRawBufferPointer) -> Bool {
        if mayBeContainer(text) {
            var scratch = CBORWriter()
            return transcode(text, into: &scratch)
        }
        return escapedText(in: text) != nil
    }

    /// Whether a text without quotes would be read as something other than this text.
    static func needsQuotes(_ text: UnsafeRawBufferPointer, separator: UInt8) -> Bool {
        if text.isEmpty || text.first == 0x20 || text.last == 0x20 { return true }
        // Where the field would end early or be taken for a quoted one.
        if text.contains(where: { $0 == separator || $0 == 0x22 || $0 == 0x0a || $0 == 0x0d }) { return true }
        var scratch = CBORWriter()
        return readWord(text, into: &scratch) || readNumber(text, into: &scratch) || mayBeContainer(text)
    }

    private static func readWord(_ field: UnsafeRawBufferPointer, into writer: inout CBORWriter) -> Bool {
        switch field.count {
        case 4 where field.elementsEqual("true".utf8): writer.write(true)
        case 4 where field.elementsEqual("null".utf8): writer.writeNull()
        case 5 where field.elementsEqual("false".utf8): writer.write(false)
        default: return false
        }
        return true
    }

    private static func readNumber(_ field: UnsafeRawBufferPointer, into writer: inout CBORWriter) -> Bool {
        guard let first = field.first,
            first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        else { return false }
        var item = CBORWriter()
        guard transcode(field, into: &item) else { return false }
        var spelling: [UInt8] = []
        let isPrinted = item.bytes.withUnsafeBytes { (try? JSONPrinter.print($0, into: &spelling)) != nil }
        return isPrinted && spelling.elementsEqual(field) && transcode(field, into: &writer)
    }

    private static func mayBeContainer(_ text: UnsafeRawBufferPointer) -> Bool {
        text.first == UInt8(ascii: "[") || text.first == UInt8(ascii: "{")
    }

    /// The text that `field`, a JSON string, stands for, if only a string can stand for it.
    private static func escapedText(in field: UnsafeRawBufferPointer) -> String? {
        guard field.count >= 2, field.first == UInt8(ascii: "\"") else { return nil }
        var item = CBORWriter()
        guard transcode(field, into: &item), case .text(let text)? = try? CBORReader.decode(item.bytes) else {
            return nil
        }
        var content = text
        return content.withUTF8 { needsEscape(UnsafeRawBufferPointer($0)) } ? text : nil
    }

    private static func transcode(_ text: UnsafeRawBufferPointer, into writer: inout CBORWriter) -> Bool {
        (try? JSONTranscoder.transcode(text, into: &writer)) != nil
    }
}
