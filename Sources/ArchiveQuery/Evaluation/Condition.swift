import CBOR

class Condition {
    /// A rough cost, which orders the parts of a conjunction or disjunction. Conditions have no side effects. Metadata are cheaper than
    /// values, which may be remote.
    enum Cost: Comparable {
        /// Needs only the index.
        case index
        /// Needs key, owner or creation time from the entry's frame.
        case frame
        /// Searches the text of metadata, such as the key.
        case metadataSearch
        case value
        case search
    }

    let cost: Cost

    init(cost: Cost) { self.cost = cost }

    func test(_ row: RowReader) throws(RowFault) -> Truth { .no }
}

/// The conjunction or disjunction of two conditions: iterating over an array of many would be slower than their tests.
final class Pair: Condition {
    private let first: Condition
    private let second: Condition
    private let needsBoth: Bool

    private init(_ first: Condition, _ second: Condition, needsBoth: Bool) {
        self.first = first
        self.second = second
        self.needsBoth = needsBoth
        super.init(cost: max(first.cost, second.cost))
    }

    /// The conjunction of the conditions, the cheapest first.
    static func all(_ parts: [Condition]) -> Condition { joined(parts, needsBoth: true) }

    /// The disjunction of the conditions, the cheapest first.
    static func any(_ parts: [Condition]) -> Condition { joined(parts, needsBoth: false) }

    private static func joined(_ parts: [Condition], needsBoth: Bool) -> Condition {
        let order = parts.enumerated().sorted {
            ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset)
        }.map(\.element)
        guard let first = order.first else { return Constant(needsBoth) }
        return order.dropFirst().reduce(first) { Pair($0, $1, needsBoth: needsBoth) }
    }

    override func test(_ row: RowReader) throws(RowFault) -> Truth {
        let truth = try first.test(row)
        if row.testsAll {
            let other = try second.test(row)
            return Truth.joined(truth, isConjunction: needsBoth) { other }
        }
        return try Truth.joined(truth, isConjunction: needsBoth) { () throws(RowFault) in
            try second.test(row)
        }
    }
}

private final class Constant: Condition {
    private let answer: Bool

    init(_ answer: Bool) {
        self.answer = answer
        super.init(cost: .index)
    }

    override func test(_ row: RowReader) throws(RowFault) -> Truth { Truth(answer) }
}

final class Negation: Condition {
    private let part: Condition

    init(_ part: Condition) {
        self.part = part
        super.init(cost: part.cost)
    }

    override func test(_ row: RowReader) throws(RowFault) -> Truth { !(try part.test(row)) }
}

private class Comparison: Condition {
    private let access: RowShape.Access
    final let relation: QueryRelation
    private let value: LiteralValue
    final let counter: KindCounts

    init(_ access: RowShape.Access, _ relation: QueryRelation, _ value: LiteralValue, _ counter: KindCounts) {
        self.access = access
        self.relation = relation
        self.value = value
        self.counter = counter
        super.init(cost: access.cost)
    }

    override func test(_ row: RowReader) throws(RowFault) -> Truth {
        let item = try row.item(access)
        counter.note(item.kind)
        return value.test(relation, item, counter)
    }
}

private final class IntegerComparison: Comparison {
    private let name: Int
    private let number: Int64

    init(_ name: Int, _ relation: QueryRelation, _ number: Int64, _ counter: KindCounts) {
        self.name = name
        self.number = number
        super.init(.property(name, [], way: 0), relation, .number(.integer(Int128(number))), counter)
    }

    override func test(_ row: RowReader) throws(RowFault) -> Truth {
        if let (bytes, place) = try row.place(ofProperty: name), let stored = bytes.smallInteger(at: place) {
            counter.note(.number)
            return Truth(relation.holds(stored, number))
        }
        return try super.test(row)
    }
}

private final class TextEquality: Comparison {
    private let name: Int
    /// The text, if it is short and ASCII.
    private let word: ShortText?

    init(_ name: Int, _ text: TextValue, _ counter: KindCounts) {
        self.name = name
        word = ShortText(ascii: text.string)
        super.init(.property(name, [], way: 0), .equal, .text(text), counter)
    }

    override func test(_ row: RowReader) throws(RowFault) -> Truth {
        guard let (bytes, place) = try row.place(ofProperty: name) else { return .no }
        if let word, let stored = ShortText(ofItemIn: bytes, at: place) {
            counter.note(.text)
            if stored == word { return .yes }
            // ASCII texts with different bytes are different.
            if stored.isASCII { return .no }
        }
        return try super.test(row)
    }
}

extension Condition {
    /// The comparison, specialized where that is faster.
    static func comparison(
        _ access: RowShape.Access, _ relation: QueryRelation, _ literal: QueryLiteral, _ counter: KindCounts
    ) -> Condition {
        let value = LiteralValue(literal)
        switch (access, literal) {
        case (_, .date), (_, .localDate):
            // Parses a text only once to see whether it is a date.
            guard case .date(let date) = value else { preconditionFailure("no date") }
            return PropertyCondition(access, counter, notesKinds: false) { item in
                if case .text(let text) = item, let stored = DateText.date(text) {
                    counter.note(.date)
                    return Truth(relation.holds(stored, date))
                }
                counter.note(item.kind)
                return value.test(relation, item, counter)
            }
        case (.elements, _): return PropertyCondition(access, counter) { value.test(relation, $0, counter) }
        case (.property(let name, [], _), .integer(let number)):
            return IntegerComparison(name, relation, number, counter)
        case (.property(let name, [], _), .text(let text)) where relation == .equal:
            return TextEquality(name, TextValue(text), counter)
        default: return Comparison(access, relation, value, counter)
        }
    }
}

final class Relation: Condition {
    private let left: RowShape.Access
    private let relation: QueryRelation
    private let right: RowShape.Access
    private let counter: KindCounts
    /// Counts values that can't be compared.
    private let pairs: KindCounts
    private let ignored: KindCounts

    init(
        _ left: RowShape.Access, _ relation: QueryRelation, _ right: RowShape.Access, _ counter: KindCounts,
        counting pairs: KindCounts, ignored: KindCounts
    ) {
        self.left = left
        self.relation = relation
        self.right = right
        self.counter = counter
        self.pairs = pairs
        self.ignored = ignored
        super.init(cost: max(left.cost, right.cost))
    }

    override func test(_ row: RowReader) throws(RowFault) -> Truth {
        var result = Truth.no
        var others = KindSet()
        try row.forEachItem(left) { (item) throws(RowFault) in
            if left.isMany { others.formUnion(row.kindsWithoutElements) }
            try row.forEachItem(right) { (other) throws(RowFault) in
                result = try Truth.joined(result, isConjunction: false) { () throws(RowFault) in
                    try test(item, other, row)
                }
                return result != .yes
            }
            return result != .yes
        }
        guard left.isMany || right.isMany else { return result }
        others.formUnion(row.kindsWithoutElements)
        guard result == .no, !others.isEmpty else { return result }
        pairs.count(.comparable)
        return .unknown
    }

    private func test(_ item: StoredItem, _ other: StoredItem, _ row: RowReader) throws(RowFault) -> Truth {
        switch (item, other) {
        case (.number(let left), .number(let right)):
            counter.note(.comparable)
            return Truth(NumberValue.compare(left, right).map(relation.holds) ?? (relation == .notEqual))
        case (.text(let left), .text(let right)) where UTF8Text.isASCII(left) && UTF8Text.isASCII(right):
            counter.note(.comparable)
            return Truth(relation.holds(UTF8Text.compareBytes(left, right)))
        case (.failed, _), (_, .failed): return .unknown
        case (.absent, .absent): return Truth(relation == .equal)
        case (.absent, _), (_, .absent): return Truth(relation == .notEqual)
        default: break
        }
        // A date and a text that is a date have an order.
        let areAlike = item.kind == other.kind
        let areComparable = areAlike || (item.isDate || other.isDate) && item.date != nil && other.date != nil
        counter.note(areComparable ? .comparable : .other)
        if let value = LiteralValue(other) {
            let result = value.test(relation, item, ignored)
            if !areComparable || result == .unknown { pairs.count(.comparable) }
            return result
        }
        guard !relation.isOrder else {
            pairs.count(.comparable)
            return .unknown
        }
        guard areAlike else {
            pairs.count(.comparable)
            return Truth(relation == .notEqual)
        }
        let (key, otherKey) = (try row.groupKey(item), try row.groupKey(other))
        return Truth((key == otherKey) == (relation == .equal))
    }
}

/// Any other test of one property, or of any element of a list. The closure's errors are encoding faults.
final class PropertyCondition: Condition {
    private let access: RowShape.Access
    private let counter: KindCounts
    private let notesKinds: Bool
    private let evaluate: (StoredItem) throws(CBORError) -> Truth

    /// - Parameter notesKinds: whether to record the kinds of items; false if the closure does.
    init(
        _ access: RowShape.Access, _ counter: KindCounts, isSearch: Bool = false, notesKinds: Bool = true,
        _ test: @escaping (StoredItem) throws(CBORError) -> Truth
    ) {
        self.access = access
        self.counter = counter
        self.notesKinds = notesKinds
        evaluate = test
        super.init(cost: isSearch ? (access.cost < .value ? .metadataSearch : .search) : access.cost)
    }

    override func test(_ row: RowReader) throws(RowFault) -> Truth {
        guard access.isMany else { return try test(try row.item(access), row) }
        var result = Truth.no
        try row.forEachItem(access) { (item) throws(RowFault) in
            result = try Truth.joined(result, isConjunction: false) { () throws(RowFault) in
                try test(item, row)
            }
            return result != .yes
        }
        guard result == .no, !row.kindsWithoutElements.isEmpty else { return result }
        counter.note(row.kindsWithoutElements)
        counter.count(.unlisted)
        return .unknown
    }

    private func test(_ item: StoredItem, _ row: RowReader) throws(RowFault) -> Truth {
        if notesKinds { counter.note(item.kind) }
        do throws(CBORError) { return try evaluate(item) } catch { throw row.spoiled() }
    }
}
