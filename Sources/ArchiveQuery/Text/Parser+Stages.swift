extension Parser {
    static let stageNames = [
        "find", "sort", "limit", "skip", "select", "count", "sum", "avg", "min", "max", "group", "distinct",
    ]
    /// Names of stages in other languages.
    private static let otherNames = [
        "where": "find", "filter": "find", "order": "sort", "top": "limit", "first": "limit", "head": "limit",
        "offset": "skip", "unique": "distinct", "average": "avg", "minimum": "min", "maximum": "max",
    ]
    private static let aggregateNames = ["count", "sum", "avg", "min", "max"]

    mutating func noteStages() {
        for name in Self.stageNames { note(.word(name == "group" ? "group by" : name)) }
    }

    /// One stage, or two if a grouping and its aggregates are written as one.
    mutating func stage() throws(QuerySyntaxError) -> [PipelineStage] {
        noteStages()
        guard case .word(let name) = token.kind else { throw failure(advice: findAdvice) }
        switch name {
        case "find":
            return [.find(try afterName { (parser) throws(QuerySyntaxError) in try parser.predicate() })]
        case "sort":
            return [.sort(try afterName { (parser) throws(QuerySyntaxError) in try parser.sortKeys() })]
        case "limit":
            return [.limit(try afterName { (parser) throws(QuerySyntaxError) in try parser.rowCount() })]
        case "skip":
            return [.skip(try afterName { (parser) throws(QuerySyntaxError) in try parser.rowCount() })]
        case "select":
            return [.select(try afterName { (parser) throws(QuerySyntaxError) in try parser.properties() })]
        case "distinct":
            return [.distinct(try afterName { (parser) throws(QuerySyntaxError) in try parser.property() })]
        case "group", "group-by": return try group()
        case _ where Self.aggregateNames.contains(name): return try aggregates()
        default: throw failure(advice: findAdvice)
        }
    }

    private mutating func afterName<Value>(
        _ body: (inout Parser) throws(QuerySyntaxError) -> Value
    ) throws(QuerySyntaxError) -> Value {
        advance()
        return try body(&self)
    }

    /// Advice for a query that begins with a condition.
    private var findAdvice: String? {
        switch (token.kind, following.kind) {
        case (.word, .symbol(let symbol))
        where QueryRelation(rawValue: symbol.rawValue) != nil || symbol == .dot:
            "a condition stands behind find"
        case (.metadata, _), (.quoted, _), (.symbol(.openParenthesis), _): "a condition stands behind find"
        case (.word(let word), _):
            (Self.otherNames[word.lowercased()] ?? Self.stageNames.first { $0.isNearly(word.lowercased()) })
                .map {
                    "did you mean \($0)?"
                }
        default: nil
        }
    }

    private mutating func sortKeys() throws(QuerySyntaxError) -> [QuerySortKey] {
        var keys: [QuerySortKey] = []
        repeat {
            let property = try property()
            if accept("desc") {
                keys.append(QuerySortKey(property, isDescending: true))
            } else {
                _ = accept("asc")
                keys.append(QuerySortKey(property))
            }
        } while accept(.comma)
        return keys
    }

    private mutating func rowCount() throws(QuerySyntaxError) -> Int {
        note(.count)
        guard case .literal(.integer(let number)) = token.kind, number >= 0 else { throw failure() }
        advance()
        return Int(number)
    }

    private mutating func properties() throws(QuerySyntaxError) -> [QueryProperty] {
        var properties: [QueryProperty] = []
        repeat { properties.append(try property()) } while accept(.comma)
        return properties
    }

    private mutating func aggregates() throws(QuerySyntaxError) -> [PipelineStage] {
        let figures = try figures()
        // The order of spoken language: sum population by countrycode.
        if accept("group") {
            try expect("by")
        } else if !accept("by") {
            return [.aggregate(figures)]
        }
        return [.group(by: try property(), figures)]
    }

    private mutating func figures() throws(QuerySyntaxError) -> [QueryAggregate] {
        var figures: [QueryAggregate] = []
        repeat { figures.append(try figure()) } while accept(.comma)
        return figures
    }

    private mutating func figure() throws(QuerySyntaxError) -> QueryAggregate {
        if accept("count") { return .count }
        if accept("sum") { return .sum(try property()) }
        if accept("avg") { return .average(try property()) }
        if accept("min") { return .minimum(try property()) }
        if accept("max") { return .maximum(try property()) }
        throw failure()
    }

    private mutating func group() throws(QuerySyntaxError) -> [PipelineStage] {
        if accept("group") { try expect("by") } else { advance() }
        let property = try property()
        for name in Self.aggregateNames { note(.word(name)) }
        guard case .word(let name) = token.kind, Self.aggregateNames.contains(name) else {
            return [.group(by: property, [])]
        }
        return [.group(by: property, try figures())]
    }
}

extension String {
    /// Whether the words differ by one inserted, missing, wrong or swapped letter.
    fileprivate func isNearly(_ other: String) -> Bool {
        let left = Array(utf8)
        let right = Array(other.utf8)
        guard abs(left.count - right.count) <= 1, left.count > 2 else { return false }
        let start = zip(left, right).prefix { $0 == $1 }.count
        let end = zip(left.dropFirst(start).reversed(), right.dropFirst(start).reversed()).prefix { $0 == $1 }
            .count
        let rest = left.count - start - end
        let otherRest = right.count - start - end
        if rest <= 1, otherRest <= 1 { return true }
        return rest == 2 && otherRest == 2 && left[start] == right[start + 1]
            && left[start + 1] == right[start]
    }
}
