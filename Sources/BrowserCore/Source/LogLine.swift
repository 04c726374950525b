import StorageEngine
import StoreInspection

/// A message of a log, as much of it as is shown. A value; safe to share between threads.
package struct LogLine: Sendable, Hashable {
    package var sequence: UInt64
    /// Nil where messages are kept without: in a ring file.
    package var time: Timestamp?
    /// Size of the whole message in bytes.
    package var size: Int
    /// The message as text; nil when it isn't any.
    package var text: String?

    /// Bytes of a message that are read as text.
    package static let limit = 16 << 10

    package init(_ bytes: [UInt8], sequence: UInt64, time: Timestamp? = nil) {
        self.sequence = sequence
        self.time = time
        size = bytes.count
        text = MessageText.text(bytes.prefix(LogLine.limit), isCut: bytes.count > LogLine.limit)
    }
}
