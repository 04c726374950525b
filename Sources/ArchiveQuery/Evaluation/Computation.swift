import CBOR

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A calculation, prepared for many rows.
final class Computation {
    enum Side {
        case access(RowShape.Access)
        case constant(StoredItem)
    }

    private let left: Side
    private let sign: QueryOperator
    private let right: Side

    init(_ left: Side, _ sign: QueryOperator, _ right: Side) {
        self.left = left
        self.sign = sign
        self.right = right
    }

    var cost: Condition.Cost {
        [left, right].reduce(.index) { cost, side in
            if case .access(let access) = side { max(cost, access.cost) } else { cost }
        }
    }

    func result(_ row: RowReader) throws(RowFault) -> StoredItem {
        Self.result(try value(left, row), sign, try value(right, row))
    }

    private func value(_ side: Side, _ row: RowReader) throws(RowFault) -> StoredItem {
        switch side {
        case .access(let access): try row.item(access)
        case .constant(let item): item
        }
    }

    private static func result(_ left: StoredItem, _ sign: QueryOperator, _ right: StoredItem) -> StoredItem {
        switch (left.orDate, right.orDate) {
        case (.number(let a), .number(let b)): result(a, sign, b).map(StoredItem.number) ?? .absent
        case (.date(let date), .number(let seconds)) where !sign.isProduct:
            .date(Microseconds.date(date, after: sign == .plus ? seconds.double : -seconds.double))
        case (.number(let seconds), .date(let date)) where sign == .plus:
            .date(Microseconds.date(date, after: seconds.double))
        case (.date(let later), .date(let earlier)) where sign == .minus:
            .number(NumberValue(seconds: Microseconds.seconds(from: earlier, to: later)))
        default: .absent
        }
    }

    /// Nil for a division by zero.
    private static func result(_ a: NumberValue, _ sign: QueryOperator, _ b: NumberValue) -> NumberValue? {
        if case .integer(let a) = a, case .integer(let b) = b, let exact = exact(a, sign, b) {
            return .integer(exact)
        }
        let (a, b) = (a.double, b.double)
        switch sign {
        case .plus: return .float(a + b)
        case .minus: return .float(a - b)
        case .times: return .float(a * b)
        case .dividedBy: return b == 0 ? nil : .float(a / b)
        }
    }

    /// The integer, if the result is one of 64 bits.
    private static func exact(_ a: Int128, _ sign: QueryOperator, _ b: Int128) -> Int128? {
        let (number, overflows): (Int128, Bool) =
            switch sign {
            case .plus: a.addingReportingOverflow(b)
            case .minus: a.subtractingReportingOverflow(b)
            case .times: a.multipliedReportingOverflow(by: b)
            case .dividedBy: b == 0 || a % b != 0 ? (0, true) : (a / b, false)
            }
        let isShort = number >= Int128(Int64.min) && number <= Int128(UInt64.max)
        return overflows || !isShort ? nil : number
    }
}

extension StoredItem {
    /// The operand as a number or date; nil for other kinds.
    init(_ literal: QueryLiteral) {
        self =
            switch LiteralValue(literal) {
            case .number(let number): .number(number)
            case .date(let date): .date(date)
            case .absent, .boolean, .text: .absent
            }
    }

    /// A text in ISO 8601 counts as its date.
    fileprivate var orDate: StoredItem {
        if case .text(let text) = self, let date = DateText.date(text) { .date(date) } else { self }
    }
}

/// Calculates with dates in microseconds, as exactly as they are written: a `Double` of seconds has no tenths, and each
/// calculation with it would add to that error.
private enum Microseconds {
    /// Seconds from 1970 to 2001.
    private static let reference = Int64(Date.timeIntervalBetween1970AndReferenceDate)
    /// 136 years. Up to there a `Double` tells microseconds apart.
    private static let longest = 0x1p32

    /// The date this many seconds after another one, both in the seconds of ``StoredItem/date(_:)``.
    static func date(_ start: Double, after seconds: Double) -> Double {
        guard let moment = moment(start), let length = count(seconds) else { return start + seconds }
        return StoredItem.date(microseconds: moment + length)
    }

    static func seconds(from earlier: Double, to later: Double) -> Double {
        guard let start = moment(earlier), let end = moment(later) else { return later - earlier }
        return Double(end - start) / 1_000_000
    }

    /// The date's microseconds since 1970; nil if it isn't a whole number of them.
    private static func moment(_ date: Double) -> Int64? {
        guard date.magnitude < longest else { return nil }
        let moment = Int64((date * 1_000_000).rounded()) + reference * 1_000_000
        // The nearest date counted from 1970, as most are stored, or from 2001, as Swift counts.
        return StoredItem.date(microseconds: moment) == date || count(date) != nil ? moment : nil
    }

    private static func count(_ seconds: Double) -> Int64? {
        guard seconds.magnitude < longest else { return nil }
        let count = Int64((seconds * 1_000_000).rounded())
        return Double(count) / 1_000_000 == seconds ? count : nil
    }
}

extension NumberValue {
    /// Whole seconds become an integer.
    fileprivate init(seconds: Double) {
        let isWhole = seconds == seconds.rounded() && seconds.magnitude < 0x1p53
        self = isWhole ? .integer(Int128(seconds)) : .float(seconds)
    }
}
