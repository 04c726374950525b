import TestSupport
import ArchiveQuery

/// Makes queries of every form.
struct RandomQuery {
    var random: SeededGenerator

    mutating func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func pipeline() -> QueryPipeline {
        var stages: [PipelineStage] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            var stage = stage()
            // Figures take a grouping behind them for theirs, so such a pipeline has no text.
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
                    QuerySortKey(property(), isDescending: chance(2))
                })
        case 3: return .limit(Int.random(in: 0...20, using: &random))
        case 4: return .skip(Int.random(in: 0...20, using: &random))
        case 5: return .select((0...Int.random(in: 0...2, using: &random)).map { _ in property() })
        case 6: return chance(2) ? .distinct(property()) : .aggregate(figures())
        default: return .group(by: property(), figures())
        }
    }

    mutating func figures() -> [QueryAggregate] {
        (0...Int.random(in: 0...2, using: &random)).map { _ in
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .count
            case 1: .sum(property())
            case 2: .average(property())
            case 3: .minimum(property())
            default: .maximum(property())
            }
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
        let property = property()
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            let value = literal()
            let isOrdered =
                switch value {
                case .null, .boolean: false;
                default: true
                }
            return .compare(property, pick(isOrdered ? QueryRelation.allCases : [.equal, .notEqual]), value)
        case 1: return .count(property, pick(QueryRelation.allCases), Int.random(in: -1...3, using: &random))
        case 2: return .isIn(property, literals())
        case 3: return .between(property, .integer(Int64.random(in: -5...5, using: &random)), .number(2.5))
        case 4: return .contains(property, text(), caseSensitive: chance(2))
        case 5: return .matches(property, pattern: pick(["^a", "\\d+$", "\"", "[a-c]x?"]))
        case 6: return .hasAny(property, literals())
        case 7: return .hasAll(property, literals())
        default: return .presence(property, pick(QueryPresence.allCases))
        }
    }

    mutating func literals() -> [QueryLiteral] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in literal() }
    }

    mutating func literal() -> QueryLiteral {
        switch Int.random(in: 0..<10, using: &random) {
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
                    -62_135_596_800_000_000,
                ]))
        default: .text(text())
        }
    }

    mutating func text() -> String {
        pick(["", "a", "\"\\", "é\u{301}漢😀", "\u{0}\u{7f}\u{9b}\n\t", "and", "a|b"])
    }

    mutating func property() -> QueryProperty {
        if chance(5) { return .metadata(pick(QueryMetadata.allCases)) }
        let names = [
            "name", "a", "population", "sort", "not", "count", "and", "empty", "null", "odd name", "é", "a.b",
            "", "by",
            "desc", "x-y", "in", "group-by", "1a",
        ]
        var steps: [QueryProperty.Step] = [.name(pick(names))]
        while steps.count < 4, chance(3) {
            steps.append(chance(2) ? .name(pick(names)) : .index(Int.random(in: 0...12, using: &random)))
        }
        return .path(steps)
    }
}
