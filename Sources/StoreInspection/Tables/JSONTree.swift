import CBOR

/// Sendable value type. JSON of what the program itself has to say: the one writer of its objects.
package indirect enum JSONTree: Sendable {
    case cell(Cell)
    case flag(Bool)
    case object([(name: String, value: JSONTree)])
    case array([JSONTree])
    /// JSON that is printed already.
    case printed([UInt8])

    package static func text(_ text: String?) -> JSONTree { .cell(Cell(text)) }
    package static func count(_ count: some BinaryInteger) -> JSONTree {
        .cell(.count(UInt64(clamping: count)))
    }
    package static func cells(_ members: [(name: String, value: Cell)]) -> JSONTree {
        .object(members.map { ($0.name, .cell($0.value)) })
    }

    /// On one line.
    func append(to output: inout [UInt8]) {
        switch self {
        case .cell(let cell): cell.appendJSON(to: &output)
        case .flag(let flag): output.append(contentsOf: (flag ? "true" : "false").utf8)
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONTree.append(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.append(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.append(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .printed(let json): output.append(contentsOf: json)
        }
    }

    /// On one line, without its end.
    package var text: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    package func write(to output: OutputWriter) throws(SourceError) {
        var text: [UInt8] = []
        append(to: &text)
        try TerminalSafe.write(text, to: output)
    }

    /// On a line of its own.
    package func writeLine(to output: OutputWriter) throws(SourceError) {
        var line: [UInt8] = []
        append(to: &line)
        line.append(UInt8(ascii: "\n"))
        try TerminalSafe.write(line, to: output)
    }

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
}
