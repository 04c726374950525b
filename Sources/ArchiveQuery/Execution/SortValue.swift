import CBOR

/// A value to sort by. The order is total over all kinds: booleans, numbers, dates, texts, and last everything that
/// is absent, NaN or of another kind. A value; safe to share between threads.
package enum SortValue: Sendable, Hashable {
    case absent
    case boolean(Bool)
    case number(NumberValue)
    case date(Double)
    case text(String)
    /// A value without an order, by its encoding. Only for groups.
    case encoded([UInt8])

    /// For groups, which need an order for all values.
    init(_ item: StoredItem, encoded: [UInt8]?) {
        let value = SortValue(item)
        if case .absent = value, let encoded { self = .encoded(encoded) } else { self = value }
    }

    init(_ item: StoredItem) {
        switch item {
        case .boolean(let flag): self = .boolean(flag)
        case .number(let number): self = number.isNaN ? .absent : .number(number)
        case .date(let date): self = date.isNaN ? .absent : .date(date)
        case .text(let text): self = .text(MarkOrder.string(text))
        case .string(let text): self = .text(MarkOrder.string(text))
        case .absent, .bytes, .array, .map, .other: self = .absent
        }
    }

    /// The value of one CBOR item.
    package init(item: [UInt8]) {
        self =
            item.withUnsafeBytes { bytes in
                (try? StoredItem.read(bytes, at: 0)).map { SortValue($0) }
            } ?? .absent
    }

    private var kind: Int {
        switch self {
        case .boolean: 0
        case .number: 1
        case .date: 2
        case .text: 3
        case .encoded: 4
        case .absent: 5
        }
    }

    /// Negative if `left` comes first, positive if `right` does. Absent values come last in both directions.
    package static func compare(_ left: SortValue, _ right: SortValue, isDescending: Bool) -> Int {
        switch (left, right) {
        case (.absent, .absent): return 0
        case (.absent, _): return 1
        case (_, .absent): return -1
        default:
            let order = compare(left, right)
            return isDescending ? -order : order
        }
    }

    private static func compare(_ left: SortValue, _ right: SortValue) -> Int {
        switch (left, right) {
        case (.number(let a), .number(let b)): NumberValue.compare(a, b) ?? 0
        case (.text(let a), .text(let b)): TextOrder.compare(a, b)
        case (.date(let a), .date(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.boolean(let a), .boolean(let b)): (a ? 1 : 0) - (b ? 1 : 0)
        case (.encoded(let a), .encoded(let b)):
            a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
        default: left.kind - right.kind
        }
    }

    /// Approximate memory use beyond the value itself.
    var bytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .encoded(let bytes): bytes.count
        case .absent, .boolean, .number, .date: 0
        }
    }
}

/// The identity of a value in a grouping. Equal numbers are one group however they are encoded; texts compare like
/// Swift's strings. A value; safe to share between threads.
package enum GroupKey: Sendable, Hashable {
    case absent
    case boolean(Bool)
    case integer(Int128)
    case float(Double)
    case decimal(DecimalNumber)
    case date(Double)
    case text(String)
    /// An array, a map or bytes, by its encoding.
    case encoded([UInt8])
    /// Several properties.
    case several([GroupKey])

    /// - Parameter encoded: returns the item's encoding; called only for kinds that nothing else identifies.
    init(_ item: StoredItem, encoded: () throws(RowFault) -> [UInt8]?) throws(RowFault) {
        switch item {
        case .absent: self = .absent
        case .boolean(let flag): self = .boolean(flag)
        case .number(.integer(let number)): self = .integer(number)
        case .number(.float(let number)):
            if number.magnitude < 0x1p100, number == number.rounded() {
                self = .integer(Int128(number))
            } else {
                // All NaNs are one group.
                self = number.isNaN ? .encoded([]) : .float(number)
            }
        case .number(.decimal(let number)): self = .decimal(number)
        case .date(let date): self = .date(date)
        case .text(let text): self = .text(MarkOrder.string(text))
        case .string(let text): self = .text(MarkOrder.string(text))
        case .bytes, .array, .map, .other: self = try encoded().map(GroupKey.encoded) ?? .absent
        }
    }

    /// Approximate memory use beyond the value itself.
    package var bytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .encoded(let bytes): bytes.count
        case .several(let keys): keys.reduce(0) { $0 + $1.bytes + MemoryLayout<GroupKey>.stride }
        default: 0
        }
    }
}
