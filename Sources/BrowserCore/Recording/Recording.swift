import CBOR
import StoreInspection
import TerminalKit

package struct Recording: Sendable {
    package let size: Size
    package let title: String
    /// Times never decrease.
    package let events: [RecordedEvent]
    /// Whether the last event is incomplete.
    package let isCut: Bool

    /// Maximum file size in bytes.
    package static let limit = 512 << 20

    package var duration: Double { events.last?.time ?? 0 }

    /// - Throws: if the file isn't a recording, with the line.
    package init(contentsOf path: String) throws(SourceError) {
        try self.init(WholeFile.bytes(of: path, limit: Recording.limit), named: path)
    }

    /// - Parameter name: the file's name in errors.
    package init(_ bytes: [UInt8], named name: String) throws(SourceError) {
        let newline = UInt8(ascii: "\n")
        var lines = bytes.split(separator: newline, omittingEmptySubsequences: false)[...]
        guard let header = lines.popFirst().flatMap(Self.header) else {
            throw SourceError(
                "\(name) is not a recording: its first line isn't a header of asciicast version 2")
        }
        (size, title) = header
        // The last line is empty or incomplete.
        let rest = lines.popLast()
        isCut = rest?.isEmpty == false
        var events: [RecordedEvent] = []
        for (index, line) in lines.enumerated() where !line.isEmpty {
            guard let event = RecordedEvent(line: Array(line)) else {
                throw SourceError("\(name), line \(index + 2): not an event of a recording")
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

/// A line of a recording.
///
/// The format is asciicast version 2 (<https://docs.asciinema.org/manual/asciicast/v2/>): a line of JSON with version, size
/// and start time, then a line `[SECONDS, CODE, TEXT]` for each event. Frames (`o`) are
/// ``TerminalKit/Frame/update(from:)``, keys (`i`) are spelled as in `--keys`, sizes (`r`) as `COLUMNSxROWS`.
package struct RecordedEvent: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case update(String)
        case keys(String)
        case resize(Size)
        /// A named position (`m`).
        case marker(String)
        case other
    }

    /// Seconds since the start, 0 to 10⁹.
    package let time: Double
    package let content: Content

    package init(time: Double, _ content: Content) {
        self.time = time
        self.content = content
    }

    var line: String {
        let (code, text) =
            switch content {
            case .update(let update): ("o", update)
            case .keys(let keys): ("i", keys)
            case .resize(let size): ("r", size.spelling)
            case .marker(let name): ("m", name)
            case .other: ("x", "")
            }
        let seconds = Figures.fixed(time, digits: 6)
        return JSONTree.array([.cell(.number(seconds)), .text(code), .text(text)]).text
    }

    init?(line: [UInt8]) {
        guard let item = try? JSONTranscoder.cbor(from: line),
            let parts = (try? CBORReader.decode(item))?.asArray, parts.count == 3,
            let seconds = parts[0].asDouble, (0...1e9).contains(seconds),
            let code = parts[1].asString, let text = parts[2].asString
        else { return nil }
        time = seconds
        switch code {
        case "o": content = .update(text)
        case "i": content = .keys(text)
        case "m": content = .marker(text)
        case "r":
            guard let size = Size(spelled: text) else { return nil }
            content = .resize(size)
        default: content = .other
        }
    }
}
