/// Reads a pipeline from its words. For one text; each step looks at the next word only, or at the one behind it, so the
/// time is linear in the length, and the depth of calls is bounded by ``maximumDepth``.
struct Parser {
    /// Parentheses and `not` within each other.
    static let maximumDepth = 100
    /// Bytes of the longest text.
    static let maximumBytes = 1 << 20

    private let bytes: [UInt8]
    private let tokens: [Token]
    private(set) var position = 0
    var depth = 0
    /// Operators of the calculation that is being read.
    var operators = 0
    /// Where a property stands to the right of a comparison, in a word that may be meant as a text.
    var bareWord: Int?
    /// What was looked for at the current word, in vain.
    private(set) var expected: [QueryExpectation] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tokens = Lexer.tokens(of: bytes)
    }

    // MARK: Words

    var token: Token { tokens[position] }
    var following: Token { tokens[min(position + 1, tokens.count - 1)] }
    var isAtEnd: Bool { token.kind == .end }
    func isOperator(at distance: Int) -> Bool {
        tokens[min(position + distance, tokens.count - 1)].isOperator
    }

    mutating func advance() {
        guard !isAtEnd else { return }
        position += 1
        expected = []
    }

    mutating func note(_ expectation: QueryExpectation) {
        if !expected.contains(expectation) { expected.append(expectation) }
    }

    /// Whether the token begins with a minus, as a negative number does.
    var beginsWithMinus: Bool { !isAtEnd && bytes[token.range.lowerBound] == UInt8(ascii: "-") }

    /// Takes the word if it is next, in either case.
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

    /// What is wrong at the current word.
    func failure(advice: String? = nil) -> QuerySyntaxError {
        // A property may always go on; who made a mistake behind it hardly meant that.
        let likely = expected.filter { !Self.continuations.contains($0) }
        let advice = advice ?? bareWordAdvice
        var error = QuerySyntaxError(
            range: token.range, found: token.shown, expected: likely.isEmpty ? expected : likely,
            advice: advice)
        if case .invalid(let problem) = token.kind {
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            error.found = text.count > 24 ? text.prefix(24) + "…" : text
            error.advice = problem
        }
        return error
    }

    private static let continuations = ([".", "["] + QueryOperator.allCases.map(\.rawValue)).map {
        QueryExpectation.word($0)
    }

    /// For who writes `name = New York`.
    private var bareWordAdvice: String? {
        guard let bareWord, bareWord + 1 == position, case .word(let first) = tokens[bareWord].kind,
            case .word(let second) = token.kind
        else { return nil }
        return "a text stands in quotes: \(QueryText.quoted(first + " " + second))"
    }

    // MARK: Pipelines

    /// All stages; with what is wrong in those that can't be read. Behind an error reading goes on with the next stage.
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
            // At the end nothing more is looked for, so that what was expected there stays known.
        } while !isAtEnd && accept(.pipe)
        return (Self.joined(stages), errors)
    }

    private mutating func expectEndOfStage() throws(QuerySyntaxError) {
        if case .symbol(.pipe) = token.kind { return }
        note(.word("|"))
        note(.end)
        guard isAtEnd else { throw failure(advice: token.misplacedStageAdvice) }
    }

    /// A grouping takes the figures of the stage behind it, or, written the other way round, before it; without any it
    /// counts.
    private static func joined(_ stages: [PipelineStage]) -> [PipelineStage] {
        var joined: [PipelineStage] = []
        for stage in stages {
            switch (joined.last, stage) {
            case (.group(let columns, []), .aggregate(let figures)),
                (.aggregate(let figures), .group(let columns, [])):
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

extension Token {
    /// As an error shows it.
    var shown: String {
        switch kind {
        case .word(let word): "\"\(word)\""
        case .quoted(let text): "the text \"\(text.prefix(40))\""
        case .literal(let literal): literal.description
        case .metadata(let name): "@\(name)"
        case .symbol(let symbol): "\"\(symbol.rawValue)\""
        case .invalid: "something else"
        case .end: "the end"
        }
    }

    /// Whether it is that word, in either case.
    func isWord(_ word: String) -> Bool {
        if case .word(let written) = kind { written == word || written.lowercased() == word } else { false }
    }

    /// A stage's name where a stage ends: the `|` is missing.
    var misplacedStageAdvice: String? {
        guard case .word(let word) = kind else { return nil }
        if Parser.stageNames.contains(word.lowercased()) { return "a | goes before each stage" }
        return Parser.otherNames[word.lowercased()].map {
            "a | goes before each stage, and this one is called \($0)"
        }
            ?? Parser.advice[word.lowercased()]
    }
}

extension QueryPipeline {
    /// What a text says, or what is wrong with it: each error that was found, at least one.
    public enum ParseResult: Sendable, Hashable {
        case pipeline(QueryPipeline)
        case errors([QuerySyntaxError])
    }

    /// Reads a pipeline. Linear in the length of the text, which may be 1 MiB; never fails in any other way than by the
    /// errors that it returns.
    public static func parse(_ text: String) -> ParseResult {
        guard text.utf8.count <= Parser.maximumBytes else { return .errors([.tooLong(text)]) }
        var parser = Parser(Array(text.utf8))
        let (stages, errors) = parser.pipeline()
        return errors.isEmpty ? .pipeline(QueryPipeline(stages)) : .errors(errors)
    }

    /// The pipeline that the text says.
    /// - Throws: the first error.
    public init(_ text: String) throws(QuerySyntaxError) {
        switch QueryPipeline.parse(text) {
        case .pipeline(let pipeline): self = pipeline
        case .errors(let errors): throw errors[0]
        }
    }
}

extension QueryPredicate {
    /// Reads a condition alone, as it stands behind `find`.
    public init(_ text: String) throws(QuerySyntaxError) {
        guard text.utf8.count <= Parser.maximumBytes else { throw .tooLong(text) }
        var parser = Parser(Array(text.utf8))
        let predicate = try parser.predicate()
        parser.note(.end)
        guard parser.isAtEnd else { throw parser.failure() }
        self = predicate
    }
}

extension QuerySyntaxError {
    fileprivate static func tooLong(_ text: String) -> QuerySyntaxError {
        QuerySyntaxError(
            range: Parser.maximumBytes..<text.utf8.count, found: "a text of \(text.utf8.count) bytes",
            expected: [], advice: "a query has at most \(Parser.maximumBytes)")
    }
}
