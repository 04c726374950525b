import TestSupport
import Foundation

/// Generates queries that match some documents of one kind.
protocol GeneratedQueries {
    var random: SeededGenerator { get set }
    /// A condition without `and`, `or` and `not`.
    mutating func condition() -> String
    mutating func property() -> String
    /// A property of numbers with exact sums and means.
    mutating func number() -> String
    /// A number, or all numbers of a list, for figures.
    mutating func summed() -> String
    /// A property to group by: groups of arrays and objects have no defined order.
    mutating func scalarProperty() -> String
}

extension GeneratedQueries {
    mutating func summed() -> String { number() }
    mutating func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func pipeline() -> String {
        var stages: [String] = []
        for _ in 0..<Int.random(in: 0...2, using: &random) { stages.append("find " + predicate(depth: 2)) }
        if chance(2) { stages.append("sort " + keys()) }
        if chance(3) { stages.append("skip \(Int.random(in: 0...8, using: &random))") }
        if chance(2) { stages.append("limit \(Int.random(in: 0...40, using: &random))") }
        switch Int.random(in: 0..<13, using: &random) {
        case 0: stages.append("select \(property()), @key, \(property())")
        case 10:
            let column = property()
            stages.append("\(pick(["distinct", "group by", "select"])) \(column)")
            stages.append("find \(column) is not null | sort \(column) desc | limit 9 | select \(column)")
        case 1: stages.append("distinct " + property())
        case 6: stages.append("distinct \(scalarProperty()), \(scalarProperty()) | limit 9")
        case 7:
            stages.append(
                "group by \(scalarProperty()), \(scalarProperty()) | count, count distinct \(scalarProperty())"
            )
        case 8:
            stages.append(
                "select \(property()) as x, \(number()) * 2 + 1 as y, \(number()) / 4 | sort y, x | limit 9")
        case 9:
            stages.append(
                "median \(summed()) as m, percentile \(summed()) 25, count distinct \(scalarProperty()) as d")
        case 2: stages.append("count, sum \(summed()), avg \(summed())")
        case 3: stages.append("min \(property()), max \(property())")
        case 4: stages.append("group by \(scalarProperty()) | count, sum \(summed())")
        case 5: stages.append("group by \(scalarProperty()) | max \(property()) | sort max desc | limit 7")
        default: break
        }
        return stages.joined(separator: " | ")
    }

    mutating func keys() -> String {
        (0...Int.random(in: 0...2, using: &random)).map { _ in property() + (chance(2) ? " desc" : "") }
            .joined(separator: ", ")
    }

    mutating func predicate(depth: Int) -> String {
        guard depth > 0, chance(2) else { return condition() }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return "(\(predicate(depth: depth - 1)) and \(predicate(depth: depth - 1)))"
        case 1: return "(\(predicate(depth: depth - 1)) or \(predicate(depth: depth - 1)))"
        default: return "not (\(predicate(depth: depth - 1)))"
        }
    }
}

/// Queries of the cities of the demonstration.
struct CityQueries: GeneratedQueries {
    var random: SeededGenerator

    mutating func property() -> String {
        pick([
            "name", "countrycode", "population", "timezone", "admin1code", "alternatenames[0]", "latitude",
            "missing", "@key",
        ])
    }

    mutating func scalarProperty() -> String { property() }

    mutating func number() -> String { pick(["population", "geonameid", "missing"]) }

    mutating func condition() -> String {
        let country = pick(["ID", "CN", "IN", "US", "BR", "DE", "XX"])
        switch Int.random(in: 0..<22, using: &random) {
        case 14: return "name starts with \"\(pick(["S", "San ", "é", "Kö"]))\""
        case 15: return "timezone ends with \"\(pick(["a", "York", "/"]))\""
        case 16: return "name \(pick(["like", "ilike"])) \"\(pick(["S%", "%an_", "_a%a", "%S%"]))\""
        case 17: return "latitude \(pick(["<", ">", "=", "!="])) longitude"
        case 18: return "population / 2 - \(pick([100_000, 200_000])) > geonameid * 0.5"
        case 19: return "alternatenames[] \(pick(["contains", "starts with"])) \"\(pick(["a", "Ba", "X"]))\""
        case 20: return "alternatenames[] \(pick(["=", "!="])) \"\(pick(["London", "Jakarta"]))\""
        case 21: return "(population + geonameid) / 1000 < latitude * 50"
        case 0: return "countrycode \(pick(["=", "!=", "<", ">="])) \"\(country)\""
        case 1:
            return
                "population \(pick(["=", "<", "<=", ">", ">="])) \(pick([100_000, 250_000, 1_000_000, 3_000_000]))"
        case 2:
            return "latitude \(pick(["<", ">"])) \(Double(Int.random(in: -400...600, using: &random)) / 10)"
        case 3: return "countrycode in [\"\(country)\", \"FR\", null]"
        case 4: return "population between \(pick([100_000, 150_000])) and \(pick([200_000, 400_000]))"
        case 5:
            return "name \(pick(["contains", "icontains"])) \"\(pick(["an", "Sa", "SAN", "é", "ou", ""]))\""
        case 6: return "timezone matches \"\(pick(["^Asia/", "[aeiou]$", "_", "Am.*a"]))\""
        case 7:
            return "alternatenames has any [\"\(pick(["Jakarta", "LON", "Paris", "مدينة"]))\", \"Moskva\"]"
        case 8:
            return
                "count(alternatenames) \(pick(["=", ">", "<", ">=", "<=", "!="])) \(Int.random(in: 0...6, using: &random))"
        case 9:
            return "alternatenames is \(pick(["empty", "not empty", "null", "not null", "null or empty"]))"
        case 10: return "name \(pick(["<", ">"])) \"\(pick(["M", "São", "a", "İ", "北"]))\""
        case 11: return "alternatenames[\(Int.random(in: 0...3, using: &random))] contains \"a\""
        case 12: return "missing \(pick(["= null", "!= 1", "is null", "= 1", "is not empty"]))"
        default: return "population \(pick(["contains \"1\"", "= \"1\"", "!= \"1\"", "has 1"]))"
        }
    }
}

/// Documents with properties of any kind, or absent.
enum NestedDocument {
    private static let texts = [
        "", "a", "b", "ab", "B", "é", "e\u{301}", "straße", "漢字", "z z", "1", "-2.5", "1e0", "01", "true",
        "2026-01-31", "2026-02-31", "1969-12-31",
    ]

    static func text(using random: inout SeededGenerator) -> String {
        let properties = ["a", "b", "c", "odd name"].compactMap { name -> String? in
            Int.random(in: 0..<5, using: &random) == 0
                ? nil : "\"\(name)\":\(value(depth: 2, using: &random))"
        }
        let scalar = Int.random(in: 0..<8, using: &random) == 0 ? [] : ["\"s\":" + scalar(using: &random)]
        return "{"
            + (properties + scalar + list(using: &random)).shuffled(using: &random).joined(separator: ",")
            + "}"
    }

    /// A list of objects, some without the property, and other values; or a value of another kind.
    private static func list(using random: inout SeededGenerator) -> [String] {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return []
        case 1: return ["\"l\":" + ["null", "{\"s\":1}", "\"a\""].randomElement(using: &random)!]
        default: break
        }
        let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            switch Int.random(in: 0..<6, using: &random) {
            case 0: scalar(using: &random)
            case 1: "{\"a\":" + scalar(using: &random) + "}"
            default: "{\"a\":1,\"s\":" + scalar(using: &random) + "}"
            }
        }
        return ["\"l\":[" + elements.joined(separator: ",") + "]"]
    }

    static func scalar(using random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: "null"
        case 1: "true"
        case 2: "false"
        case 3, 4: String(Int.random(in: -3...3, using: &random))
        // Fractions with exact sums.
        case 5: String(Double(Int.random(in: -8...8, using: &random)) / 4)
        default: "\"" + texts.randomElement(using: &random)! + "\""
        }
    }

    private static func value(depth: Int, using random: inout SeededGenerator) -> String {
        switch depth == 0 ? 9 : Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            "["
                + (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    value(depth: depth - 1, using: &random)
                }.joined(separator: ",") + "]"
        case 2, 3:
            "{"
                + ["a", "b"].prefix(Int.random(in: 0...2, using: &random)).map {
                    "\"\($0)\":" + value(depth: depth - 1, using: &random)
                }.joined(separator: ",") + "}"
        default: scalar(using: &random)
        }
    }
}

struct NestedQueries: GeneratedQueries {
    var random: SeededGenerator

    mutating func property() -> String {
        pick([
            "a", "b", "c", "s", "\"odd name\"", "a.b", "b[0]", "a.a.b", "c[1].a", "b.a[0]", "@key",
            "l[].s", "l[].a", "a[].b", "b[][0]", "c[].a[]",
        ])
    }

    mutating func scalarProperty() -> String { property() }

    /// A property that isn't all elements of a list, or a conversion or calculation with one.
    private mutating func single() -> String {
        let single = pick(["a", "b", "c", "s", "s", "a.b", "b[0]", "c[1].a"])
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: return single
        case 2: return single + pick([" + 0", " / 2", " - s"])
        case 3: return "text(number(\(single)))"
        default: return pick(["number", "date", "bool", "text"]) + "(\(single))"
        }
    }

    mutating func number() -> String { pick(["a", "b", "c", "a.b", "b[0]", "number(s)"]) }

    mutating func summed() -> String { chance(2) ? number() : "l[].s" }

    private mutating func value() -> String { NestedDocument.scalar(using: &random) }

    private mutating func ordered() -> String {
        while true {
            let value = value()
            if !["null", "true", "false"].contains(value) { return value }
        }
    }

    private mutating func values() -> String {
        "[" + (0..<Int.random(in: 0...3, using: &random)).map { _ in value() }.joined(separator: ", ") + "]"
    }

    /// Texts compared with `date(x)` must be dates.
    private mutating func equality(_ single: String) -> String {
        "\(single) \(pick(["=", "!="])) \(single.hasPrefix("date(") ? date() : value())"
    }

    private mutating func order(_ single: String) -> String {
        "\(single) \(pick(["<", "<=", ">", ">="])) \(single.hasPrefix("date(") ? date() : ordered())"
    }

    private mutating func date() -> String { pick(["2026-01-31", "1969-12-31", "2000-01-01"]) }

    mutating func condition() -> String {
        switch Int.random(in: 0..<15, using: &random) {
        case 10: equality(single())
        case 11: order(single())
        case 12: "\(pick([property(), single()])) \(pick(["=", "!=", "<", ">="])) \(date())"
        case 13:
            pick([
                "\(property()) in [\(date()), \(value())]", "\(property()) has any [\(date()), \(value())]",
                "\(property()) between \(date()) and \(ordered())",
            ])
        case 14: "\(single()) is \(pick(["empty", "not empty", "null", "not null", "null or empty"]))"
        case 0, 1: "\(property()) \(pick(["=", "!="])) \(value())"
        case 2: "\(property()) \(pick(["<", "<=", ">", ">="])) \(ordered())"
        case 3: "\(property()) in \(values())"
        case 4: "\(property()) between \(ordered()) and \(ordered())"
        case 5: "\(property()) \(pick(["contains", "icontains"])) \"\(pick(["a", "A", "é", "", "SS", "字"]))\""
        case 6: "\(property()) has \(pick(["any", "all"])) \(values())"
        // The script counts characters of texts differently, so only 0 is compared.
        case 7: "count(\(property())) \(pick(["=", ">"])) 0"
        case 8:
            "\(property()) \(pick(["=", "!=", "<", ">="])) "
                + pick(["a", "b", "c", "s", "a.b", "missing", "l[].s", "a[].b", "number(s)", "date(s)"])
        default: "\(property()) is \(pick(["empty", "not empty", "null", "not null", "null or empty"]))"
        }
    }
}
