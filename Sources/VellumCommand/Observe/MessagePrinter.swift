import StorageEngine
import TerminalKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// For one thread. Prints the messages of a log.
struct MessagePrinter {
    enum Layout: Sendable {
        case human, tabs, json, raw
    }

    let layout: Layout
    let output: OutputWriter

    func print(_ message: LogMessage) throws(CommandFailure) {
        switch layout {
        case .human: try printHuman(message)
        case .tabs:
            try output.write("\(message.sequence)\t\(HumanText.seconds(message.time))\t")
            try output.write(message.bytes + [UInt8(ascii: "\n")])
        case .json: try Self.json(message).writeLine(to: output)
        case .raw: try TerminalSafe.write(message.bytes + [UInt8(ascii: "\n")], to: output)
        }
    }

    /// Further lines of a message stand below its first.
    private func printHuman(_ message: LogMessage) throws(CommandFailure) {
        let time = HumanText.localTime(message.time) + "  "
        var margin = time
        var bytes = message.bytes[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            try output.write(margin + TerminalText.sanitized(bytes: line) + "\n")
            margin = String(repeating: " ", count: time.count)
        }
    }

    static func json(_ message: LogMessage) -> JSONTree {
        let content: (name: String, value: JSONTree) =
            String(validating: message.bytes, as: UTF8.self).map { ("text", .text($0)) }
            ?? ("data", .text(Data(message.bytes).base64EncodedString()))
        return .object([
            ("sequence", .count(message.sequence)), ("time", .cell(.time(message.time))), content,
        ])
    }
}
