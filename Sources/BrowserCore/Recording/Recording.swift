import CBOR
import StoreInspection
import TerminalKit

/// Sendable value type. What a browser showed, and which keys were pressed, read from a file.
package struct Recording: Sendable {
    package let size: Size
    package let title: String
    /// In their order; times never decrease.
    package let events: [RecordedEvent]
    /// Whether the last line ends within an event, as where the program was killed or the disk was full.
    package let isCut: Bool

    /// Bytes of the longest file that is read.
    package static let limit = 512 << 20

    package var duration: Double { events.last?.time ?? 0 }

    /// - Throws: what isn't a recording, with the line where that shows.
    package init(contentsOf path: String) throws(SourceError) {
        try self.init(WholeFile.bytes(of: path, limit: Recording.limit), named: path)
    }

    /// `name`: of the file, for errors.
    package init(_ bytes: [UInt8], named name: String) throws(SourceError) {
        let newline = UInt8(ascii: "\n")
        var lines = bytes.split(separator: newline, omittingEmptySubsequences: false)[...]
        guard let header = lines.popFirst().flatMap(Self.header) else {
            throw SourceError(
                "\(name) is no recording: its first line isn't that of an asciicast of version 2")
        }
        (size, title) = header
        // Behind the last newline there is nothing, or a part of an event.
        let rest = lines.popLast()
        isCut = rest?.isEmpty == false
        var events: [RecordedEvent] = []
        for (index, line) in lines.enumerated() where !line.isEmpty {
            guard let event = RecordedEvent(line: Array(line)) else {
                throw SourceError("\(name), line \(index + 2): this is no event of a recording")
            }
            events.append(RecordedEvent(time: max(event.time, events.last?.time ?? 0), event.content))
        }
        self.events = events
    }

    private static func header(_ line: [UInt8].SubSequence) -> (size: Size, title: String)? {
        guard let item = try? JSONTranscoder.cbor(from: Array(line)),
            let map = (try? CBORReader.decode(item))?.asMap, map[key: "version"]?.asInt64 == 2,
            let columns = map[key: "width"]?.asInt64, let rows = map[key: "height"]?.asInt64,
            (1...1000).contains(columns), (1...1000).contains(rows)
        else { return nil }
        return (Size(columns: Int(columns), rows: Int(rows)), map[key: "title"]?.asString ?? "")
    }
}
