/// Sendable value type. JSON that nests, of what the command itself has to say.
indirect enum JSONTree: Sendable {
    case cell(Cell)
    case flag(Bool)
    case object([(name: String, value: JSONTree)])
    case array([JSONTree])

    static func text(_ text: String?) -> JSONTree { .cell(Cell(text)) }
    static func count(_ count: some BinaryInteger) -> JSONTree { .cell(.count(UInt64(clamping: count))) }
    static func cells(_ members: [(name: String, value: Cell)]) -> JSONTree {
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
                JSONText.append(member.name, to: &output)
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
        }
    }

    /// On a line of its own.
    func writeLine(to output: OutputWriter) throws(CommandFailure) {
        var line: [UInt8] = []
        append(to: &line)
        line.append(UInt8(ascii: "\n"))
        try TerminalSafe.write(line, to: output)
    }
}
