import CBOR
import StoreInspection
import TerminalKit

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
