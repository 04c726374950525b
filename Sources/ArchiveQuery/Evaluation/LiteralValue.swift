import CBOR

/// A value of a query, prepared for comparison with many items.
enum LiteralValue {
    case absent
    case boolean(Bool)
    case number(NumberValue)
    case text(TextValue)
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
        case .date(let microseconds): self = .date(StoredItem.date(microseconds: microseconds))
        }
    }

    /// A stored value, to compare another one with; nil for kinds that never match a comparison.
    init?(_ item: StoredItem) {
        switch item {
        case .absent: self = .absent
        case .boolean(let flag): self = .boolean(flag)
        case .number(let number): self = .number(number)
        case .text(let text): self = .text(TextValue(UTF8Text.string(text)))
        case .string(let text): self = .text(TextValue(text))
        case .date(let date): self = .date(date)
        case .bytes, .array, .map, .other: return nil
        }
    }

    /// Whether the item has this relation to the value. False for values of different kinds.
    @inline(__always)
    func isMet(_ relation: QueryRelation, by item: StoredItem) -> Bool {
        switch (self, item) {
        case (.text(let value), .text(let text)) where relation == .equal: value.isEqual(to: text)
        case (.text(let value), .text(let text)): relation.holds(value.order(of: text))
        case (.number(let value), .number(let number)):
            // NaN differs from every number.
            NumberValue.compare(number, value).map(relation.holds) ?? (relation == .notEqual)
        default: isMetRarely(relation, by: item)
        }
    }

    private func isMetRarely(_ relation: QueryRelation, by item: StoredItem) -> Bool {
        switch (self, item) {
        case (.absent, .absent): relation == .equal
        // Like nil in the typed API, an absent item differs from every value.
        case (.absent, _), (_, .absent): relation == .notEqual
        case (.text(let value), .string(let text)): relation.holds(value.order(of: text))
        case (.boolean(let value), .boolean(let flag)):
            relation == .equal ? flag == value : relation == .notEqual && flag != value
        case (.date(let value), .date(let date)): relation.holds(date, value)
        // A text in ISO 8601 counts as its date.
        case (.date(let value), .text(let text)):
            DateText.date(text).map { relation.holds($0, value) } ?? false
        case (.text(let value), .date(let date)): value.date.map { relation.holds(date, $0) } ?? false
        default: false
        }
    }
}

extension QueryRelation {
    /// Whether the relation holds for an order: negative for less, 0 for equal, positive for greater.
    @inline(__always)
    func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    func holds(_ left: Double, _ right: Double) -> Bool {
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
