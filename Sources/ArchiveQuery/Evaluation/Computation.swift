/// A calculation or conversion, prepared for many rows.
protocol RowFunction: AnyObject {
    var cost: Condition.Cost { get }
    /// Absent if an operand is; `failed`, which is counted, if an operand has an unsupported kind.
    func result(_ row: RowReader) throws(RowFault) -> StoredItem
}

struct FailureCount {
    let counter: KindCounts?
    private var serial = -1

    init(_ counter: KindCounts?) { self.counter = counter }

    /// Counts a row once, however often it is evaluated.
    mutating func note(_ kind: KindSet, _ row: RowReader) -> StoredItem {
        if row.countsFailures, serial != row.serial {
            counter?.count(kind)
            serial = row.serial
        }
        return .failed
    }
}

final class Computation: RowFunction {
    enum Side {
        case access(RowShape.Access)
        case constant(StoredItem)

        init(_ access: RowShape.Access) {
            let function: (any RowFunction)? =
                if case .computed(let function) = access { function } else { nil }
            self = (function as? Computation)?.constant.map { .constant($0) } ?? .access(access)
        }
    }

    private let left: Side
    private let sign: QueryOperator
    private let right: Side
    private var failures: FailureCount

    init(_ left: Side, _ sign: QueryOperator, _ right: Side, _ counter: KindCounts?) {
        self.left = left
        self.sign = sign
        self.right = right
        failures = FailureCount(counter)
    }

    var cost: Condition.Cost {
        [left, right].reduce(.index) { cost, side in
            if case .access(let access) = side { max(cost, access.cost) } else { cost }
        }
    }

    /// The result, if both sides are constants and have one.
    var constant: StoredItem? {
        guard case .constant(let left) = left, case .constant(let right) = right else { return nil }
        return Self.result(left, sign, right)
    }

    func result(_ row: RowReader) throws(RowFault) -> StoredItem {
        let (left, right) = (try value(left, row).orDate, try value(right, row).orDate)
        if let result = Self.result(left, sign, right) { return result }
        switch (left, right) {
        case (.failed, _), (_, .failed): return .failed
        case (.absent, _), (_, .absent): return .absent
        case (.number, .number): return failures.note(.quotient, row)
        default:
            // A number plus a date has no result if the number is too large.
            let isLeftRight =
                switch left.kind {
                case .number: sign != .plus || !right.isDate
                case .date: !sign.isProduct
                default: false
                }
            return failures.note(isLeftRight ? right.kind : left.kind, row)
        }
    }

    private func value(_ side: Side, _ row: RowReader) throws(RowFault) -> StoredItem {
        switch side {
        case .access(let access): try row.item(access)
        case .constant(let item): item
        }
    }

    /// Nil for other kinds than numbers and dates, and where there is no result.
    private static func result(_ left: StoredItem, _ sign: QueryOperator, _ right: StoredItem) -> StoredItem?
    {
        switch (left, right) {
        case (.number(let a), .number(let b)): result(a, sign, b).map { .number($0) }
        case (.date(let date), .number(let seconds)) where !sign.isProduct:
            Microseconds.date(date, after: sign == .plus ? seconds.double : -seconds.double).map { .date($0) }
        case (.number(let seconds), .date(let date)) where sign == .plus:
            Microseconds.date(date, after: seconds.double).map { .date($0) }
        case (.date(let later), .date(let earlier)) where sign == .minus:
            .number(NumberValue(seconds: Microseconds.seconds(from: earlier, to: later)))
        default: nil
        }
    }

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

    /// Nil beyond 64 bits.
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
    init(_ literal: QueryLiteral) {
        self =
            switch LiteralValue(literal) {
            case .absent: .absent
            case .boolean(let flag): .boolean(flag)
            case .number(let number): .number(number)
            case .text(let text), .key(let text): .string(text.string)
            case .date(let date): .date(date)
            }
    }

    fileprivate var orDate: StoredItem { isText ? date.map { .date($0) } ?? self : self }
}

/// Calculates with dates in microseconds, because a `Double` of seconds can't represent tenths exactly.
enum Microseconds {
    /// Seconds from 1970 to 2001.
    private static let reference: Int64 = 978_307_200
    /// 1970-01-01 in the seconds of ``StoredItem/date(_:)``.
    static let start = DateText.date(microseconds: 0)
    /// 136 years, up to which a `Double` distinguishes microseconds.
    private static let longest = 0x1p32

    /// The date `seconds` later, both as ``StoredItem/date(_:)``; nil beyond 64 bits of microseconds from 1970.
    static func date(_ start: Double, after seconds: Double) -> Double? {
        guard let moment = moment(start), let length = count(seconds) else {
            let date = start + seconds
            return (date + Double(reference)).magnitude < 0x1p63 / 1_000_000 ? date : nil
        }
        return DateText.date(microseconds: moment + length)
    }

    static func seconds(from earlier: Double, to later: Double) -> Double {
        guard let start = moment(earlier), let end = moment(later) else { return later - earlier }
        return Double(end - start) / 1_000_000
    }

    /// The date's microseconds since 1970, to the nearest; nil if 64 bits don't hold them.
    static func since1970(_ date: Double) -> Int64? {
        let (seconds, fraction) = (date.rounded(.down), date - date.rounded(.down))
        guard seconds.magnitude < 0x1p63 / 1_000_000 else { return nil }
        let microseconds =
            (Int128(seconds) + Int128(reference)) * 1_000_000 + Int128((fraction * 1_000_000).rounded())
        return Int64(exactly: microseconds)
    }

    /// The date's microseconds since 1970; nil if it isn't a whole number of them.
    private static func moment(_ date: Double) -> Int64? {
        guard date.magnitude < longest, let moment = since1970(date) else { return nil }
        // The date must be the `Double` nearest to whole microseconds since 1970 (as most are stored) or 2001 (as in Swift).
        return DateText.date(microseconds: moment) == date || count(date) != nil ? moment : nil
    }

    private static func count(_ seconds: Double) -> Int64? {
        guard seconds.magnitude < longest else { return nil }
        let count = Int64((seconds * 1_000_000).rounded())
        return Double(count) / 1_000_000 == seconds ? count : nil
    }
}

extension NumberValue {
    init(seconds: Double) {
        let isWhole = seconds == seconds.rounded() && seconds.magnitude < 0x1p53
        self = isWhole ? .integer(Int128(seconds)) : .float(seconds)
    }
}
