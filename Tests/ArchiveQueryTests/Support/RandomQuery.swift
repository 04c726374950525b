import TestSupport
import ArchiveQuery

/// Generates queries of every form.
struct RandomQuery {
    var random: SeededGenerator

    mutating func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func pipeline() -> QueryPipeline {
        var stages: [PipelineStage] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            var stage = stage()
            // A grouping directly after figures would belong to them in the text.
            if case .aggregate = stages.last, case .group = stage { stage = .limit(3) }
            stages.append(stage)
        }
        return QueryPipeline(stages)
    }

    mutating func stage() -> PipelineStage {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: return .find(predicate(depth: 3))
        case 2:
            return .sort(
                (0...Int.random(in: 0...2, using: &random)).map { _ in
                    QuerySortKey(expression(), isDescending: chance(2))
                })
        case 3: return .limit(Int.random(in: 0...20, using: &random))
        case 4: return .skip(Int.random(in: 0...20, using: &random))
        case 5: return .select(columns())
        case 6: return chance(2) ? .distinct(columns()) : .aggregate(figures())
        default: return .group(by: columns(), figures())
        }
    }

    mutating func columns() -> [QueryColumn] {
        (0...Int.random(in: 0...2, using: &random)).map { _ in QueryColumn(expression(), as: columnName()) }
    }

    private mutating func columnName() -> String? {
        chance(3) ? pick(["total", "as", "count", "odd name", "é"]) : nil
    }

    mutating func figures() -> [QueryFigure] {
        (0...Int.random(in: 0...2, using: &random)).map { _ in QueryFigure(figure(), as: columnName()) }
    }

    private mutating func figure() -> QueryAggregate {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .count
        case 1: .sum(expression())
        case 2: .average(expression())
        case 3: .minimum(expression())
        case 4: .maximum(expression())
        case 5: .countDistinct(expression())
        case 6: .median(expression())
        default: .percentile(expression(), pick([0, 50, 99.9, 100]))
        }
    }

    mutating func predicate(depth: Int) -> QueryPredicate {
        if depth > 0, chance(3) {
            let parts = (0...Int.random(in: 1...2, using: &random)).map { _ in predicate(depth: depth - 1) }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return .and(parts)
            case 1: return .or(parts)
            default: return .not(parts[0])
            }
        }
        let property = expression()
        switch Int.random(in: 0..<13, using: &random) {
        case 0:
            let value = literals(for: property).first ?? .integer(1)
            let isOrdered =
                switch value {
                case .null, .boolean: false;
                default: true
                }
            return .compare(property, pick(isOrdered ? QueryRelation.allCases : [.equal, .notEqual]), value)
        case 1: return .count(property, pick(QueryRelation.allCases), Int.random(in: -1...3, using: &random))
        case 2: return .isIn(property, literals(for: property))
        case 3: return .between(property, .integer(Int64.random(in: -5...5, using: &random)), .number(2.5))
        case 4: return .contains(property, text(), caseSensitive: chance(2))
        case 5: return .matches(property, pattern: pick(["^a", "\\d+$", "\"", "[a-c]x?"]))
        case 6: return .hasAny(property, literals())
        case 7: return .hasAll(property, literals())
        case 8: return .relate(property, pick(QueryRelation.allCases), expression())
        case 9: return .startsWith(property, text())
        case 10: return .endsWith(property, text())
        case 11: return .like(property, pattern: pick(["%", "a_", "\\%", ""]), caseSensitive: chance(2))
        default: return .presence(property, pick(QueryPresence.allCases))
        }
    }

    /// Excludes texts compared with dates, which must be dates.
    private mutating func literals(for property: QueryProperty) -> [QueryLiteral] {
        let isDate = (try? QueryPredicate("\(property) = \"\"")) == nil
        return literals().filter { if case .text = $0 { !isDate } else { true } }
    }

    mutating func literals() -> [QueryLiteral] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in literal() }
    }

    mutating func literal() -> QueryLiteral {
        switch Int.random(in: 0..<11, using: &random) {
        case 0: .null
        case 1: .boolean(chance(2))
        case 2: .integer(pick([0, -1, 7, .max, .min]))
        case 3: .unsigned(pick([UInt64(Int64.max) + 1, .max]))
        case 4: .number(pick([0.5, -0.0, 1e300, 2.5e-308, 1e16, -2.25]))
        case 5: .duration(microseconds: pick([0, 1, 1500, 90_000_000, 86_400_000_000, .max]))
        case 6: .size(bytes: pick([0, 1, 1000, 1024, 1536, 5 << 30, .max]))
        case 7:
            .date(
                microseconds: pick([
                    0, -1, 1_769_850_000_000_000, 1_769_850_000_000_001, 253_402_300_799_999_999,
                    -62_135_596_800_000_000, -62_167_219_200_000_001, 253_402_300_800_000_000, .min, .max,
                ]))
        case 8:
            QueryLiteral(
                number: pick([
                    "9007199254740993.0", "-1e400", "1.0e-400", "18446744073709551616",
                    "-9223372036854775809",
                ])) ?? .null
        case 9: localDate()
        default: .text(text())
        }
    }

    private mutating func localDate() -> QueryLiteral {
        let text = pick([
            "now", "today - 3d", "yesterday + 90m - 1ms", "2026-01-31", "2026-01-31 09:05:00.25 + 1w",
        ])
        guard case .compare(_, _, let literal)? = try? QueryPredicate("a = \(text)") else { return .null }
        return literal
    }

    mutating func text() -> String {
        pick(["", "a", "\"\\", "é\u{301}漢😀", "\u{0}\u{7f}\u{9b}\n\t", "and", "a|b"])
    }

    /// A property or a calculation.
    mutating func expression() -> QueryProperty { chance(4) ? calculation(depth: 3) : property() }

    private mutating func calculation(depth: Int) -> QueryProperty {
        .computed(operand(depth), pick(QueryOperator.allCases), operand(depth))
    }

    private mutating func operand(_ depth: Int) -> QueryOperand {
        if depth > 0, chance(2) { return .property(calculation(depth: depth - 1)) }
        if chance(3) {
            return .value(
                pick([
                    .integer(7), .integer(-2), .number(0.5), .duration(microseconds: 90_000_000),
                    .size(bytes: 1024), QueryLiteral(number: "-9223372036854775809") ?? .null,
                ]))
        }
        while true {
            let property = property()
            if !property.isMany { return .property(property) }
        }
    }

    mutating func property() -> QueryProperty {
        if chance(5) { return .metadata(pick(QueryMetadata.allCases)) }
        let names = [
            "name", "a", "population", "sort", "not", "count", "and", "empty", "null", "odd name", "é", "a.b",
            "", "by", "desc", "x-y", "in", "group-by", "1a",
        ]
        var steps: [QueryProperty.Step] = [.name(pick(names))]
        while steps.count < 4, chance(3) {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: steps.append(.name(pick(names)))
            case 2: steps.append(.each)
            default: steps.append(.index(Int.random(in: 0...12, using: &random)))
            }
        }
        return .path(steps)
    }
}
