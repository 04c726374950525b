extension Parser {
    /// The place of a calculation, which decides the meaning of quotes.
    enum Side {
        /// To the left of a comparison, or in another stage: quotes enclose a property's name.
        case left
        /// To the right of a comparison: quotes enclose a text.
        case right(isOrdered: Bool)
    }

    mutating func expression() throws(QuerySyntaxError) -> QueryProperty {
        let start = token
        switch try operand(.left) {
        case .property(let property): return property
        case let value: throw start.failure(value.dateAdvice, expected: [.property])
        }
    }

    mutating func operand(_ side: Side) throws(QuerySyntaxError) -> QueryOperand {
        operators = 0
        return try sum(side)
    }

    /// The rest of a calculation after its first part in parentheses.
    mutating func operand(from first: QueryOperand) throws(QuerySyntaxError) -> QueryOperand {
        try sum(.left, from: try product(.left, from: first))
    }

    private mutating func sum(_ side: Side) throws(QuerySyntaxError) -> QueryOperand {
        try sum(side, from: try product(side, from: try part(side)))
    }

    private mutating func sum(
        _ side: Side, from first: QueryOperand
    ) throws(QuerySyntaxError) -> QueryOperand {
        var result = first
        while true {
            let sign = token
            if let negative = negativeNumber {
                // After an operand, the minus of a number is the operator.
                advance()
                result = try joined(result, .minus, try product(side, from: .value(negative)), at: sign)
            } else {
                guard let found: QueryOperator = accept(.plus) ? .plus : accept(.minus) ? .minus : nil
                else { return result }
                result = try joined(result, found, try product(side, from: try part(side)), at: sign)
            }
        }
    }

    private mutating func product(
        _ side: Side, from first: QueryOperand
    ) throws(QuerySyntaxError) -> QueryOperand {
        var result = first
        while true {
            let sign = token
            guard let found: QueryOperator = accept(.times) ? .times : accept(.dividedBy) ? .dividedBy : nil
            else { return result }
            result = try joined(result, found, try part(side), at: sign)
        }
    }

    private mutating func joined(
        _ left: QueryOperand, _ sign: QueryOperator, _ right: QueryOperand, at place: Token
    ) throws(QuerySyntaxError) -> QueryOperand {
        var advice: String?
        if case (.value(let date), .value(let length)) = (left, right), date.isShifted(sign, length) {
            if let shifted = date.shifted(sign, length) { return .value(shifted) }
            advice = QueryLiteral.shiftAdvice
        }
        operators += 1
        advice =
            operators > Self.maximumDepth
            ? "a calculation has at most \(Self.maximumDepth) operators"
            : advice ?? left.fault ?? right.fault
        guard let advice else { return .property(.computed(left, sign, right)) }
        throw place.failure(advice)
    }

    private var negativeNumber: QueryLiteral? {
        guard case .literal(let literal) = token.kind, beginsWithMinus else { return nil }
        switch literal {
        case .integer(.min): return .unsigned(1 << 63)
        case .integer(let number): return .integer(-number)
        case .number(let number): return .number(-number)
        case .exact(let number): return QueryLiteral(number: String(number.description.dropFirst()))
        default: return nil
        }
    }

    private mutating func part(_ side: Side) throws(QuerySyntaxError) -> QueryOperand {
        if case .symbol(.openParenthesis) = token.kind {
            advance()
            try deepen()
            defer { depth -= 1 }
            let inner = try sum(side)
            try expect(.closeParenthesis)
            return inner
        }
        if case .literal(let literal) = token.kind {
            advance()
            return .value(literal)
        }
        guard case .right(let isOrdered) = side else {
            guard let dateWord else { return .property(try property()) }
            advance()
            return .value(.localDate(dateWord))
        }
        note(isOrdered ? .orderedValue : .value)
        if let literal {
            if isOrdered, !literal.isOrdered { throw failure() }
            advance()
            return .value(literal)
        }
        let start = position
        let property = try property()
        if position == start + 1 { bareWord = start }
        return .property(property)
    }

    /// Enters a level of nesting. The caller leaves it.
    mutating func deepen() throws(QuerySyntaxError) {
        guard depth < Self.maximumDepth else {
            throw failure(
                advice: "parentheses and \"not\" are nested more than \(Self.maximumDepth) deep")
        }
        depth += 1
    }
}

extension QueryOperand {
    var dateAdvice: String? {
        guard case .value(.localDate(let date)) = self, QueryDate(word: "\(date)") != nil else { return nil }
        return "\(date) is a date; a property of that name is written \"\(date)\""
    }

    fileprivate var isDate: Bool {
        switch self {
        case .property(let property): property.isDate
        case .value(let value): value.isDate
        }
    }

    /// Why the value can't be used in a calculation.
    fileprivate var fault: String? {
        switch self {
        case .value(.null), .value(.boolean): "calculations take numbers, durations, sizes and dates"
        case .value(.text(let text)):
            "a calculation can't use a text; a property of that name is written [\(QueryText.quoted(text))]"
        case .property(let property): property.isMany ? "a calculation can't use the elements of a list" : nil
        case .value: nil
        }
    }
}

extension QueryProperty {
    /// Whether it is a date wherever it is present.
    var isDate: Bool {
        switch self {
        case .metadata(let metadata): metadata.kind == .date
        case .converted(let conversion, _): conversion == .date
        case .computed(let left, .plus, let right): left.isDate || right.isDate
        case .computed(let left, .minus, .value(let right)): left.isDate && right.kind == .number
        case .computed, .path: false
        }
    }

    package var isMany: Bool {
        if case .path(let steps) = self { steps.contains(.each) } else { false }
    }
}
