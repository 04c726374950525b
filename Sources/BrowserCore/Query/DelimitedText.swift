/// Stateless; safe from any thread. Fields of CSV and its kin (RFC 4180, section 2): UTF-8, compared by bytes, for a
/// quote that a combining mark follows is one too.
package enum DelimitedText {
    private static let quote = UInt8(ascii: "\"")

    /// Appends the fields as one line, in quotes where they need them.
    package static func appendLine(_ fields: [String], separator: UInt8, to output: inout [UInt8]) {
        for (index, field) in fields.enumerated() {
            if index > 0 { output.append(separator) }
            if needsQuotes(field.utf8, separator: separator) {
                appendQuoted(field.utf8, to: &output)
            } else {
                output.append(contentsOf: field.utf8)
            }
        }
        output.append(UInt8(ascii: "\n"))
    }

    /// Whether the field would end early or be taken for a quoted one.
    package static func needsQuotes(_ field: some Sequence<UInt8>, separator: UInt8) -> Bool {
        field.contains { $0 == separator || $0 == quote || $0 == 0x0a || $0 == 0x0d }
    }

    package static func appendQuoted(_ field: some Sequence<UInt8>, to output: inout [UInt8]) {
        output.append(quote)
        for byte in field {
            if byte == quote { output.append(quote) }
            output.append(byte)
        }
        output.append(quote)
    }
}
