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

    init(_ access: RowShape.Access, _ relation: QueryRelation, _ value: LiteralValue) {
        self.access = access
        self.relation = relation
        self.value = value
        super.init(cost: access.cost)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        value.isMet(relation, by: try row.item(access))
    }
}

/// Compares a property of the value with an integer.
private final class IntegerComparison: Condition {
    private let name: Int
    private let relation: QueryRelation
    private let number: Int64

    init(_ name: Int, _ relation: QueryRelation, _ number: Int64) {
        self.name = name
        self.relation = relation
        self.number = number
        super.init(cost: .value)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        if let (bytes, place) = try row.place(ofProperty: name), let stored = bytes.smallInteger(at: place) {
            return relation.holds(stored < number ? -1 : stored > number ? 1 : 0)
        }
        let value = LiteralValue.number(.integer(Int128(number)))
        return value.isMet(relation, by: try row.item(.property(name, [])))
    }
}

/// Tests whether a property of the value equals a text.
private final class TextEquality: Condition {
    private let name: Int
    private let text: TextValue
    /// The text itself, if it is short and ASCII.
    private let word: ShortText?

    init(_ name: Int, _ text: TextValue) {
        self.name = name
        self.text = text
        word = ShortText(ascii: text.string)
        super.init(cost: .value)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        guard let (bytes, place) = try row.place(ofProperty: name) else { return false }
        if let word, let stored = ShortText(ofItemIn: bytes, at: place) {
            if stored == word { return true }
            // ASCII texts with different bytes are different.
            if stored.isASCII { return false }
        }
        return LiteralValue.text(text).isMet(.equal, by: try row.item(.property(name, [])))
    }
}

extension Condition {
    /// The comparison, in a specialised form where one is faster.
    fileprivate static func comparison(
        _ access: RowShape.Access, _ relation: QueryRelation, _ literal: QueryLiteral
    ) -> Condition {
        switch (access, literal) {
        case (.property(let name, []), .integer(let number)): IntegerComparison(name, relation, number)
        case (.property(let name, []), .text(let text)) where relation == .equal:
            TextEquality(name, TextValue(text))
        default: Comparison(access, relation, LiteralValue(literal))
        }
    }
}

/// Every other test of one property. The closure's errors come from the property's encoding.
private final class PropertyCondition: Condition {
    private let access: RowShape.Access
    private let test: (StoredItem) throws(CBORError) -> Bool

    init(
        _ access: RowShape.Access, isSearch: Bool = false,
        _ test: @escaping (StoredItem) throws(CBORError) -> Bool
    ) {
        self.access = access
        self.test = test
        super.init(cost: isSearch ? max(access.cost, .search) : access.cost)
    }

    override func isMet(by row: RowReader) throws(RowFault) -> Bool {
        let item = try row.item(access)
        do throws(CBORError) { return try test(item) } catch { throw row.spoiled() }
    }
}

extension RowShape.Access {
    var cost: Condition.Cost {
        switch self {
        case .metadata(let metadata): metadata.isInFrame ? .frame : .index
        case .property: .value
        case .column, .nothing: .index
        }
    }
}

extension QueryPredicate {
    /// Compiles the predicate for rows of this shape.
    func condition(_ shape: RowShape, patience: SearchPatience) throws(QueryError) -> Condition {
        func parts(_ predicates: [QueryPredicate]) throws(QueryError) -> [Condition] {
            var parts: [Condition] = []
            for predicate in predicates { parts.append(try predicate.condition(shape, patience: patience)) }
            return parts
        }
        switch self {
        case .and(let predicates): return Pair.all(try parts(predicates))
        case .or(let predicates): return Pair.any(try parts(predicates))
        case .not(let predicate): return Negation(try predicate.condition(shape, patience: patience))
        case .compare(let property, let relation, let literal):
            return Condition.comparison(shape.access(to: property), relation, literal)
        case .between(let property, let low, let high):
            let access = shape.access(to: property)
            return Pair.all([
                Condition.comparison(access, .greaterOrEqual, low),
                Condition.comparison(access, .lessOrEqual, high),
            ])
        case .count(let property, let relation, let number):
            return PropertyCondition(shape.access(to: property)) { (item) throws(CBORError) in
                try item.count().map { relation.holds($0 < number ? -1 : $0 > number ? 1 : 0) } ?? false
            }
        case .isIn(let property, let literals):
            let values = LiteralSet(literals)
            return PropertyCondition(shape.access(to: property)) { values.place(of: $0) != nil }
        case .contains(let property, let text, let caseSensitive):
            let search = TextSearch(text, caseSensitive: caseSensitive)
            return PropertyCondition(shape.access(to: property), isSearch: true) { item in
                switch item {
                case .text(let text): search.isFound(inUTF8: text)
                case .string(let text): search.isFound(in: text)
                default: false
                }
            }
        case .matches(let property, let pattern):
            return try Self.matching(pattern, shape.access(to: property), patience)
        case .hasAny(let property, let literals):
            let values = LiteralSet(literals)
            return PropertyCondition(shape.access(to: property)) { (item) throws(CBORError) in
                var isMet = false
                try values.forEachElement(of: item) { _ in
                    isMet = true
                    return false
                }
                return isMet
            }
        case .hasAll(let property, let literals):
            let values = LiteralSet(literals)
            return PropertyCondition(shape.access(to: property)) { (item) throws(CBORError) in
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
            return PropertyCondition(shape.access(to: property)) { presence.isMet(by: $0) }
        }
    }

    private static func matching(
        _ pattern: String, _ access: RowShape.Access, _ patience: SearchPatience
    ) throws(QueryError) -> Condition {
        let compiled = TextPattern(pattern)
        guard compiled.isValid else { throw .invalidPattern(pattern) }
        return PropertyCondition(access, isSearch: true) { item in
            switch item {
            case .text(let text): compiled.matches(UTF8Text.string(text), within: patience)
            case .string(let text): compiled.matches(text, within: patience)
            default: false
            }
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
