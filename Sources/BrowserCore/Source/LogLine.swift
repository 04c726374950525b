import StorageEngine
import StoreInspection
import TerminalKit

/// A message of a log, as much of it as is shown. A value; safe to share between threads.
package struct LogLine: Sendable, Hashable {
    package var sequence: UInt64
    /// Nil where messages are kept without: in a ring file.
    package var time: Timestamp?
    /// Size of the whole message in bytes.
    package var size: Int
    /// The message as text; nil when it isn't any.
    package var text: String?
    /// The bytes of one that isn't text.
    package var bytes: [UInt8] = []

    /// Bytes of a message that are read as text.
    package static let limit = 16 << 10

    package init(_ bytes: [UInt8], sequence: UInt64, time: Timestamp? = nil) {
        self.sequence = sequence
        self.time = time
        size = bytes.count
        text = MessageText.text(bytes.prefix(LogLine.limit), isCut: bytes.count > LogLine.limit)
        if text == nil { self.bytes = Array(bytes.prefix(LogLine.limit)) }
    }

    /// What a row shows of it, and patterns are held against: the text, or the first bytes as digits.
    var shown: String {
        text ?? bytes.prefix(LogLine.digits).map { TerminalText.hexadecimal(UInt32($0), digits: 2) }
            .joined(separator: " ") + (size > LogLine.digits ? " .." : "")
    }

    /// Bytes that a row shows as digits.
    private static let digits = 64
    /// Characters that are kept of what a search finds.
    private static let beginning = 1_000

    /// The message with no more than what a row shows.
    var beginning: LogLine {
        var line = self
        if let text, text.utf8.count > LogLine.beginning {
            line.text = String(text.prefix(LogLine.beginning))
        }
        line.bytes = Array(bytes.prefix(LogLine.digits))
        return line
    }
}
