import ArchiveQuery
import Foundation

/// Converts finders into predicates on encoded values. These may accept more objects, so results are tested again.
extension PropertyTest {
    func predicate(about property: QueryProperty) -> QueryPredicate? {
        switch self {
        case .contains(let text, let caseSensitive):
            return .contains(property, text, caseSensitive: caseSensitive)
        case .matches(let pattern): return .matches(property, pattern: pattern)
        case .containsAny(let members):
            return Self.parts(members, property).map { .or($0) }
                ?? Self.literals(members).map { .hasAny(property, $0) }
        case .containsAll(let members):
            return Self.parts(members, property).map { .and($0) }
                ?? Self.literals(members).map { .hasAll(property, $0) }
        case .count(let relation, let count): return .count(property, relation.inQueries, count)
        case .value(let relation, let operand?): return Self.comparison(property, relation, operand)
        case .value(.equal, nil), .isNil: return .presence(property, .null)
        case .value(.notEqual, nil), .isNotNil: return .presence(property, .notNull)
        case .isEmpty: return .presence(property, .empty)
        case .isNotEmpty: return .presence(property, .notEmpty)
        case .isNilOrEmpty: return .presence(property, .nullOrEmpty)
        case .value, .isValid: return nil
        }
    }

    var isExact: Bool {
        switch self {
        case .matches, .isValid: false
        case .value(_, let operand): !(operand is Date)
        case .contains, .containsAny, .containsAll, .count, .isNil, .isNotNil, .isEmpty, .isNotEmpty,
            .isNilOrEmpty:
            true
        }
    }

    private static func parts(_ members: [Any], _ property: QueryProperty) -> [QueryPredicate]? {
        guard let characters = members as? [Character], !characters.isEmpty else { return nil }
        return characters.map { .contains(property, String($0), caseSensitive: true) }
    }

    /// Nil without members, because these may be characters or elements.
    private static func literals(_ members: [Any]) -> [QueryLiteral]? {
        let literals = members.compactMap { $0 is Date ? nil : literal($0) }
        return literals.count == members.count && !literals.isEmpty ? literals : nil
    }

    private static func comparison(
        _ property: QueryProperty, _ relation: Relation, _ operand: Any
    ) -> QueryPredicate? {
        if let date = operand as? Date { return comparison(property, relation, with: date) }
        return literal(operand).map { .compare(property, relation.inQueries, $0) }
    }

    /// Queries know dates to the microsecond, so near ones are accepted, and untagged numbers: infinite dates.
    private static func comparison(
        _ property: QueryProperty, _ relation: Relation, with date: Date
    ) -> QueryPredicate? {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        // Well within the range of years that a query can express.
        guard abs(microseconds) < 60_000_000_000_000_000 else { return nil }
        let before = QueryLiteral.date(microseconds: Int64(microseconds) - 2)
        let after = QueryLiteral.date(microseconds: Int64(microseconds) + 2)
        let marked: QueryPredicate
        switch relation {
        case .equal: marked = .between(property, before, after)
        case .notEqual: return nil
        case .greater, .greaterOrEqual: marked = .compare(property, .greaterOrEqual, before)
        case .less, .lessOrEqual: marked = .compare(property, .lessOrEqual, after)
        }
        return .or([
            marked, .compare(property, .greaterOrEqual, .integer(0)), .compare(property, .less, .integer(0)),
        ])
    }

    /// The operand as a literal; `nil` for types without literals and values without an order.
    private static func literal(_ operand: Any) -> QueryLiteral? {
        switch operand {
        case let text as String: .text(text)
        case let flag as Bool: .boolean(flag)
        case let character as Character: .text(String(character))
        case let number as any FixedWidthInteger: literal(integer: number)
        case let number as Double: number.isFinite ? .number(number) : nil
        case let number as Float: number.isFinite ? .number(Double(number)) : nil
        default: nil
        }
    }

    private static func literal(integer number: some FixedWidthInteger) -> QueryLiteral? {
        Int64(exactly: number).map { .integer($0) } ?? UInt64(exactly: number).map { .unsigned($0) }
    }
}

extension PropertyTest.Relation {
    fileprivate var inQueries: QueryRelation {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .greater: .greater
        case .less: .less
        case .greaterOrEqual: .greaterOrEqual
        case .lessOrEqual: .lessOrEqual
        }
    }
}

extension QueryCondition {
    /// Returns a predicate that accepts all that the condition accepts (`inverted`: rejects), or `nil`. `property` encodes a path.
    func predicate(
        inverted: Bool = false, _ property: ([AnyKeyPath]) throws -> QueryProperty?
    ) rethrows -> QueryPredicate? {
        switch self {
        case .property(let condition):
            guard !inverted || condition.test.isExact, let property = try property(condition.path),
                let predicate = condition.test.predicate(about: property)
            else { return nil }
            return inverted ? .not(predicate) : predicate
        case .not(let part): return try part.predicate(inverted: !inverted, property)
        case .all(let parts), .any(let parts):
            let known = try parts.compactMap { try $0.predicate(inverted: inverted, property) }
            // In a disjunction a part that can't be tested may be the one that accepts an object.
            guard isAll != inverted else { return known.count == parts.count ? .or(known) : nil }
            return known.isEmpty ? nil : known.count == 1 ? known[0] : .and(known)
        }
    }

    private var isAll: Bool { if case .all = self { true } else { false } }
}
