import StorageEngine
import TerminalKit

/// Sendable value type. One figure or text of a row, and its three spellings.
enum Cell: Sendable {
    case text(String)
    case bytes(UInt64)
    case count(UInt64)
    case decimal(Double)
    /// A number as JSON writes it.
    case number(String)
    case time(Timestamp)
    /// A moment of which a person wants to know how far off it is from the other.
    case deadline(Timestamp, now: Timestamp)
    /// A moment of today, to the millisecond and to the second.
    case clock(Timestamp)
    case second(Timestamp)
    /// Of something, in a second.
    case rate(Double)
    case absent

    init(_ text: String?) {
        self = text.map(Cell.text) ?? .absent
    }

    init(bytes: UInt64?) {
        self = bytes.map(Cell.bytes) ?? .absent
    }

    init(_ time: Timestamp?) {
        self = time.map(Cell.time) ?? .absent
    }

    /// For eyes: rounded sizes, local time, nothing that a terminal would obey.
    var human: String {
        switch self {
        case .text(let text): TerminalText.sanitized(text)
        case .bytes(let bytes): HumanText.size(bytes)
        case .count(let count): String(count)
        case .number(let text): text
        case .decimal(let number): HumanText.fixed(number, digits: 3)
        case .time(let time): HumanText.localTime(time)
        case .deadline(let time, let now):
            time <= now ? "over" : HumanText.interval(Double(time.microseconds - now.microseconds) / 1e6)
        case .clock(let time): HumanText.localClock(time)
        case .second(let time): String(HumanText.localClock(time).prefix { $0 != "." })
        case .rate(let number):
            number < 99.95 ? HumanText.fixed(number, digits: 1) : String(Int(min(number.rounded(), 1e15)))
        case .absent: "-"
        }
    }

    /// For programs that cut columns: text on one line, sizes in bytes, times in seconds since 1970, absent as nothing.
    var plain: String {
        switch self {
        case .text(let text): TerminalSafe.column(text)
        case .number(let text): text
        case .bytes(let number), .count(let number): String(number)
        case .decimal(let number), .rate(let number): HumanText.fixed(number, digits: 6)
        case .time(let time), .deadline(let time, _), .clock(let time), .second(let time):
            HumanText.seconds(time)
        case .absent: ""
        }
    }

    /// Whether it is set against the right edge of its column.
    var isNumber: Bool {
        switch self {
        case .bytes, .count, .decimal, .number, .rate: true
        case .text, .time, .deadline, .clock, .second, .absent: false
        }
    }

    func appendJSON(to output: inout [UInt8]) {
        switch self {
        case .text(let text): JSONText.append(text, to: &output)
        case .absent: output.append(contentsOf: "null".utf8)
        case .bytes, .count, .decimal, .number, .time, .deadline, .clock, .second, .rate:
            output.append(contentsOf: plain.utf8)
        }
    }
}
