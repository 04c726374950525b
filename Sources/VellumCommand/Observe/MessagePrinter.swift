import TerminalKit

struct MessagePrinter {
    enum Layout: Sendable {
        case human, tabs, json, raw
    }

    let layout: Layout
    let output: OutputWriter

    func print(_ message: LogMessage) throws {
        try print(message.bytes, sequence: message.sequence, time: message.time)
    }

    /// A message of a ring file has no number and no time.
    func print(_ message: [UInt8], sequence: UInt64? = nil, time: Timestamp? = nil) throws {
        switch layout {
        case .human: try printHuman(message, behind: time.map { Figures.date($0) + "  " } ?? "")
        case .tabs:
            try output.write("\(sequence.map { "\($0)" } ?? "")\t\(time.map(Figures.seconds) ?? "")\t")
            try output.write(Self.column(message))
        case .json:
            try JSONTree.object([
                ("sequence", sequence.map { .count($0) } ?? .cell(.absent)), ("time", .cell(Cell(time))),
                Self.content(message),
            ]).writeLine(to: output)
        case .raw: try TerminalSafe.write(message + [UInt8(ascii: "\n")], to: output)
        }
    }

    /// Escapes a text to one line; returns other bytes unchanged.
    private static func column(_ message: [UInt8]) -> [UInt8] {
        let text = String(validating: message, as: UTF8.self).map { Array(TerminalSafe.column($0).utf8) }
        return (text ?? message) + [UInt8(ascii: "\n")]
    }

    /// Indents further lines below the first.
    private func printHuman(_ message: [UInt8], behind time: String) throws {
        var margin = time
        var bytes = message[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            try output.write(margin + TerminalText.sanitized(bytes: line) + "\n")
            margin = String(repeating: " ", count: time.count)
        }
    }

    private static func content(_ message: [UInt8]) -> (name: String, value: JSONTree) {
        MessageText.text(message).map { ("text", .text($0)) }
            ?? ("data", .text(Data(message).base64EncodedString()))
    }
}
