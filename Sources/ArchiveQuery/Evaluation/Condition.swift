import CBOR

/// A predicate compiled for testing many rows.
class Condition {
    /// A rough cost, which orders the parts of a conjunction. Conditions have no side effects, so the order only
    /// changes the time.
    enum Cost: Int, Comparable {
        /// Needs the index only.
        case index
        /// Needs key, owner or creation time from the entry's frame.
        case frame
        case value
        /// Searches texts.
        case search

        static func < (left: Cost, right: Cost) -> Bool { left.rawValue < right.rawValue }
    }

    let cost: Cost

    init(cost: Cost) { self.cost = cost }

    func isMet(by row: RowReader) throws(RowFault) -> Bool { false }
}

/// The conjunction or disjunction of two conditions. Pairs, because iterating over an array of objects takes longer
/// than testing a condition.
private final class Pair: Condition {
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
    static func all(_ parts: [Condition]) -> Condition {
        let order = parts.enumerated().sorted {
            ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset)
        }
        return joined(order.map(\.element), needsBoth: true)
    }

    /// The disjunction of the conditions.
    static func any(_ parts: [Condition]) -> Condition { joined(parts, needsBoth: false) }

    private static func joined(_ parts: [Condition], needsBoth: Bool) -> Condition {
        guard let first = parts.first else { return Constant(needsBoth) }
        return parts.dropFirst().reduce(first) { Pair($0, $1, needsBoth: needsBoth) }
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        guard try first.isMet(by: row) == needsBoth else { return !needsBoth }
        return try second.isMet(by: row)
    }
}

/// True for every row, or false for every row.
private final class Constant: Condition {
    private let answer: Bool

    init(_ answer: Bool) {
        self.answer = answer
        super.init(cost: .index)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool { answer }
}

private final class Negation: Condition {
    private let part: Condition

    init(_ part: Condition) {
        self.part = part
        super.init(cost: part.cost)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        try part.isMet(by: row) == false
    }
}

private final class Comparison: Condition {
    private let access: RowShape.Access
    private let relation: QueryRelation
    private let value: LiteralValue
    private let sight: Sight

    init(_ access: RowShape.Access, _ relation: QueryRelation, _ value: LiteralValue, _ sight: Sight) {
        self.access = access
        self.relation = relation
        self.value = value
        self.sight = sight
        super.init(cost: access.cost)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        let item = try row.item(access)
        sight.note(item.kind)
        return value.isMet(relation, by: item)
    }
}

/// Compares a property of the value with an integer.
private final class IntegerComparison: Condition {
    private let name: Int
    private let relation: QueryRelation
    private let number: Int64
    private let sight: Sight

    init(_ name: Int, _ relation: QueryRelation, _ number: Int64, _ sight: Sight) {
        self.name = name
        self.relation = relation
        self.number = number
        self.sight = sight
        super.init(cost: .value)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        if let (bytes, place) = try row.place(ofProperty: name), let stored = bytes.smallInteger(at: place) {
            sight.note(.number)
            return relation.holds(stored < number ? -1 : stored > number ? 1 : 0)
        }
        let value = LiteralValue.number(.integer(Int128(number)))
        let item = try row.item(.property(name, [], way: 0))
        sight.note(item.kind)
        return value.isMet(relation, by: item)
    }
}

/// Tests whether a property of the value equals a text.
private final class TextEquality: Condition {
    private let name: Int
    private let text: TextValue
    /// The text itself, if it is short and ASCII.
    private let word: ShortText?
    private let sight: Sight

    init(_ name: Int, _ text: TextValue, _ sight: Sight) {
        self.name = name
        self.text = text
        self.sight = sight
        word = ShortText(ascii: text.string)
        super.init(cost: .value)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        guard let (bytes, place) = try row.place(ofProperty: name) else { return false }
        if let word, let stored = ShortText(ofItemIn: bytes, at: place) {
            sight.note(.text)
            if stored == word { return true }
            // ASCII texts with different bytes are different.
            if stored.isASCII { return false }
        }
        let item = try row.item(.property(name, [], way: 0))
        sight.note(item.kind)
        return LiteralValue.text(text).isMet(.equal, by: item)
    }
}

extension Condition {
    /// The comparison, in a specialised form where one is faster.
    fileprivate static func comparison(
        _ access: RowShape.Access, _ relation: QueryRelation, _ literal: QueryLiteral, _ sight: Sight
    ) -> Condition {
        let value = LiteralValue(literal)
        switch (access, literal) {
        case (.elements, _):
            return PropertyCondition(access, sight) { value.isMet(relation, by: $0) }
        case (.property(let name, [], _), .integer(let number)):
            return IntegerComparison(name, relation, number, sight)
        case (.property(let name, [], _), .text(let text)) where relation == .equal:
            return TextEquality(name, TextValue(text), sight)
        case (_, .date(let microseconds)):
            // Parses a text only once to see whether it is a date.
            let date = StoredItem.date(microseconds: microseconds)
            return PropertyCondition(access, notingItself: sight) { item in
                if case .text(let text) = item, let stored = DateText.date(text) {
                    sight.note(.date)
                    return relation.holds(stored, date)
                }
                sight.note(item.kind)
                return value.isMet(relation, by: item)
            }
        default: return Comparison(access, relation, value, sight)
        }
    }
}

/// Whether two properties of a row have this relation.
private final class Relation: Condition {
    private let left: RowShape.Access
    private let relation: QueryRelation
    private let right: RowShape.Access
    private let sight: Sight

    init(_ left: RowShape.Access, _ relation: QueryRelation, _ right: RowShape.Access, _ sight: Sight) {
        self.left = left
        self.relation = relation
        self.right = right
        self.sight = sight
        super.init(cost: max(left.cost, right.cost))
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        var isMet = false
        try row.forEachItem(left) { (item) throws(RowFault) in
            try row.forEachItem(right) { other in
                isMet = holds(item, other)
                return !isMet
            }
            return !isMet
        }
        return isMet
    }

    private func holds(_ item: StoredItem, _ other: StoredItem) -> Bool {
        switch (item, other) {
        case (.number(let left), .number(let right)):
            sight.note(.comparable)
            return NumberValue.compare(left, right).map(relation.holds) ?? (relation == .notEqual)
        case (.text(let left), .text(let right)) where UTF8Text.isASCII(left) && UTF8Text.isASCII(right):
            sight.note(.comparable)
            return relation.holds(UTF8Text.compareBytes(left, right))
        default:
            // What is absent differs from what is never compared, too.
            let value = LiteralValue(other)
            let isMet =
                value?.isMet(relation, by: item) ?? (item.kind.isEmpty && relation == .notEqual)
            if item.kind.isEmpty || other.kind.isEmpty { return isMet }
            // A date and a text that is one have an order.
            let areComparable =
                item.kind == other.kind || value?.isMet(.lessOrEqual, by: item) == true
                || value?.isMet(.greaterOrEqual, by: item) == true
            sight.note(areComparable ? .comparable : .other)
            return isMet
        }
    }
}

/// Every other test of one property. If the property is all elements of a list, one that matches is enough. The closure's
/// errors come from the property's encoding.
private final class PropertyCondition: Condition {
    private let access: RowShape.Access
    private let sight: Sight?
    private let test: (StoredItem) throws(CBORError) -> Bool

    init(
        _ access: RowShape.Access, _ sight: Sight, isSearch: Bool = false,
        _ test: @escaping (StoredItem) throws(CBORError) -> Bool
    ) {
        self.access = access
        self.sight = sight
        self.test = test
        super.init(cost: isSearch ? max(access.cost, .search) : access.cost)
    }

    /// For closures that note the kinds themselves.
    init(
        _ access: RowShape.Access, notingItself: Sight,
        _ test: @escaping (StoredItem) throws(CBORError) -> Bool
    ) {
        self.access = access
        sight = nil
        self.test = test
        super.init(cost: access.cost)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        guard access.isMany else { return try isMet(try row.item(access), row) }
        var isFound = false
        try row.forEachItem(access) { (item) throws(RowFault) in
            isFound = try isMet(item, row)
            return !isFound
        }
        return isFound
    }

    private func isMet(_ item: StoredItem, _ row: RowReader) throws(RowFault) -> Bool {
        sight?.note(item.kind)
        do throws(CBORError) { return try test(item) } catch { throw row.spoiled() }
    }
}

extension RowShape.Access {
    var cost: Condition.Cost {
        switch self {
        case .metadata(let metadata): metadata.isInFrame ? .frame : .index
        case .property: .value
        case .elements(let elements): if case .property = elements.start { .value } else { .index }
        case .computed(let computation): computation.cost
        case .column, .nothing: .index
        }
    }
}

extension QueryPredicate {
    /// Compiles the predicate for rows of this shape.
    func condition(_ shape: RowShape, _ answers: QueryAnswers) throws(QueryError) -> Condition {
        func parts(_ predicates: [QueryPredicate]) throws(QueryError) -> [Condition] {
            var parts: [Condition] = []
            for predicate in predicates { parts.append(try predicate.condition(shape, answers)) }
            return parts
        }
        func asked(_ property: QueryProperty, _ kinds: KindSet) -> (RowShape.Access, Sight) {
            (shape.access(to: property), answers.sight(property, wanting: kinds, description))
        }
        switch self {
        case .and(let predicates): return Pair.all(try parts(predicates))
        case .or(let predicates): return Pair.any(try parts(predicates))
        case .not(let predicate): return Negation(try predicate.condition(shape, answers))
        case .compare(let property, let relation, let literal):
            let (access, sight) = asked(property, literal.kind)
            return Condition.comparison(access, relation, literal, sight)
        case .relate(let property, let relation, let other):
            let (access, sight) = asked(property, .comparable)
            return Relation(access, relation, shape.access(to: other), sight)
        case .between(let property, let low, let high):
            let (access, sight) = asked(property, low.kind.union(high.kind))
            if access.isMany {
                // A single element must lie between both, not one above and another below.
                let (low, high) = (LiteralValue(low), LiteralValue(high))
                return PropertyCondition(access, sight) {
                    low.isMet(.greaterOrEqual, by: $0) && high.isMet(.lessOrEqual, by: $0)
                }
            }
            return Pair.all([
                Condition.comparison(access, .greaterOrEqual, low, sight),
                Condition.comparison(access, .lessOrEqual, high, sight),
            ])
        case .count(let property, let relation, let number):
            let (access, sight) = asked(property, .collections)
            return PropertyCondition(access, sight) { (item) throws(CBORError) in
                // What is absent differs from every number, as everywhere.
                if case .absent = item { return relation == .notEqual }
                return try item.count().map { relation.holds($0 < number ? -1 : $0 > number ? 1 : 0) }
                    ?? false
            }
        case .isIn(let property, let literals):
            let values = LiteralSet(literals)
            let kinds = literals.contains(.null) ? [] : literals.reduce(KindSet()) { $0.union($1.kind) }
            let (access, sight) = asked(property, kinds)
            return PropertyCondition(access, sight) { values.place(of: $0) != nil }
        case .contains, .startsWith, .endsWith, .like, .matches:
            return try searching(shape, answers)
        case .hasAny(let property, let literals):
            let values = LiteralSet(literals)
            let (access, sight) = asked(property, [.list, .text])
            return PropertyCondition(access, sight) { (item) throws(CBORError) in
                var isMet = false
                try values.forEachElement(of: item) { _ in
                    isMet = true
                    return false
                }
                return isMet
            }
        case .hasAll(let property, let literals):
            let values = LiteralSet(literals)
            let (access, sight) = asked(property, [.list, .text])
            return PropertyCondition(access, sight) { (item) throws(CBORError) in
                // Only arrays and texts can have all elements, even of an empty list.
                guard item.hasElements else { return false }
                var found: Set<Int> = []
                try values.forEachElement(of: item) { place in
                    found.insert(place)
                    return found.count < values.count
                }
                return found.count == values.count
            }
        case .presence(let property, let presence):
            let (access, sight) = asked(property, presence.kinds)
            return PropertyCondition(access, sight) { presence.isMet(by: $0) }
        }
    }

    /// Compiles a search in texts.
    private func searching(_ shape: RowShape, _ answers: QueryAnswers) throws(QueryError) -> Condition {
        func search(
            _ property: QueryProperty, _ inBytes: @escaping (UnsafeRawBufferPointer) -> Bool,
            _ inString: @escaping (String) -> Bool
        ) -> Condition {
            let sight = answers.sight(property, wanting: .text, description)
            return PropertyCondition(shape.access(to: property), sight, isSearch: true) { item in
                switch item {
                case .text(let text): inBytes(text)
                case .string(let text): inString(text)
                default: false
                }
            }
        }
        switch self {
        case .contains(let property, let text, let caseSensitive):
            let part = TextSearch(text, caseSensitive: caseSensitive)
            return search(property, { part.isFound(inUTF8: $0) }, { part.isFound(in: $0) })
        case .startsWith(let property, let text), .endsWith(let property, let text):
            let isEnd = if case .endsWith = self { true } else { false }
            let edge = TextEdge(text, atEnd: isEnd)
            return search(property, { edge.isFound(inUTF8: $0) }, { edge.isFound(in: $0) })
        case .like(let property, let pattern, let caseSensitive):
            let like = LikePattern(pattern, caseSensitive: caseSensitive)
            return search(property, { like.matches(utf8: $0) }, { like.matches($0) })
        case .matches(let property, let pattern):
            let compiled = TextPattern(pattern)
            guard compiled.isValid else { throw .invalidPattern(pattern) }
            let filter = PatternFilter(MarkOrder.composed(pattern))
            let patience = answers.patience
            return search(
                property,
                { filter.verdict($0) ?? compiled.matches(UTF8Text.string($0), within: patience) },
                { compiled.matches($0, within: patience) })
        default: preconditionFailure("no search")
        }
    }
}

extension StoredItem {
    fileprivate var hasElements: Bool {
        switch self {
        case .array, .text, .string: true
        default: false
        }
    }
}

extension QueryPresence {
    /// The kinds that it applies to; empty if it applies to all.
    fileprivate var kinds: KindSet {
        switch self {
        case .null, .notNull, .nullOrEmpty: []
        case .empty, .notEmpty: .collections
        }
    }

    fileprivate func isMet(by item: StoredItem) -> Bool {
        let isAbsent = if case .absent = item { true } else { false }
        switch self {
        case .null: return isAbsent
        case .notNull: return !isAbsent
        case .empty: return item.isEmpty ?? false
        case .notEmpty: return item.isEmpty.map { !$0 } ?? false
        case .nullOrEmpty: return isAbsent || item.isEmpty ?? false
        }
    }
}

extension StoredItem {
    /// Whether it is empty; nil for kinds without content.
    fileprivate var isEmpty: Bool? {
        switch self {
        case .text(let text): text.isEmpty
        case .string(let text): text.isEmpty
        case .bytes(let count): count == 0
        case .array(_, let count?), .map(_, let count?): count == 0
        case .array(let reader, nil), .map(let reader, nil): reader.isAtBreak
        case .absent, .boolean, .number, .date, .other: nil
        }
    }
}

extension CBORReader {
    fileprivate var isAtBreak: Bool {
        var reader = self
        return reader.readBreak()
    }
}
