import TestSupport
import Foundation

extension ClosureProperty {
    /// A value of any kind.
    static func mark(_ name: String, _ value: @escaping (Row) -> Mark?) -> Self {
        var property = Self(name, value)
        property.number = { value($0)?.number }
        property.kindOfExtremes = { row in value(row).flatMap { [3, 0, 1, 2, nil][$0.place] } }
        property.order = { left, right, isDescending in
            switch (value(left), value(right)) {
            case (nil, nil): return 0
            case (nil, _): return 1
            case (_, nil): return -1
            case (let a?, let b?): return a == b ? 0 : (a < b) == isDescending ? 1 : -1
            }
        }
        property.conditions += sized(
            name, { value($0)?.count }, isScalar: { value($0).map { $0.count == nil } ?? false })
        property.conditions += [
            { random in
                let (text, other) = literal(&random)
                return ClosureCondition(text: "\(name) = \(text)") { row in
                    value(row).map { $0.equals(other) } ?? false
                }
            },
            { random in
                let (text, other) = literal(&random)
                return ClosureCondition(text: "\(name) != \(text)") { row in
                    value(row).map { Kleene.not($0.equals(other)) } ?? true
                }
            },
            { random in
                let (text, other) = orderedLiteral(&random)
                return ClosureCondition(text: "\(name) < \(text)") {
                    value($0).map { $0.place == other.place ? $0 < other : nil } ?? false
                }
            },
            { random in
                let (text, other) = orderedLiteral(&random)
                return ClosureCondition(text: "\(name) >= \(text)") {
                    value($0).map { $0.place == other.place ? $0 >= other : nil } ?? false
                }
            },
            { random in
                let (low, least) = orderedLiteral(&random)
                let (high, greatest) = orderedLiteral(&random)
                return ClosureCondition(text: "\(name) between \(low) and \(high)") {
                    guard let own = value($0) else { return false }
                    return Kleene.and(
                        own.place == least.place ? own >= least : nil,
                        own.place == greatest.place ? own <= greatest : nil)
                }
            },
            { random in
                let (first, one) = literal(&random)
                let (second, other) = literal(&random)
                return ClosureCondition(text: "\(name) in [\(first), \(second)]") {
                    value($0).map { Kleene.or($0.equals(one), $0.equals(other)) } ?? false
                }
            },
            { _ in
                ClosureCondition(text: "\(name) is null or empty") {
                    value($0).map { $0.count.map { $0 == 0 } } ?? true
                }
            },
            { _ in
                ClosureCondition(text: "\(name) has 1") {
                    if case .list(let list) = value($0) {
                        list.contains(1)
                    } else {
                        value($0) == nil ? false : nil
                    }
                }
            },
            { _ in
                ClosureCondition(text: "\(name) contains \"\"") {
                    if case .text = value($0) { true } else { value($0) == nil ? false : nil }
                }
            },
        ]
        return property
    }

    private static func literal(_ random: inout SeededGenerator) -> (text: String, value: Mark) {
        switch Int.random(in: 0...4, using: &random) {
        case 0: ("true", .flag(true))
        case 1: ("false", .flag(false))
        default: orderedLiteral(&random)
        }
    }

    private static func orderedLiteral(_ random: inout SeededGenerator) -> (text: String, value: Mark) {
        [
            ("1", .integer(1)), ("1.0", .integer(1)), ("-0.5", .fraction(-0.5)), ("2", .integer(2)),
            ("\"\"", .text("")), ("\"a\"", .text("a")), ("\"\u{e9}\"", .text("\u{e9}")),
            ("\"e\u{301}\"", .text("\u{e9}")), ("1970-01-02", .date(Date(timeIntervalSince1970: 86_400))),
            ("1969-12-31T00:00:00Z", .date(Date(timeIntervalSince1970: -86_400))),
        ]
        .randomElement(using: &random)!
    }
}
