import StorageEngine

/// What a cell is sorted by: a number by its size and a moment by its time, whatever they look like. A value; safe to share
/// between threads.
package enum CellValue: Sendable, Hashable {
    case integer(Int128)
    case number(Double)
    case text(String)
    case absent

    /// Characters of a text that are compared.
    private static let longest = 200

    package init(_ cell: Cell) {
        switch cell {
        case .bytes(let number), .count(let number): self = .integer(Int128(number))
        case .decimal(let number), .ratio(let number), .interval(let number), .rate(let number):
            self = .number(number)
        case .number(let text):
            if let whole = Int128(text) {
                self = .integer(whole)
            } else {
                self = Double(text).map { CellValue.number($0) } ?? .text(text)
            }
        case .time(let time), .deadline(let time, _), .clock(let time), .second(let time):
            self = .integer(Int128(time.microseconds))
        case .text, .item: self = .text(String(cell.human.prefix(CellValue.longest)))
        case .absent: self = .absent
        }
    }

    /// Negative if `left` comes first, positive if `right` does, 0 if neither. Numbers come before texts; what is absent comes
    /// last in both directions.
    package static func compare(_ left: CellValue, _ right: CellValue, isDescending: Bool) -> Int {
        switch (left, right) {
        case (.absent, .absent): return 0
        case (.absent, _): return 1
        case (_, .absent): return -1
        default:
            let order = compare(left, right)
            return isDescending ? -order : order
        }
    }

    private static func compare(_ left: CellValue, _ right: CellValue) -> Int {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): order(a, b)
        case (.text(let a), .text(let b)): order(a, b)
        case (.text, _): 1
        case (_, .text): -1
        default: order(left.double, right.double)
        }
    }

    private static func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : b < a ? 1 : 0 }

    private var double: Double {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        case .text, .absent: .nan
        }
    }
}
