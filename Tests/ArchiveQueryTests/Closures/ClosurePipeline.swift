import TestSupport
import CBOR

/// A pipeline as text and as the equivalent steps in Swift.
struct ClosurePipeline<Object: Decodable> {
    typealias Row = Kept<Object>

    struct Answer: Equatable {
        var key: String?
        var columns: [CBORValue?] = []

        var shown: String {
            ([key ?? "-"] + columns.map { $0.map { "\($0)" } ?? "-" }).joined(separator: "; ")
        }
    }

    var text: String
    var answers: ([Row]) throws -> [Answer]
}

/// Generates pipelines that match some objects of one kind.
struct ClosureQueries<Object: Decodable> {
    typealias Row = Kept<Object>
    typealias Property = ClosureProperty<Row>
    typealias Answer = ClosurePipeline<Object>.Answer

    var random: SeededGenerator
    let properties: [Property]

    private mutating func few(_ most: Int) -> Int { Int.random(in: 0...most, using: &random) }
    private mutating func chance(_ one: Int) -> Bool { few(one - 1) == 0 }
    private mutating func property() -> Property { properties.randomElement(using: &random)! }

    mutating func pipeline() -> ClosurePipeline<Object> {
        var texts: [String] = []
        var steps: [([Row]) -> [Row]] = []
        for _ in 0..<few(4) {
            let (text, step) = stage(properties)
            texts.append(text)
            steps.append(step)
        }
        let (rest, last) = ending()
        let whole = steps
        return ClosurePipeline(text: (texts + rest).joined(separator: " | ")) { rows in
            try last(whole.reduce(rows) { $1($0) })
        }
    }

    // MARK: Stages that leave rows as they are

    private mutating func stage(_ properties: [Property]) -> (String, ([Row]) -> [Row]) {
        switch few(7) {
        case 0, 1:
            let keys = (0...few(2)).map { _ in
                (property: properties.randomElement(using: &random)!, isDescending: chance(2))
            }
            let text = keys.map { $0.property.name + ($0.isDescending ? " desc" : "") }
            return ("sort " + text.joined(separator: ", "), { Self.sorted($0, by: keys) })
        case 2:
            let count = few(60)
            return ("limit \(count)", { Array($0.prefix(count)) })
        case 3:
            let count = few(10)
            return ("skip \(count)", { Array($0.dropFirst(count)) })
        default:
            let condition = condition(properties, depth: 2)
            return ("find " + condition.text, { $0.filter { condition.isMet($0) == true } })
        }
    }

    private static func sorted(_ rows: [Row], by keys: [(property: Property, isDescending: Bool)]) -> [Row] {
        let places = rows.indices.sorted { left, right in
            for key in keys {
                let order = key.property.order(rows[left], rows[right], key.isDescending)
                if order != 0 { return order < 0 }
            }
            return left < right
        }
        return places.map { rows[$0] }
    }

    private mutating func condition(_ properties: [Property], depth: Int) -> ClosureCondition<Row> {
        guard depth > 0, chance(2) else {
            return properties.randomElement(using: &random)!.condition(&random)
        }
        let first = condition(properties, depth: depth - 1)
        let second = condition(properties, depth: depth - 1)
        let third = properties.randomElement(using: &random)!.condition(&random)
        switch few(4) {
        case 0:
            return ClosureCondition(text: "(\(first.text)) and (\(second.text))") {
                Kleene.and(first.isMet($0), second.isMet($0))
            }
        case 1:
            return ClosureCondition(text: "(\(first.text) or \(second.text))") {
                Kleene.or(first.isMet($0), second.isMet($0))
            }
        case 2: return ClosureCondition(text: "not (\(first.text))") { Kleene.not(first.isMet($0)) }
        case 3:
            return ClosureCondition(text: "not \(third.text) and (\(first.text))") {
                Kleene.and(Kleene.not(third.isMet($0)), first.isMet($0))
            }
        default:
            return ClosureCondition(text: "(\(first.text)) or \(third.text) and (\(second.text))") {
                Kleene.or(first.isMet($0), Kleene.and(third.isMet($0), second.isMet($0)))
            }
        }
    }

    // MARK: Stages that make rows of columns

    private mutating func ending() -> ([String], ([Row]) throws -> [Answer]) {
        switch few(9) {
        case 0, 1: return selection()
        case 2: return distinct()
        case 3:
            let figures = figures()
            let text = figures.map(\.text).joined(separator: ", ")
            return ([text], { rows in [Answer(columns: try figures.map { try $0.value(rows) })] })
        case 4, 5: return grouping()
        default: return ([], { rows in rows.map { Answer(key: $0.key) } })
        }
    }

    /// Later stages see the selected properties, their parts and metadata.
    private mutating func selection() -> ([String], ([Row]) throws -> [Answer]) {
        let selected = (0...few(2)).map { _ in property() }
        let seen = properties.filter { $0.name.hasPrefix("@") || $0.lies(in: selected) }
        var texts = ["select " + selected.map(\.name).joined(separator: ", ")]
        var steps: [([Row]) -> [Row]] = []
        for _ in 0..<few(2) {
            let (text, step) = stage(seen)
            texts.append(text)
            steps.append(step)
        }
        let whole = steps
        return (
            texts,
            { rows in
                try whole.reduce(rows) { $1($0) }.map { row in
                    Answer(key: row.key, columns: try selected.map { try $0.cell(row) })
                }
            }
        )
    }

    private mutating func distinct() -> ([String], ([Row]) throws -> [Answer]) {
        let property = property()
        let count = few(12)
        let isCounted = chance(3)
        return (
            ["distinct \(property.name)", "limit \(count)"] + (isCounted ? ["count"] : []),
            { rows in
                var seen: Set<AnyHashable?> = []
                let first = rows.filter { seen.insert(property.identity($0)).inserted }.prefix(count)
                if isCounted { return [Answer(columns: [try Cells.value(first.count)])] }
                return try first.map { Answer(key: $0.key, columns: [try property.cell($0)]) }
            }
        )
    }

    private mutating func grouping() -> ([String], ([Row]) throws -> [Answer]) {
        let property = properties.filter(\.isOrdered).randomElement(using: &random)!
        let figures = chance(4) ? [] : figures()
        let text = figures.map(\.text).joined(separator: ", ")
        let head =
            figures.isEmpty || chance(2)
            ? "group by \(property.name)" + (figures.isEmpty ? "" : " | " + text)
            : text + " by " + property.name
        let shown = figures.isEmpty ? [ClosureFigure<Row>.count] : figures
        let hasCount = shown.count { $0.text == "count" } == 1
        // Figures directly after a grouping without figures would be those of its groups.
        let rest =
            (["", figures.isEmpty ? "" : "count"]
            + (hasCount ? ["sort count desc", "find count > 1", figures.isEmpty ? "" : "max count"] : []))
            .randomElement(using: &random)!
        let limit = few(9)
        return (
            [head] + (rest.isEmpty ? [] : [rest]) + ["limit \(limit)"],
            { rows in
                var groups = Dictionary(grouping: rows) { property.identity($0) }.values
                    .sorted { property.precedesAsGroup($0[0], $1[0]) }
                switch rest {
                case "sort count desc": groups = Self.byCount(groups)
                case "find count > 1": groups = groups.filter { $0.count > 1 }
                case "count": return limit == 0 ? [] : [Answer(columns: [try Cells.value(groups.count)])]
                case "max count":
                    return limit == 0 ? [] : [Answer(columns: [try Cells.value(groups.map(\.count).max())])]
                default: break
                }
                return try groups.prefix(limit).map { group in
                    Answer(columns: [try property.cell(group[0])] + (try shown.map { try $0.value(group) }))
                }
            }
        )
    }

    private static func byCount(_ groups: [[Row]]) -> [[Row]] {
        groups.indices.sorted { left, right in
            groups[left].count == groups[right].count
                ? left < right : groups[left].count > groups[right].count
        }
        .map { groups[$0] }
    }

    private mutating func figures() -> [ClosureFigure<Row>] {
        (0...few(2)).map { _ in
            let property = property()
            switch few(6) {
            case 0: return .count
            case 5: return .different(property)
            case 6: return .median(property)
            case 1: return .sum(property)
            case 2: return .average(property)
            case 3: return .least(property, isGreatest: false)
            default: return .least(property, isGreatest: true)
            }
        }
    }
}

/// A figure of rows as text and as a closure.
struct ClosureFigure<Row> {
    let text: String
    let value: ([Row]) throws -> CBORValue?

    static var count: Self { Self(text: "count") { try Cells.value($0.count) } }

    static func sum(_ property: ClosureProperty<Row>) -> Self {
        Self(text: "sum \(property.name)") { try Cells.value($0.compactMap(property.number).reduce(0, +)) }
    }

    static func different(_ property: ClosureProperty<Row>) -> Self {
        Self(text: "count distinct \(property.name)") {
            try Cells.value(Set($0.compactMap(property.identity)).count)
        }
    }

    static func median(_ property: ClosureProperty<Row>) -> Self {
        Self(text: "median \(property.name)") { rows in
            let numbers = rows.compactMap(property.number).sorted()
            guard let low = numbers.dropFirst((numbers.count - 1) / 2).first else { return nil }
            let high = numbers[numbers.count / 2]
            return try Cells.value(low + (high - low) / 2)
        }
    }

    static func average(_ property: ClosureProperty<Row>) -> Self {
        Self(text: "avg \(property.name)") { rows in
            let numbers = rows.compactMap(property.number)
            return numbers.isEmpty ? nil : try Cells.value(numbers.reduce(0, +) / Double(numbers.count))
        }
    }

    static func least(_ property: ClosureProperty<Row>, isGreatest: Bool) -> Self {
        Self(text: (isGreatest ? "max " : "min ") + property.name) { rows in
            guard property.isOrdered else { return nil }
            let kind = rows.compactMap(property.kindOfExtremes).min()
            return try rows.filter { property.kindOfExtremes($0) == kind && kind != nil }
                .min { property.order($0, $1, isGreatest) < 0 }.flatMap(property.cell)
        }
    }
}
