import StorageEngine
import StoreInspection

/// The events of one archive since the last look. A value; safe to share between threads.
package struct EventPage: Sendable, Hashable {
    package var archive: String
    package var batch: EventBatch

    package init(archive: String, _ batch: EventBatch) {
        self.archive = archive
        self.batch = batch
    }
}

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
        let content = ValueContent(
            Array(bytes.prefix(LogLine.limit)), total: bytes.count, encoding: .unknown)
        self.sequence = sequence
        self.time = time
        size = bytes.count
        text = bytes.isEmpty ? "" : content.text
    }
}
