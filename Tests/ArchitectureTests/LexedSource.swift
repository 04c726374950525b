/// The bytes of a Swift source by kind: code, comments, string literals. Suffices for the few C sources.
///
/// Rules about code must not match comments or fixtures in strings. Regular expressions, and C's character literals, count as
/// code; a quote in one starts a string, at worst up to the end of its line.
struct LexedSource {
    enum Kind {
        case code
        case comment
        case string
    }

    /// Bytes of one kind up to `end`. Runs are faster than a kind for each byte: each test run reads the whole package.
    fileprivate struct Run {
        let kind: Kind
        var end: Int
    }

    private let bytes: [UInt8]
    private let runs: [Run]

    init(_ text: String) {
        var lexer = Lexer(bytes: Array(text.utf8))
        lexer.run()
        bytes = lexer.bytes
        runs = lexer.runs
    }

    /// The text with bytes of other kinds blanked, which keeps line numbers.
    func text(keeping kept: Set<Kind>) -> String {
        let newline = UInt8(ascii: "\n")
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for run in runs {
            let content = bytes[output.count..<run.end]
            if kept.contains(run.kind) {
                output += content
            } else {
                for byte in content { output.append(byte == newline ? byte : UInt8(ascii: " ")) }
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

private struct Lexer {
    private enum Mode {
        /// Code; inside an interpolation, with the number of its open parentheses.
        case code(interpolationDepth: Int?)
        case string(pounds: Int, multiline: Bool)
    }

    let bytes: [UInt8]
    private(set) var runs: [LexedSource.Run] = []
    private var place = 0
    private var modes: [Mode] = [.code(interpolationDepth: nil)]

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func run() {
        while place < bytes.count {
            switch modes[modes.count - 1] {
            case .code(let depth): stepThroughCode(interpolationDepth: depth)
            case .string(let pounds, let multiline): stepThroughString(pounds: pounds, multiline: multiline)
            }
        }
    }

    private func isAt(_ literal: StaticString, offset: Int = 0) -> Bool {
        let start = place + offset
        guard start + literal.utf8CodeUnitCount <= bytes.count else { return false }
        return (0..<literal.utf8CodeUnitCount).allSatisfy { bytes[start + $0] == literal.utf8Start[$0] }
    }

    private func pounds(offset: Int = 0) -> Int {
        bytes[min(place + offset, bytes.count)...].prefix { $0 == UInt8(ascii: "#") }.count
    }

    private mutating func mark(_ count: Int, as kind: LexedSource.Kind) {
        place = min(place + count, bytes.count)
        if runs.last?.kind == kind {
            runs[runs.count - 1].end = place
        } else {
            runs.append(LexedSource.Run(kind: kind, end: place))
        }
    }

    /// Marks the bytes before the next one that may start or end something; false without any.
    private mutating func markPlain(as kind: LexedSource.Kind) -> Bool {
        var end = place
        while end < bytes.count, !Self.isSpecial(bytes[end]) { end += 1 }
        guard end > place else { return false }
        mark(end - place, as: kind)
        return true
    }

    /// Line ends, quotes, number signs, parentheses, asterisks, slashes and backslashes.
    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x0a, 0x22, 0x23, 0x28, 0x29, 0x2a, 0x2f, 0x5c: true
        default: false
        }
    }

    private mutating func stepThroughCode(interpolationDepth: Int?) {
        if markPlain(as: .code) { return }
        if isAt("//") {
            while place < bytes.count, !isAt("\n") {
                if !markPlain(as: .comment) { mark(1, as: .comment) }
            }
        } else if isAt("/*") {
            markBlockComment()
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
        let count = pounds()
        guard isAt("\"", offset: count) else { return nil }
        let multiline = isAt("\"\"\"", offset: count)
        return (count, multiline, count + (multiline ? 3 : 1))
    }

    private mutating func markBlockComment() {
        var depth = 0
        repeat {
            if isAt("/*") {
                depth += 1
                mark(2, as: .comment)
            } else if isAt("*/") {
                depth -= 1
                mark(2, as: .comment)
            } else if !markPlain(as: .comment) {
                mark(1, as: .comment)
            }
        } while depth > 0 && place < bytes.count
    }

    private mutating func stepThroughString(pounds expected: Int, multiline: Bool) {
        if markPlain(as: .string) { return }
        if isAt("\\"), pounds(offset: 1) >= expected {
            mark(1 + expected, as: .string)
            if isAt("(") {
                modes.append(.code(interpolationDepth: 1))
                mark(1, as: .code)
            } else if multiline || !isAt("\n") {
                mark(1, as: .string)
            }
        } else if isAt(multiline ? "\"\"\"" : "\""), pounds(offset: multiline ? 3 : 1) >= expected {
            mark((multiline ? 3 : 1) + expected, as: .string)
            modes.removeLast()
        } else if isAt("\n"), !multiline {
            // No string, or broken code: continue with the next line.
            modes.removeLast()
        } else {
            mark(1, as: .string)
        }
    }
}
