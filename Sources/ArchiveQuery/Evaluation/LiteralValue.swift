/// A value of a query, prepared for comparison with many items.
enum LiteralValue {
    case absent
    case boolean(Bool)
    case number(NumberValue)
    case text(TextValue)
    /// A key or an owner, compared by bytes.
    case key(TextValue)
    case date(Double)

    init(_ literal: QueryLiteral) {
        switch literal {
        case .null: self = .absent
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .number(.integer(Int128(number)))
        case .unsigned(let number): self = .number(.integer(Int128(number)))
        case .number(let number): self = .number(.float(number))
        case .exact(let number): self = .number(number.value)
        case .text(let text): self = .text(TextValue(text))
        case .duration(let microseconds):
            let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
            self =
                rest == 0
                ? .number(.integer(Int128(seconds))) : .number(.float(Double(microseconds) / 1_000_000))
        case .size(let bytes): self = .number(.integer(Int128(bytes)))
        case .date(let microseconds): self = .date(DateText.date(microseconds: microseconds))
        case .localDate(let date): self = .date(DateText.date(microseconds: QueryClock.moment(of: date)))
        }
    }

    /// For a comparison with another stored value; nil for kinds without literals.
    init?(_ item: StoredItem) {
        switch item {
        case .absent: self = .absent
        case .boolean(let flag): self = .boolean(flag)
        case .number(let number): self = .number(number)
        case .text(let text): self = .text(TextValue(UTF8Text.string(text)))
        case .string(let text): self = .text(TextValue(text))
        case .key(let key): self = .key(TextValue(key.string))
        case .date(let date): self = .date(date)
        case .bytes, .array, .map, .other, .failed: return nil
        }
    }

    /// Whether the item has this relation to the value. Counts an item of another kind, for which only `!=` is true.
    @inline(__always)
    func test(_ relation: QueryRelation, _ item: StoredItem, _ counter: KindCounts) -> Truth {
        switch (self, item) {
        case (.text(let value), .text(let text)) where relation == .equal: Truth(value.isEqual(to: text))
        case (.text(let value), .text(let text)): Truth(relation.holds(value.order(of: text)))
        case (.number(let value), .number(let number)):
            // NaN differs from every number.
            Truth(NumberValue.compare(number, value).map(relation.holds) ?? (relation == .notEqual))
        default: testRarely(relation, item, counter)
        }
    }

    private func testRarely(_ relation: QueryRelation, _ item: StoredItem, _ counter: KindCounts) -> Truth {
        switch (self, item) {
        case (.absent, .absent), (.absent, .failed): return Truth(relation == .equal)
        case (_, .failed): return .unknown
        // An absent item differs from every value, like nil in the typed API.
        case (.absent, _), (_, .absent): return Truth(relation == .notEqual)
        case (.text(let value), .string(let text)): return Truth(relation.holds(value.order(of: text)))
        case (.text(let value), .key), (.key(let value), .key), (.key(let value), .text),
            (.key(let value), .string):
            return Truth(relation.holds(item.withText { value.byteOrder(of: $0) } ?? 0))
        case (.boolean(let value), .boolean(let flag)) where !relation.isOrder:
            return Truth((flag == value) == (relation == .equal))
        default:
            return testDates(relation, item) ?? miss(relation, item, counter)
        }
    }

    /// Compares dates with dates and with texts, read as dates. Nil if both are of other kinds, or a text is no date.
    private func testDates(_ relation: QueryRelation, _ item: StoredItem) -> Truth? {
        let value: Double? =
            switch (self, item) {
            case (.date(let date), _): date
            case (.text(let text), .date), (.key(let text), .date): text.date
            default: nil
            }
        guard let value, let date = item.date else { return nil }
        return Truth(relation.holds(date, value))
    }

    private func miss(_ relation: QueryRelation, _ item: StoredItem, _ counter: KindCounts) -> Truth {
        counter.count(item.kind)
        // A text that is no date may be meant as one, so it is neither equal to a date nor different.
        let isUndated = isDate && item.isText || isText && item.isDate
        return isUndated || relation.isOrder ? .unknown : Truth(relation == .notEqual)
    }

    private var isDate: Bool { if case .date = self { true } else { false } }

    private var isText: Bool {
        switch self {
        case .text, .key: true
        default: false
        }
    }
}

extension StoredItem {
    /// The date, also of a text.
    var date: Double? {
        switch self {
        case .date(let date): date
        default: withText { DateText.date($0) }
        }
    }

    var isText: Bool { kind == .text }
    var isDate: Bool { kind == .date }
}

extension QueryRelation {
    var isOrder: Bool { self != .equal && self != .notEqual }

    /// `order`: negative for less, 0 for equal, positive for greater.
    @inline(__always) func holds(_ order: Int) -> Bool { holds(order, 0) }

    @inline(__always)
    func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }
}
