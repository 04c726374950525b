import CBOR

/// Stateless; safe from any thread. JSON of what the command itself has to say.
enum JSONText {
    /// The text as a JSON string, in quotes.
    static func append(_ text: String, to output: inout [UInt8]) {
        var item = CBORWriter(capacity: text.utf8.count + 9)
        item.write(text)
        item.bytes.withUnsafeBytes { bytes in
            // A text that was just written is well-formed, so this can't fail; were it to, null is still JSON.
            if (try? JSONPrinter.print(bytes, into: &output)) == nil {
                output.append(contentsOf: "null".utf8)
            }
        }
    }

    static func string(_ text: String) -> String {
        var output: [UInt8] = []
        append(text, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// An object on one line with these members, in this order.
    static func appendObject(_ members: [(name: String, value: Cell)], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            append(member.name, to: &output)
            output.append(UInt8(ascii: ":"))
            member.value.appendJSON(to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}
