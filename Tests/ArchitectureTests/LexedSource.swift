/// Which bytes of a Swift or C source are code, which are comments, and which lie in string literals.
/// A value type, safe from any thread.
///
/// A rule about code must not fire on a comment that mentions it, nor on a fixture inside a string, and
/// plain text search can't tell these apart. Regular expression literals count as code; a quote inside one
/// is taken for a string, at worst to the end of its line.
struct LexedSource {
    enum Language {
        case swift
        case c
    }

    enum Kind {
        case code
        case comment
        case string
    }

    private let bytes: [UInt8]
    private let kinds: [Kind]

    init(_ text: String, language: Language) {
        var lexer = Lexer(bytes: Array(text.utf8), language: language)
        lexer.run()
        bytes = lexer.bytes
        kinds = lexer.kinds
    }

    /// The text with everything of other kinds blanked, so that line numbers stay as they are.
    func text(keeping kept: Set<Kind>) -> String {
        let newline = UInt8(ascii: "\n")
        let blank = UInt8(ascii: " ")
        return String(
            decoding: zip(bytes, kinds).map { byte, kind in
                byte == newline || kept.contains(kind) ? byte : blank
            }, as: UTF8.self)
    }
}

private struct Lexer {
    private enum Mode {
        /// Code; inside an interpolation, with the number of its open parentheses.
        case code(interpolationDepth: Int?)
        case string(pounds: Int, multiline: Bool)
    }

    let bytes: [UInt8]
    private(set) var kinds: [LexedSource.Kind] = []
    private let language: LexedSource.Language
    private var modes: [Mode] = [.code(interpolationDepth: nil)]

    init(bytes: [UInt8], language: LexedSource.Language) {
        self.bytes = bytes
        self.language = language
        kinds.reserveCapacity(bytes.count)
    }

    mutating func run() {
        while kinds.count < bytes.count {
            switch modes[modes.count - 1] {
            case .code(let depth): stepThroughCode(interpolationDepth: depth)
            case .string(let pounds, let multiline): stepThroughString(pounds: pounds, multiline: multiline)
            }
        }
    }

    private func isAt(_ literal: StaticString, offset: Int = 0) -> Bool {
        let start = kinds.count + offset
        guard start + literal.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<literal.utf8CodeUnitCount).allSatisfy { bytes[start + $0] == literal.utf8Start[$0] }
    }

    private func pounds(offset: Int = 0) -> Int {
        bytes[min(kinds.count + offset, bytes.count)...].prefix { $0 == UInt8(ascii: "#") }.count
    }

    private mutating func mark(_ count: Int, as kind: LexedSource.Kind) {
        kinds.append(contentsOf: repeatElement(kind, count: min(count, bytes.count - kinds.count)))
    }

    private mutating func stepThroughCode(interpolationDepth: Int?) {
        if isAt("//") {
            while kinds.count < bytes.count, !isAt("\n") { mark(1, as: .comment) }
        } else if isAt("/*") {
            markBlockComment()
        } else if language == .c, isAt("'") {
            markCharacterLiteral()
        } else if let opening = openingQuote() {
            modes.append(.string(pounds: opening.pounds, multiline: opening.multiline))
            mark(opening.length, as: .string)
        } else if let depth = interpolationDepth, isAt("(") || isAt(")") {
            let remaining = depth + (isAt("(") ? 1 : -1)
            modes[modes.count - 1] = .code(interpolationDepth: remaining)
            if remaining == 0 { modes.removeLast() }
            mark(1, as: .code)
        } else {
            mark(1, as: .code)
        }
    }

    private func openingQuote() -> (pounds: Int, multiline: Bool, length: Int)? {
        let count = language == .swift ? pounds() : 0
        guard isAt("\"", offset: count) else { return nil }
        let multiline = language == .swift && isAt("\"\"\"", offset: count)
        return (count, multiline, count + (multiline ? 3 : 1))
    }

    private mutating func markBlockComment() {
        var depth = 0
        repeat {
            if isAt("/*"), depth == 0 || language == .swift {
                depth += 1
                mark(2, as: .comment)
            } else if isAt("*/") {
                depth -= 1
                mark(2, as: .comment)
            } else {
                mark(1, as: .comment)
            }
        } while depth > 0 && kinds.count < bytes.count
    }

    private mutating func markCharacterLiteral() {
        mark(1, as: .string)
        while kinds.count < bytes.count, !isAt("'"), !isAt("\n") {
            mark(isAt("\\") ? 2 : 1, as: .string)
        }
        if isAt("'") { mark(1, as: .string) }
    }

    private mutating func stepThroughString(pounds expected: Int, multiline: Bool) {
        if isAt("\\"), pounds(offset: 1) >= expected {
            mark(1 + expected, as: .string)
            if language == .swift, isAt("(") {
                modes.append(.code(interpolationDepth: 1))
                mark(1, as: .code)
            } else if multiline || !isAt("\n") {
                mark(1, as: .string)
            }
        } else if isAt(multiline ? "\"\"\"" : "\""), pounds(offset: multiline ? 3 : 1) >= expected {
            mark((multiline ? 3 : 1) + expected, as: .string)
            modes.removeLast()
        } else if isAt("\n"), !multiline {
            // Not a string after all, or broken code: start afresh with the next line.
            modes.removeLast()
        } else {
            mark(1, as: .string)
        }
    }
}
