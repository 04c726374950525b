import StorageEngine
import StoreInspection
import TerminalKit

/// A moment of a log, from which its messages are counted.
package struct LogMoment: Sendable, Hashable {
    /// Identifies a log among logs of one name.
    package var identity: [UInt8] = []
    /// Identifies an index of the log. Each rebuilt index counts messages from its start.
    package var index: UInt64 = 0
    package var appended: UInt64 = 0

    /// Whether messages have the same numbers at both moments.
    func isOfIndex(of other: LogMoment) -> Bool { (identity, index) == (other.identity, other.index) }
}

package struct LogBatch: Sendable {
    /// Number of requested messages that no longer exist; they were before the lines.
    package let missing: Int
    package let lines: [LogLine]

    package init(missing: Int = 0, lines: [LogLine] = []) { (self.missing, self.lines) = (missing, lines) }
}

/// The shown part of a message.
package struct LogLine: Sendable, Hashable {
    package var sequence: UInt64
    /// Nil in ring files.
    package var time: Timestamp?
    package var size: Int
    package var text: String?
    /// The bytes if it isn't text.
    package var bytes: [UInt8] = []

    /// Maximum bytes of the text.
    package static let limit = 16 << 10

    /// - Parameter limit: maximum kept bytes.
    package init(_ bytes: [UInt8], sequence: UInt64, time: Timestamp? = nil, limit: Int = LogLine.limit) {
        self.sequence = sequence
        self.time = time
        size = bytes.count
        text = MessageText.text(bytes.prefix(limit), isCut: bytes.count > limit)
        if text == nil { self.bytes = Array(bytes.prefix(limit)) }
    }

    /// The texts that patterns match: the row's text and, for bytes that aren't text, their valid characters.
    var searched: [String] { text.map { [$0] } ?? [shown, String(decoding: bytes, as: UTF8.self)] }

    /// The text of the row: the text or the first bytes in hexadecimal.
    var shown: String {
        text ?? bytes.prefix(LogLine.digits).map { TerminalText.hexadecimal(UInt32($0), digits: 2) }
            .joined(separator: " ") + (size > LogLine.digits ? " .." : "")
    }

    private static let digits = 64
    /// Maximum kept characters of a match.
    private static let beginning = 1_000

    var beginning: LogLine {
        var line = self
        if let text, text.utf8.count > LogLine.beginning {
            line.text = String(text.prefix(LogLine.beginning))
        }
        line.bytes = Array(bytes.prefix(LogLine.digits))
        return line
    }
}
