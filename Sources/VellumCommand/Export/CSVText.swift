import BrowserCore
import CBOR

/// Stateless; safe from any thread. Spells values as fields of a CSV row, so that ``FieldValue`` reads them back equal.
enum CSVText {
    /// The first row, which names the properties.
    static func appendHeader(_ names: [String], to output: inout [UInt8]) {
        for (index, name) in names.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            appendField(name, to: &output)
        }
        output.append(UInt8(ascii: "\n"))
    }

    /// A row of these values; nil for a property that the object doesn't have.
    static func appendRow(_ values: [CBORValue?], to output: inout [UInt8]) {
        appendRow(items: values.map { $0?.encoded }, to: &output)
    }

    /// The same for values as CBOR items; what can't be read is left empty.
    static func appendRow(items: [[UInt8]?], to output: inout [UInt8]) {
        for (index, item) in items.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            if let item { try? append(item, to: &output) }
        }
        output.append(UInt8(ascii: "\n"))
    }

    /// Of a large value nothing is made but its text.
    private static func append(_ item: [UInt8], to output: inout [UInt8]) throws(CBORError) {
        if QueryCell.isText(item), case .text(let text) = try CBORReader.decode(item) {
            return appendText(text, to: &output)
        }
        let json = try JSONPrinter.text(of: item)
        switch json.utf8.first {
        case UInt8(ascii: "[")?, UInt8(ascii: "{")?:
            appendField(json, to: &output)
        case UInt8(ascii: "\"")?:
            // What JSON has no word for and prints as a string, such as bytes.
            if let item = try? JSONTranscoder.cbor(from: json),
                case .text(let text) = try CBORReader.decode(item)
            {
                appendText(text, to: &output)
            }
        default:
            output.append(contentsOf: json.utf8)
        }
    }

    private static func appendText(_ text: String, to output: inout [UInt8]) {
        var text = text
        let isEscaped = text.withUTF8 { FieldValue.needsEscape(UnsafeRawBufferPointer($0)) }
        appendField(isEscaped ? JSONText.string(text) : text, to: &output)
    }

    /// Quotes where the text would be taken for something else without them (RFC 4180, section 2).
    private static func appendField(_ text: String, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { content in
            guard FieldValue.needsQuotes(UnsafeRawBufferPointer(content)) else {
                return output.append(contentsOf: content)
            }
            DelimitedText.appendQuoted(content, to: &output)
        }
    }
}
