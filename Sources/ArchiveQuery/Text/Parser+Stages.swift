extension Parser {
    static let stageNames = [
        "find", "sort", "limit", "skip", "select", "count", "sum", "avg", "min", "max", "median",
        "percentile",
        "group", "distinct",
    ]
    static let otherNames = [
        "where": "find", "filter": "find", "having": "find", "order": "sort", "orderby": "sort",
        "top": "limit", "first": "limit", "head": "limit",
        "offset": "skip", "unique": "distinct", "average": "avg", "minimum": "min", "maximum": "max",
    ]
    static let aggregateNames = ["count", "sum", "avg", "min", "max", "median", "percentile"]
    static let advice = [
        "from": "a query does not name its archive", "desc": "desc follows a property: sort a desc",
        "asc": "asc follows a property: sort a asc",
    ]

    mutating func noteStages() {
        for name in Self.stageNames { note(.word(name == "group" ? "group by" : name)) }
    }

    /// One stage, or two if a grouping and its aggregates are one.
    mutating func stage() throws(QuerySyntaxError) -> [PipelineStage] {
        noteStages()
        if isCondition { return [.find(try predicate())] }
        if accept("find") { return [.find(try predicate())] }
        if accept("sort") { return [.sort(try sortKeys())] }
        if accept("limit") { return [.limit(try rowCount())] }
        if accept("skip") { return [.skip(try rowCount())] }
        if accept("select") { return [.select(try selection())] }
        if accept("distinct") { return [.distinct(try columns())] }
        if token.isWord("group") || token.isWord("group-by") { return try group() }
        if isAggregate { return try aggregates() }
        throw failure(advice: findAdvice)
    }

    /// Whether a condition without `find` is next, which no stage begins with.
    private var isCondition: Bool {
        switch token.kind {
        case .symbol(.openParenthesis): true
        case .symbol(.openBracket): if case .quoted = following.kind { true } else { false }
        case .metadata, .quoted, .literal: isFollowedByOperator
        case .word(let word) where Self.stageNames.contains(word.lowercased()):
            isCount ? isRelationBehindParentheses : isFollowedByRelation
        case .word where token.isWord("not"): following.kind != .end && following.kind != .symbol(.pipe)
        case .word(let word) where Self.otherNames[word.lowercased()] != nil: isFollowedByRelation
        case .word: conversion != nil || isFollowedByOperator
        default: false
        }
    }

    private var isFollowedByRelation: Bool {
        if following.isWord("in"), token(at: 2).kind == .symbol(.openBracket) { return true }
        guard case .symbol(let symbol) = following.kind else { return isFollowedByForeignOperator }
        return QueryRelation(rawValue: symbol.rawValue) != nil
    }

    private var isFollowedByOperator: Bool {
        if case .symbol(let symbol) = following.kind, QueryOperator(rawValue: symbol.rawValue) != nil {
            return true
        }
        return following.isOperator || following.isWord("not") || isFollowedByForeignOperator
    }

    private var findAdvice: String? {
        switch (token.kind, following.kind) {
        case (.word(let word), _) where Self.advice[word.lowercased()] != nil: Self.advice[word.lowercased()]
        case (.word(let word), _):
            (Self.otherNames[word.lowercased()]
                ?? Self.stageNames.first { NameGuess.areNear($0, word.lowercased()) })
                .map { "did you mean \($0)?" }
        default: nil
        }
    }

    private mutating func sortKeys() throws(QuerySyntaxError) -> [QuerySortKey] {
        var keys: [QuerySortKey] = []
        repeat {
            let property = try expression()
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

    private mutating func columns() throws(QuerySyntaxError) -> [QueryColumn] {
        var columns: [QueryColumn] = []
        repeat { columns.append(try column()) } while accept(.comma) && !isFigure
        return columns
    }

    private mutating func selection() throws(QuerySyntaxError) -> [QueryColumn] {
        let columns = isFigure ? [] : try columns()
        guard !isFigure else {
            throw failure(advice: "aggregates follow group by: group by a | avg b, count")
        }
        return columns
    }

    private mutating func column() throws(QuerySyntaxError) -> QueryColumn {
        if case .symbol(.times) = token.kind {
            throw failure(advice: "without select, rows are whole entries")
        }
        let property = try expression()
        return QueryColumn(property, as: try columnName())
    }

    private mutating func columnName() throws(QuerySyntaxError) -> String? {
        guard accept("as") else { return nil }
        switch token.kind {
        case .word, .quoted: return try name()
        default: throw failure(advice: "a name follows \"as\"")
        }
    }

    private mutating func aggregates() throws(QuerySyntaxError) -> [PipelineStage] {
        let figures = try figures()
        // Spoken order: sum population by countrycode.
        if accept("group") {
            try expect("by")
        } else if !accept("by") {
            return [.aggregate(figures)]
        }
        return [.group(by: try columns(), figures)]
    }

    private mutating func figures() throws(QuerySyntaxError) -> [QueryFigure] {
        var figures: [QueryFigure] = []
        repeat {
            let aggregate = try aggregate()
            figures.append(QueryFigure(aggregate, as: try columnName()))
        } while accept(.comma)
        return figures
    }

    private mutating func aggregate() throws(QuerySyntaxError) -> QueryAggregate {
        if accept("count") {
            if case .symbol(.openParenthesis) = token.kind {
                throw failure(advice: "count alone counts rows; count distinct a counts the values of a")
            }
            return accept("distinct") ? .countDistinct(try expression()) : .count
        }
        if accept("sum") { return .sum(try expression()) }
        if accept("avg") { return .average(try expression()) }
        if accept("min") { return .minimum(try expression()) }
        if accept("max") { return .maximum(try expression()) }
        if accept("median") { return .median(try expression()) }
        if accept("percentile") {
            let property = try expression()
            return .percentile(property, try percent())
        }
        throw failure()
    }

    private mutating func percent() throws(QuerySyntaxError) -> Double {
        note(.percent)
        let percent: Double? =
            switch token.kind {
            case .literal(.integer(let number)): Double(number)
            case .literal(.number(let number)): number
            default: nil
            }
        guard let percent, (0...100).contains(percent) else { throw failure(advice: "as in percentile a 95") }
        advance()
        return percent
    }

    /// Whether an aggregate is next, rather than a property of that name, because a property follows.
    private var isFigure: Bool {
        guard isAggregate else { return false }
        switch following.kind {
        case .word: return !following.isOperator && !following.isWord("as")
        case .quoted, .metadata: return true
        default: return false
        }
    }

    private var isAggregate: Bool { Self.aggregateNames.contains { token.isWord($0) } }

    private mutating func group() throws(QuerySyntaxError) -> [PipelineStage] {
        if accept("group") { try expect("by") } else { advance() }
        let columns = try columns()
        for name in Self.aggregateNames { note(.word(name)) }
        return [.group(by: columns, isAggregate ? try figures() : [])]
    }
}
