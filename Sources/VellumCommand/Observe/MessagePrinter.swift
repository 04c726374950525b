import StorageEngine
import StoreInspection
import TerminalKit

struct MessagePrinter {
    enum Layout: Sendable {
        case human, tabs, json, raw
    }

    let layout: Layout
    let output: OutputWriter

    func print(_ message: LogMessage) throws {
        switch layout {
        case .human: try printHuman(message.bytes, behind: Figures.date(message.time) + "  ")
        case .tabs:
            try output.write("\(message.sequence)\t\(Figures.seconds(message.time))\t")
            try output.write(Self.column(message.bytes))
        case .json: try Self.json(message).writeLine(to: output)
        case .raw: try TerminalSafe.write(message.bytes + [UInt8(ascii: "\n")], to: output)
        }
    }

    /// Prints a message of a ring file, which has no number and no time.
    func print(_ message: [UInt8]) throws {
        switch layout {
        case .human: try printHuman(message, behind: "")
        case .tabs:
            try output.write("\t\t")
            try output.write(Self.column(message))
        case .json:
            try JSONTree.object([
                ("sequence", .cell(.absent)), ("time", .cell(.absent)), Self.content(message),
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

    static func json(_ message: LogMessage) -> JSONTree {
        .object([
            ("sequence", .count(message.sequence)), ("time", .cell(.time(message.time))),
            content(message.bytes),
        ])
    }

    private static func content(_ message: [UInt8]) -> (name: String, value: JSONTree) {
        MessageText.text(message).map { ("text", .text($0)) }
            ?? ("data", .text(Data(message).base64EncodedString()))
    }
}
