extension Parser {
    /// A condition: conjunctions joined by `or`, each of terms joined by `and`.
    mutating func predicate() throws(QuerySyntaxError) -> QueryPredicate {
        try disjunction(from: try negation())
    }

    private mutating func conjunction() throws(QuerySyntaxError) -> QueryPredicate {
        try conjunction(from: try negation())
    }

    private mutating func conjunction(from first: QueryPredicate) throws(QuerySyntaxError) -> QueryPredicate {
        var parts = [first]
        while accept("and") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(QuerySyntaxError) -> QueryPredicate {
        guard case .condition(let condition) = try start(inParentheses: false) else { throw failure() }
        return condition
    }

    /// The start of a condition: after a parenthesis, either a condition or a calculation.
    private enum Start {
        case condition(QueryPredicate)
        case operand(QueryOperand)
    }

    /// A condition without `and` and `or`; right after a parenthesis possibly a calculation up to the closing one.
    private mutating func start(inParentheses: Bool) throws(QuerySyntaxError) -> Start {
        try deepen()
        defer { depth -= 1 }
        // Not if a property has this name.
        if !following.isOperator, accept("not") { return .condition(.not(try negation())) }
        var left: QueryOperand
        if accept(.openParenthesis) {
            switch try start(inParentheses: true) {
            case .condition(let first):
                let condition = try disjunction(from: first)
                try expect(.closeParenthesis)
                return .condition(condition)
            case .operand(let inner):
                try expect(.closeParenthesis)
                left = try operand(from: inner)
            }
        } else if isCount {
            return .condition(try countComparison())
        } else {
            left = try operand(.left)
        }
        if inParentheses, case .symbol(.closeParenthesis) = token.kind { return .operand(left) }
        return .condition(try comparison(left))
    }

    private mutating func disjunction(from first: QueryPredicate) throws(QuerySyntaxError) -> QueryPredicate {
        var parts = [try conjunction(from: first)]
        while accept("or") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    var isCount: Bool {
        if token.isWord("count"), case .symbol(.openParenthesis) = following.kind { true } else { false }
    }

    private mutating func comparison(_ left: QueryOperand) throws(QuerySyntaxError) -> QueryPredicate {
        compared = if case .property(let property) = left { property } else { nil }
        if let relation = acceptRelation() { return try comparison(left, relation) }
        guard case .property(let property) = left else { throw failure(advice: left.dateAdvice) }
        if accept("not") { return .not(try wordComparison(property)) }
        if accept("is") { return try presence(of: property) }
        return try wordComparison(property)
    }

    private mutating func comparison(
        _ left: QueryOperand, _ relation: QueryRelation
    ) throws(QuerySyntaxError) -> QueryPredicate {
        let isOrdered = relation != .equal && relation != .notEqual
        let start = token
        switch (left, try operand(.right(isOrdered: isOrdered))) {
        case (.property(let property), .value(let value)):
            try check(value, at: start, against: property)
            return .compare(property, relation, value)
        case (.property(let property), .property(let other)): return .relate(property, relation, other)
        case (.value(let value), .property(let property)): return .compare(property, relation.reversed, value)
        case (.value, .value):
            throw start.failure(left.dateAdvice ?? "a condition needs a property", expected: [.property])
        }
    }

    private mutating func countComparison() throws(QuerySyntaxError) -> QueryPredicate {
        advance()
        advance()
        if case .symbol(.times) = token.kind {
            throw failure(advice: "count(a) counts the elements of a; the stage count counts rows")
        }
        let property = try expression()
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
        if accept("starts") {
            try expect("with")
            return .startsWith(property, try text())
        }
        if accept("ends") {
            try expect("with")
            return .endsWith(property, try text())
        }
        if accept("like") { return .like(property, pattern: try text(), caseSensitive: true) }
        if accept("ilike") { return .like(property, pattern: try text(), caseSensitive: false) }
        if accept("matches") { return .matches(property, pattern: try text()) }
        if accept("has") {
            if accept("any") { return .hasAny(property, try list()) }
            if accept("all") { return .hasAll(property, try list()) }
            return .hasAll(property, [try value()])
        }
        if accept("in") { return .isIn(property, try list(against: property)) }
        if accept("between") {
            let low = try value(isOrdered: true, against: property)
            try expect("and")
            return .between(property, low, try value(isOrdered: true, against: property))
        }
        throw failure()
    }

    private mutating func acceptRelation() -> QueryRelation? {
        for relation in QueryRelation.allCases {
            if let symbol = Token.Symbol(rawValue: relation.rawValue), accept(symbol) { return relation }
        }
        return nil
    }

    private mutating func presence(of property: QueryProperty) throws(QuerySyntaxError) -> QueryPredicate {
        let isNot = accept("not")
        if accept("empty") { return .presence(property, isNot ? .notEmpty : .empty) }
        guard accept("null") else {
            throw failure(advice: isNot ? nil : "\"is\" needs null or empty; compare values with =")
        }
        // If an operator follows, `empty` is a property in the next condition.
        guard token.isWord("or"), following.isWord("empty"), !token(at: 2).isOperator else {
            return .presence(property, isNot ? .notNull : .null)
        }
        advance()
        advance()
        // One element with content is enough, as for `is not null` and `is not empty`.
        if isNot, property.isMany { return .presence(property, .notEmpty) }
        let either = QueryPredicate.presence(property, .nullOrEmpty)
        return isNot ? .not(either) : either
    }

    // MARK: Properties

    mutating func property() throws(QuerySyntaxError) -> QueryProperty {
        note(.property)
        if case .metadata(let name) = token.kind {
            guard let metadata = QueryMetadata(rawValue: name.lowercased()) else {
                throw token.failure(nil, expected: QueryMetadata.allCases.map { .word("@" + $0.rawValue) })
            }
            advance()
            return .metadata(metadata)
        }
        if let conversion { return try converted(conversion) }
        var steps: [QueryProperty.Step] = [.name(try firstName())]
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

    var conversion: QueryConversion? {
        guard case .word(let word) = token.kind, case .symbol(.openParenthesis) = following.kind else {
            return nil
        }
        return QueryConversion(rawValue: word.lowercased())
    }

    private mutating func converted(_ conversion: QueryConversion) throws(QuerySyntaxError) -> QueryProperty {
        advance()
        advance()
        try deepen()
        defer { depth -= 1 }
        let operators = self.operators
        let start = token
        let property = try expression()
        self.operators = operators
        guard !property.isMany else { throw start.failure("the elements of a list can't be converted") }
        try expect(.closeParenthesis)
        return .converted(conversion, property)
    }

    /// The first name of a path: a word, or `["odd name"]` where plain quotes enclose a text.
    private mutating func firstName() throws(QuerySyntaxError) -> String {
        guard case .symbol(.openBracket) = token.kind, case .quoted(let name) = following.kind else {
            return try self.name()
        }
        advance()
        advance()
        try expect(.closeBracket)
        return name
    }

    mutating func name() throws(QuerySyntaxError) -> String {
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
        case .symbol(.closeBracket):
            advance()
            return .each
        default: throw failure(advice: "indices begin at 0; [] is all elements")
        }
        advance()
        try expect(.closeBracket)
        return step
    }

    // MARK: Values

    private mutating func value(
        isOrdered: Bool = false, against property: QueryProperty? = nil
    ) throws(QuerySyntaxError) -> QueryLiteral {
        note(isOrdered ? .orderedValue : .value)
        guard let literal, !isOrdered || literal.isOrdered else { throw failure(advice: unquotedAdvice) }
        try check(literal, at: token, against: property)
        advance()
        return try shifted(literal)
    }

    /// - Throws: if the property is a date and the value is a text that is not a date.
    private func check(
        _ value: QueryLiteral, at place: Token, against property: QueryProperty?
    ) throws(QuerySyntaxError) {
        guard let property, property.isDate, value.kind == .text else { return }
        throw place.failure("\(property) is a date, written like 2026-01-31")
    }

    /// Adds following durations to a date, as in `today - 3d`; other values are unchanged.
    private mutating func shifted(_ literal: QueryLiteral) throws(QuerySyntaxError) -> QueryLiteral {
        var date = literal
        while case .symbol(let symbol) = token.kind, let sign = QueryOperator(rawValue: symbol.rawValue),
            case .literal(let length) = following.kind, date.isShifted(sign, length)
        {
            guard let shifted = date.shifted(sign, length) else {
                throw token.failure(QueryLiteral.shiftAdvice)
            }
            advance()
            advance()
            date = shifted
        }
        return date
    }

    /// The date of the next word, unless it begins a path.
    var dateWord: QueryDate? {
        guard case .word(let word) = token.kind, let date = QueryDate(word: word) else { return nil }
        switch following.kind {
        case .symbol(.dot), .symbol(.openBracket): return nil
        default: return date
        }
    }

    var literal: QueryLiteral? {
        switch token.kind {
        case .literal(let literal): literal
        case .quoted(let text): .text(text)
        case .word where dateWord != nil: dateWord.map { .localDate($0) }
        case .word where token.isWord("true"): .boolean(true)
        case .word where token.isWord("false"): .boolean(false)
        case .word where token.isWord("null"): .null
        default: nil
        }
    }

    private var unquotedAdvice: String? {
        guard case .word(let word) = token.kind, literal == nil else { return nil }
        return "a text needs quotes: \"\(word)\""
    }

    private mutating func text() throws(QuerySyntaxError) -> String {
        note(.text)
        guard case .quoted(let text) = token.kind else { throw failure(advice: unquotedAdvice) }
        advance()
        return text
    }

    private mutating func list(
        against property: QueryProperty? = nil
    ) throws(QuerySyntaxError) -> [QueryLiteral] {
        if case .symbol(.openParenthesis) = token.kind { throw failure(advice: "a list needs brackets: […]") }
        try expect(.openBracket)
        var values: [QueryLiteral] = []
        if accept(.closeBracket) { return values }
        repeat { values.append(try value(against: property)) } while accept(.comma)
        try expect(.closeBracket)
        return values
    }
}

extension Token {
    var isOperator: Bool {
        switch kind {
        case .symbol(let symbol):
            symbol == .dot || symbol == .openBracket || QueryRelation(rawValue: symbol.rawValue) != nil
        case .word(let word): Token.operators.contains(word.lowercased())
        default: false
        }
    }

    static let operators: Set<String> = [
        "is", "in", "between", "contains", "icontains", "starts", "ends", "like", "ilike", "matches", "has",
    ]
}

extension QueryRelation {
    fileprivate var reversed: QueryRelation {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
