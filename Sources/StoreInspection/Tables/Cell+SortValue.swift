import ArchiveQuery
import CBOR

extension Cell {
    /// Maximum compared characters.
    private static let longestCompared = 200

    /// The sort value: numbers and times by value, others by their text.
    package var sortValue: SortValue {
        switch self {
        case .bytes(let number), .count(let number): .number(.integer(Int128(number)))
        case .decimal(let number), .ratio(let number), .interval(let number), .rate(let number),
            .unbounded(let number):
            number.isNaN ? .absent : .number(.float(number))
        case .number(let text): Cell.number(text)
        case .time(let time), .deadline(let time, _), .clock(let time), .second(let time):
            .number(.integer(Int128(time.microseconds)))
        case .item(let item): Cell.value(of: item) ?? comparedText
        case .text: comparedText
        case .absent: .absent
        }
    }

    private var comparedText: SortValue { .text(String(human.prefix(Cell.longestCompared))) }

    private static func number(_ text: String) -> SortValue {
        guard !text.isEmpty, text.utf8.allSatisfy("0123456789+-.eE".utf8.contains) else { return .absent }
        return .number(NumberValue(DecimalNumber(text: text.utf8)))
    }

    private static func value(of item: [UInt8]) -> SortValue? {
        let value = SortValue(item: item)
        return value == .absent ? nil : value
    }
}
