extension Parser {
    /// A condition: conjunctions joined by `or`, each of terms joined by `and`.
    mutating func predicate() throws(QuerySyntaxError) -> QueryPredicate {
        var parts = [try conjunction()]
        while accept("or") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(QuerySyntaxError) -> QueryPredicate {
        var parts = [try negation()]
        while accept("and") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(QuerySyntaxError) -> QueryPredicate {
        guard depth < Self.maximumDepth else {
            throw failure(
                advice: "parentheses and not stand more than \(Self.maximumDepth) deep in each other")
        }
        depth += 1
        defer { depth -= 1 }
        // A property may have this name.
        if !isProperty, accept("not") { return .not(try negation()) }
        if accept(.openParenthesis) {
            let inner = try predicate()
            try expect(.closeParenthesis)
            return inner
        }
        return try comparison()
    }

    /// Whether the current word must be a property, because an operator follows.
    private var isProperty: Bool { following.isOperator }

    private mutating func comparison() throws(QuerySyntaxError) -> QueryPredicate {
        if case .word("count") = token.kind, case .symbol(.openParenthesis) = following.kind {
            return try countComparison()
        }
        let property = try property()
        if let relation = acceptRelation() {
            let isEquality = relation == .equal || relation == .notEqual
            return .compare(property, relation, isEquality ? try value() : try orderedValue())
        }
        if accept("not") { return .not(try wordComparison(property)) }
        if accept("is") { return .presence(property, try presence()) }
        return try wordComparison(property)
    }

    private mutating func countComparison() throws(QuerySyntaxError) -> QueryPredicate {
        advance()
        advance()
        let property = try property()
        try expect(.closeParenthesis)
        guard let relation = acceptRelation() else { throw failure() }
        note(.count)
        guard case .literal(.integer(let number)) = token.kind else { throw failure() }
        advance()
        return .count(property, relation, Int(number))
    }

    private mutating func wordComparison(_ property: QueryProperty) throws(QuerySyntaxError) -> QueryPredicate
    {
        if accept("contains") { return .contains(property, try text(), caseSensitive: true) }
        if accept("icontains") { return .contains(property, try text(), caseSensitive: false) }
        if accept("matches") { return .matches(property, pattern: try text()) }
        if accept("has") {
            if accept("any") { return .hasAny(property, try list()) }
            if accept("all") { return .hasAll(property, try list()) }
            return .hasAll(property, [try value()])
        }
        if accept("in") { return .isIn(property, try list()) }
        if accept("between") {
            let low = try orderedValue()
            try expect("and")
            return .between(property, low, try orderedValue())
        }
        throw failure()
    }

    private mutating func acceptRelation() -> QueryRelation? {
        for relation in QueryRelation.allCases {
            if let symbol = Token.Symbol(rawValue: relation.rawValue), accept(symbol) { return relation }
        }
        return nil
    }

    private mutating func presence() throws(QuerySyntaxError) -> QueryPresence {
        if accept("not") {
            if accept("null") { return .notNull }
            if accept("empty") { return .notEmpty }
            throw failure()
        }
        if accept("empty") { return .empty }
        guard accept("null") else {
            throw failure(advice: "is asks for null and empty; values are compared with =")
        }
        // If an operator follows, `empty` is a property in the next condition.
        guard case .word("or") = token.kind, case .word("empty") = following.kind, !isOperator(at: 2) else {
            return .null
        }
        advance()
        advance()
        return .nullOrEmpty
    }

    // MARK: Properties

    mutating func property() throws(QuerySyntaxError) -> QueryProperty {
        note(.property)
        if case .metadata(let name) = token.kind {
            guard let metadata = QueryMetadata(rawValue: name) else {
                let names = QueryMetadata.allCases.map { QueryExpectation.word("@" + $0.rawValue) }
                throw QuerySyntaxError(range: token.range, found: token.shown, expected: names, advice: nil)
            }
            advance()
            return .metadata(metadata)
        }
        var steps: [QueryProperty.Step] = [.name(try name())]
        while steps.count < Self.maximumDepth {
            if accept(.dot) {
                if case .literal(.integer(let number)) = token.kind, number >= 0 {
                    advance()
                    steps.append(.index(Int(number)))
                } else {
                    note(.property)
                    steps.append(.name(try name()))
                }
            } else if accept(.openBracket) {
                steps.append(try bracketed())
            } else {
                break
            }
        }
        return .path(steps)
    }

    private mutating func name() throws(QuerySyntaxError) -> String {
        switch token.kind {
        case .word(let name), .quoted(let name):
            advance()
            return name
        default: throw failure()
        }
    }

    private mutating func bracketed() throws(QuerySyntaxError) -> QueryProperty.Step {
        note(.count)
        let step: QueryProperty.Step
        switch token.kind {
        case .literal(.integer(let number)) where number >= 0: step = .index(Int(number))
        case .quoted(let name): step = .name(name)
        default: throw failure(advice: "elements count from 0 on")
        }
        advance()
        try expect(.closeBracket)
        return step
    }

    // MARK: Values

    private mutating func value() throws(QuerySyntaxError) -> QueryLiteral {
        note(.value)
        guard let literal = literal else { throw failure(advice: unquotedAdvice) }
        advance()
        return literal
    }

    private mutating func orderedValue() throws(QuerySyntaxError) -> QueryLiteral {
        note(.orderedValue)
        guard let literal = literal, literal.isOrdered else { throw failure(advice: unquotedAdvice) }
        advance()
        return literal
    }

    private var literal: QueryLiteral? {
        switch token.kind {
        case .literal(let literal): literal
        case .quoted(let text): .text(text)
        case .word("true"): .boolean(true)
        case .word("false"): .boolean(false)
        case .word("null"): .null
        default: nil
        }
    }

    private var unquotedAdvice: String? {
        guard case .word(let word) = token.kind, literal == nil else { return nil }
        return "a text stands in quotes: \"\(word)\""
    }

    private mutating func text() throws(QuerySyntaxError) -> String {
        note(.text)
        guard case .quoted(let text) = token.kind else { throw failure(advice: unquotedAdvice) }
        advance()
        return text
    }

    private mutating func list() throws(QuerySyntaxError) -> [QueryLiteral] {
        try expect(.openBracket)
        var values: [QueryLiteral] = []
        if accept(.closeBracket) { return values }
        repeat { values.append(try value()) } while accept(.comma)
        try expect(.closeBracket)
        return values
    }
}

extension Token {
    /// Whether it follows a property.
    var isOperator: Bool {
        switch kind {
        case .symbol(let symbol):
            symbol == .dot || symbol == .openBracket || QueryRelation(rawValue: symbol.rawValue) != nil
        case .word(let word): Token.operators.contains(word)
        default: false
        }
    }

    static let operators: Set<String> = ["is", "in", "between", "contains", "icontains", "matches", "has"]
}
