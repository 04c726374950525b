/// Parses tokens into a pipeline, in linear time. ``maximumDepth`` bounds the recursion.
struct Parser {
    /// The limit for nested parentheses and `not`.
    static let maximumDepth = 100
    /// The longest text, in bytes.
    static let maximumBytes = 1 << 20

    private let bytes: [UInt8]
    private let tokens: [Token]
    private(set) var position = 0
    var depth = 0
    /// Operators so far in the current calculation.
    var operators = 0
    /// The position of a bare word to the right of a comparison: a property, but possibly meant as a text.
    var bareWord: Int?
    /// The left side of the latest comparison, if it is a single property.
    var compared: QueryProperty?
    private(set) var expected: [QueryExpectation] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tokens = Lexer.tokens(of: bytes)
    }

    // MARK: Words

    var token: Token { tokens[position] }
    var following: Token { token(at: 1) }
    var isAtEnd: Bool { token.kind == .end }
    func token(at distance: Int) -> Token { tokens[min(position + distance, tokens.count - 1)] }

    /// Whether an operator of other languages, or a quote or space beyond ASCII, follows, which an error should name.
    var isFollowedByForeignOperator: Bool {
        guard case .invalid = following.kind else { return false }
        let first = bytes[following.range.lowerBound]
        return first >= 0x80 || "<%~&|^?:".utf8.contains(first)
    }

    var isRelationBehindParentheses: Bool {
        var depth = 0
        for (place, token) in tokens[(position + 1)...].enumerated() {
            if case .symbol(.openParenthesis) = token.kind { depth += 1 }
            if case .symbol(.closeParenthesis) = token.kind { depth -= 1 }
            guard depth == 0 else { continue }
            guard case .symbol(let symbol) = tokens[min(position + place + 2, tokens.count - 1)].kind else {
                return false
            }
            return QueryRelation(rawValue: symbol.rawValue) != nil
        }
        return false
    }

    mutating func advance() {
        guard !isAtEnd else { return }
        position += 1
        expected = []
    }

    mutating func note(_ expectation: QueryExpectation) {
        if !expected.contains(expectation) { expected.append(expectation) }
    }

    var beginsWithMinus: Bool { !isAtEnd && bytes[token.range.lowerBound] == UInt8(ascii: "-") }

    /// Consumes the word if it is next, in either case.
    mutating func accept(_ word: String) -> Bool {
        if token.isWord(word) {
            advance()
            return true
        }
        note(.word(word))
        return false
    }

    mutating func accept(_ symbol: Token.Symbol) -> Bool {
        if case .symbol(symbol) = token.kind {
            advance()
            return true
        }
        note(.word(symbol.rawValue))
        return false
    }

    mutating func expect(_ symbol: Token.Symbol) throws(QuerySyntaxError) {
        if !accept(symbol) { throw failure() }
    }

    mutating func expect(_ word: String) throws(QuerySyntaxError) {
        if !accept(word) { throw failure() }
    }

    func failure(advice: String? = nil) -> QuerySyntaxError {
        // Leave out operators and paths after a property: they are rarely intended.
        let likely = expected.filter { !Self.continuations.contains($0) }
        let advice = advice ?? bareWordAdvice ?? nameAdvice
        var error = token.failure(advice, expected: likely.isEmpty ? expected : likely)
        if case .invalid(let problem) = token.kind {
            let found = Token.shortened(String(decoding: bytes[token.range], as: UTF8.self))
            error.found = found.first == "\"" ? found : "\"\(found)\""
            error.advice = problem
        }
        return error
    }

    private static let continuations = ([".", "["] + QueryOperator.allCases.map(\.rawValue)).map {
        QueryExpectation.word($0)
    }

    /// Advice for a text without quotes, as in `name = New York`.
    private var bareWordAdvice: String? {
        guard let bareWord, bareWord + 1 == position, case .word(let first) = tokens[bareWord].kind,
            case .word(let second) = token.kind
        else { return nil }
        return "a text needs quotes: \(QueryText.quoted(first + " " + second))"
    }

    /// Advice for a column's name with a space but without quotes, as in `sort v 2` and `sort sum n`.
    private var nameAdvice: String? {
        guard position > 0, expected.contains(.word(".")), case .word(let first) = tokens[position - 1].kind
        else { return nil }
        let rest: String
        switch token.kind {
        case .word(let word) where Self.aggregateNames.contains(first.lowercased()): rest = word
        case .literal(.integer(let number)): rest = String(number)
        default: return nil
        }
        return "a name with a space needs quotes: \(QueryText.quoted(first + " " + rest))"
    }

    // MARK: Pipelines

    /// All stages, and the errors of invalid ones, after which parsing continues.
    mutating func pipeline() -> (stages: [PipelineStage], errors: [QuerySyntaxError]) {
        var stages: [PipelineStage] = []
        var errors: [QuerySyntaxError] = []
        if isAtEnd {
            noteStages()
            return ([], [])
        }
        repeat {
            do throws(QuerySyntaxError) {
                stages.append(contentsOf: try stage())
                try expectEndOfStage()
            } catch {
                errors.append(error)
                while !isAtEnd, token.kind != .symbol(.pipe) { advance() }
            }
            // Don't try to accept a `|` at the end: that would change `expected`.
        } while !isAtEnd && accept(.pipe)
        return (Self.joined(stages), errors)
    }

    private mutating func expectEndOfStage() throws(QuerySyntaxError) {
        if case .symbol(.pipe) = token.kind { return }
        note(.word("|"))
        note(.end)
        guard isAtEnd else { throw failure(advice: token.misplacedStageAdvice) }
    }

    /// A grouping takes the aggregates of an adjacent stage, unless it groups by their names; without any it counts.
    private static func joined(_ stages: [PipelineStage]) -> [PipelineStage] {
        var joined: [PipelineStage] = []
        for stage in stages {
            switch (joined.last, stage) {
            case (.group(let columns, []), .aggregate(let figures)),
                (.aggregate(let figures), .group(let columns, [])) where !figures.have(columns):
                joined[joined.count - 1] = .group(by: columns, figures)
            default: joined.append(stage)
            }
        }
        return joined.map { stage in
            if case .group(let columns, []) = stage {
                .group(by: columns, [QueryFigure(.count)])
            } else {
                stage
            }
        }
    }
}

extension [QueryFigure] {
    fileprivate func have(_ columns: [QueryColumn]) -> Bool {
        let names = columnNames
        return columns.flatMap(\.property.sources).contains { source in
            guard case .path(let steps) = source, case .name(let name)? = steps.first else { return false }
            return names.contains(name)
        }
    }
}

extension Token {
    var shown: String {
        switch kind {
        case .word(let word): "\"\(word)\""
        case .quoted(let text): "the text \"\(text.prefix(40))\""
        case .literal(.exact(let number)): Self.shortened(number.description)
        case .literal(let literal): literal.description
        case .metadata(let name): "@\(name)"
        case .symbol(let symbol): "\"\(symbol.rawValue)\""
        case .invalid: "something else"
        case .end: "the end"
        }
    }

    func failure(_ advice: String?, expected: [QueryExpectation] = []) -> QuerySyntaxError {
        QuerySyntaxError(range: range, found: shown, expected: expected, advice: advice)
    }

    fileprivate static func shortened(_ text: String) -> String {
        text.count > 24 ? text.prefix(24) + "…" : text
    }

    func isWord(_ word: String) -> Bool {
        if case .word(let written) = kind { written == word || written.lowercased() == word } else { false }
    }

    /// Advice for a stage's name without a `|` before it.
    var misplacedStageAdvice: String? {
        guard case .word(let word) = kind else { return nil }
        if Parser.stageNames.contains(word.lowercased()) { return "separate stages with |" }
        return Parser.otherNames[word.lowercased()].map {
            "separate stages with |; this one is called \($0)"
        }
            ?? Parser.advice[word.lowercased()]
    }
}

extension QueryPipeline {
    /// The pipeline of a text, or its errors.
    public enum ParseResult: Sendable, Hashable {
        /// A valid pipeline.
        case pipeline(QueryPipeline)
        /// All errors in the order of the text; at least one.
        case errors([QuerySyntaxError])
    }

    /// Parses a pipeline of up to 1 MiB; a longer text is an error. O(length).
    public static func parse(_ text: String) -> ParseResult {
        guard text.utf8.count <= Parser.maximumBytes else { return .errors([.tooLong(text)]) }
        var parser = Parser(Array(text.utf8))
        let (stages, errors) = parser.pipeline()
        return errors.isEmpty ? .pipeline(QueryPipeline(stages)) : .errors(errors)
    }

    /// Parses a pipeline; throws the first error.
    public init(_ text: String) throws(QuerySyntaxError) {
        switch QueryPipeline.parse(text) {
        case .pipeline(let pipeline): self = pipeline
        case .errors(let errors): throw errors[0]
        }
    }
}

extension QueryPredicate {
    /// Parses a condition, as after `find`.
    public init(_ text: String) throws(QuerySyntaxError) {
        self = try Parser.parse(text) { (parser) throws(QuerySyntaxError) in try parser.predicate() }
    }
}

extension QueryProperty {
    /// Parses a property: a path such as `address.city`, metadata, or a calculation with them.
    package init(_ text: String) throws(QuerySyntaxError) {
        self = try Parser.parse(text) { (parser) throws(QuerySyntaxError) in try parser.expression() }
    }
}

extension Parser {
    fileprivate static func parse<Part>(
        _ text: String, _ part: (inout Parser) throws(QuerySyntaxError) -> Part
    ) throws(QuerySyntaxError) -> Part {
        guard text.utf8.count <= maximumBytes else { throw .tooLong(text) }
        var parser = Parser(Array(text.utf8))
        let parsed = try part(&parser)
        parser.note(.end)
        guard parser.isAtEnd else { throw parser.failure() }
        return parsed
    }
}

extension QuerySyntaxError {
    fileprivate static func tooLong(_ text: String) -> QuerySyntaxError {
        QuerySyntaxError(
            range: Parser.maximumBytes..<text.utf8.count, found: "a text of \(text.utf8.count) bytes",
            expected: [], advice: "a query has at most \(Parser.maximumBytes)")
    }
}
