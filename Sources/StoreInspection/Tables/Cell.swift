import CBOR
import StorageEngine
import TerminalKit

/// A value of a row, on screen, in columns and in JSON.
package enum Cell: Sendable {
    case text(String)
    case bytes(UInt64)
    case count(UInt64)
    case decimal(Double)
    /// A share, 0 to 1.
    case ratio(Double)
    /// A number in JSON.
    case number(String)
    /// Infinity or NaN, which is null in JSON and CSV.
    case unbounded(Double)
    case time(Timestamp)
    /// A moment with its distance from another one.
    case deadline(Timestamp, now: Timestamp)
    /// A time of day, to the millisecond or second.
    case clock(Timestamp)
    case second(Timestamp)
    /// A duration in seconds.
    case interval(Double)
    /// A rate per second.
    case rate(Double)
    /// A CBOR item, which is JSON in columns and in JSON.
    case item([UInt8])
    case absent

    package init(_ text: String?) { self = text.map(Cell.text) ?? .absent }
    package init(bytes: UInt64?) { self = bytes.map(Cell.bytes) ?? .absent }
    package init(_ time: Timestamp?) { self = time.map(Cell.time) ?? .absent }

    /// A CBOR item: texts and numbers by value, byte strings as ``ByteText``, unreadable items as absent.
    package init(item: [UInt8]?) {
        self = .absent
        guard let item, let first = item.first else { return }
        // By the first byte (RFC 8949, 3): integers, texts, null and undefined, floats.
        switch first {
        case 0x00..<0x40: if let json = Cell.json(item) { self = .number(json) }
        case 0xf9...0xfb:
            if case .float(let number)? = try? CBORReader.decode(item), !number.isFinite {
                self = .unbounded(number)
            } else if let json = Cell.json(item) {
                self = .number(json)
            }
        case 0x40..<0x80:
            if let value = try? CBORReader.decode(item) { self = .text(value.memberName) }
        case 0xf6, 0xf7: break
        default: self = .item(item)
        }
    }

    /// Maximum bytes of an item on screen.
    private static let longestShown = 1 << 20

    static func tooLong(bytes count: Int) -> String { "\(Figures.bytes(UInt64(count))), too long for a cell" }

    private static func json(_ item: [UInt8]) -> String? { try? JSONPrinter.text(of: item) }

    /// A leaf as in the browser's tree, such as a date; else JSON.
    private static func shown(_ item: [UInt8]) -> String {
        // Longer items would take seconds.
        guard item.count <= longestShown else { return tooLong(bytes: item.count) }
        let isContainer = item.first.map { (0x80..<0xc0).contains($0) } ?? true
        let node = isContainer ? nil : (try? CBORReader.decode(item)).flatMap { ValueTree($0).nodes.first }
        return node.flatMap { $0.isContainer ? nil : $0.value } ?? json(item) ?? ""
    }

    static func isText(_ item: [UInt8]) -> Bool { item.first.map { $0 >> 5 == 3 } ?? false }

    /// The text on screen: rounded sizes, local time, without control characters.
    package var human: String {
        switch self {
        case .text(let text): TerminalText.sanitized(text)
        case .item(let item): TerminalText.sanitized(Cell.shown(item))
        case .bytes(let bytes): Figures.bytes(bytes)
        case .count(let count): Figures.count(count)
        case .number(let text): text
        case .unbounded: plain
        case .decimal(let number): Figures.fixed(number, digits: 3)
        case .ratio(let share): Figures.percent(share)
        case .time(let time): Figures.date(time)
        case .deadline(let time, let now): time <= now ? "over" : Figures.interval(time.seconds(since: now))
        case .clock(let time): Figures.clock(time)
        case .second(let time): Figures.time(time)
        case .interval(let seconds): Figures.interval(seconds)
        case .rate(let number): Figures.rate(number)
        case .absent: "-"
        }
    }

    /// The text in columns: one line, sizes in bytes, times in seconds since 1970, empty if absent.
    package var plain: String {
        switch self {
        case .text(let text): TerminalSafe.column(text)
        case .item(let item): TerminalSafe.column(json: Cell.json(item) ?? "")
        case .number(let text): text
        case .unbounded(let number): number.isNaN ? "nan" : number < 0 ? "-inf" : "inf"
        case .bytes(let number), .count(let number): String(number)
        case .decimal(let number), .ratio(let number), .rate(let number), .interval(let number):
            Figures.fixed(number, digits: 6)
        case .time(let time), .deadline(let time, _), .clock(let time), .second(let time):
            Figures.seconds(time)
        case .absent: ""
        }
    }

    /// Appends ``plain`` without creating a string for numbers and times.
    func appendPlain(to output: inout [UInt8]) {
        switch self {
        case .bytes(let number), .count(let number): Figures.append(number, digits: 1, to: &output)
        case .time(let time), .deadline(let time, _): Figures.appendSeconds(time, to: &output)
        case .absent: break
        default: output.append(contentsOf: plain.utf8)
        }
    }

    package var isAbsent: Bool { if case .absent = self { true } else { false } }

    /// Whether it is right-aligned.
    package var isNumber: Bool {
        switch self {
        case .bytes, .count, .decimal, .ratio, .number, .unbounded, .interval, .rate: true
        case .text, .time, .deadline, .clock, .second, .item, .absent: false
        }
    }

    func appendJSON(to output: inout [UInt8]) {
        switch self {
        case .text(let text): JSONTree.append(text, to: &output)
        case .item(let item): output.append(contentsOf: (Cell.json(item) ?? "null").utf8)
        case .absent, .unbounded: output.append(contentsOf: "null".utf8)
        default: output.append(contentsOf: plain.utf8)
        }
    }
}
