/// A possible completion at a place in a query's text.
public struct QueryCompletion: Sendable, Hashable {
    /// The kind of a completion.
    public enum Kind: Sendable, Hashable {
        /// A keyword or sign of the language.
        case word
        /// A property of the values.
        case property
        /// Metadata of entries, such as `@size`.
        case metadata
        /// A value of the compared property in some entry.
        case value
        /// A description, such as `a whole number`. Not to be inserted.
        case placeholder
    }

    /// The text to insert; for a placeholder, to show.
    public var text: String
    /// The kind of the completion.
    public var kind: Kind
    /// The bytes of the query's text to replace: the beginning of the word.
    public var range: Range<Int>
}

extension QueryPipeline {
    /// The possible completions `offset` bytes from the start of `text`, independent of the text after it. They match the
    /// beginning of the word in either case. Closing and separating signs are last. O(length).
    ///
    /// - Parameters:
    ///   - text: the unfinished query.
    ///   - offset: bytes from the start of `text`.
    ///   - properties: known property names, the most useful first. A name with dots is the path to a nested property.
    ///   - values: known values of a property, the most useful first; `nil`: unknown; offers `true`, `false` and `null`.
    public static func completions(
        in text: String, at offset: Int, properties: [String] = [],
        values: (QueryProperty) -> [QueryLiteral]? = { _ in nil }
    ) -> [QueryCompletion] {
        let bytes = Array(text.utf8)
        guard bytes.count <= Parser.maximumBytes else { return [] }
        let end = min(max(0, offset), bytes.count)
        let tokens = Lexer.tokens(of: Array(bytes[..<end]))
        var start = end
        var isText = false
        if let last = tokens.dropLast().last, last.range.upperBound == end {
            switch last.kind {
            case .word, .metadata: start = last.range.lowerBound
            // The beginning of a compared text.
            case .invalid where bytes[last.range.lowerBound] == UInt8(ascii: "\""):
                start = last.range.lowerBound
                isText = true
            // There is nothing to complete inside a number.
            case .invalid, .literal: return []
            case .quoted, .symbol, .end: break
            }
        }
        // A property's name begins after the last dot.
        let written = String(decoding: bytes[start..<end], as: UTF8.self).lowercased()
        let path = Self.path(before: start, tokens)
        var parser = Parser(Array(bytes[..<start]))
        _ = parser.pipeline()
        let known = parser.compared.flatMap(values)
        var candidates = parser.expected.flatMap {
            Self.candidates($0, properties: properties, behind: path, values: known)
        }
        // A stage may be a bare condition. Its properties are offered once a letter of them is typed.
        if !written.isEmpty, parser.expected.contains(.word("find")) {
            candidates += Self.names(of: properties, behind: path).map {
                Candidate(text: $0, kind: .property, isBare: true)
            }
        }
        let takesDates =
            known?.contains { $0.kind.contains(.date) } ?? parser.compared.map(\.mayBeDate) ?? false
        if takesDates, parser.expected.contains(where: { $0 == .value || $0 == .orderedValue }) {
            candidates += QueryDate.words.map { Candidate(text: $0, kind: .word) }
        }
        return candidates.enumerated().filter {
            if isText, $1.kind != .value { return false }
            // Metadata is also found without its sign.
            let text = $1.kind == .metadata && !written.hasPrefix("@") ? $1.text.dropFirst() : $1.text[...]
            return $1.kind == .placeholder ? written.isEmpty : text.lowercased().hasPrefix(written)
        }
        .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
        .map { QueryCompletion(text: $0.element.text, kind: $0.element.kind, range: start..<end) }
    }

    /// The part of the path that ends at `end`: `address.` before `city`.
    private static func path(before end: Int, _ tokens: [Token]) -> String {
        var path = ""
        var place = end
        for token in tokens.dropLast().reversed() where token.range.upperBound <= end {
            guard token.range.upperBound == place else { break }
            switch token.kind {
            case .symbol(.dot): path = "." + path
            case .word(let name), .quoted(let name):
                guard path.hasPrefix(".") else { return path }
                path = name + path
            default: return path
            }
            place = token.range.lowerBound
        }
        return path
    }

    private struct Candidate {
        var text: String
        var kind: QueryCompletion.Kind
        /// Whether it is at the start of a stage, and follows the stages' names.
        var isBare = false

        var rank: Int {
            switch kind {
            case .value: -1
            case .property: isBare ? 1 : 0
            case .word where QueryOperator(rawValue: text) != nil: 5
            case .word: text.utf8.first?.isWordStart == true ? 1 : 3
            case .metadata: 2
            case .placeholder: 4
            }
        }
    }

    /// The properties that begin with a path; the path is cut off.
    private static func names(of properties: [String], behind path: String) -> [String] {
        properties.filter { $0.hasPrefix(path) }.map { property in
            let names = property.dropFirst(path.utf8.count == 0 ? 0 : path.count).split(separator: ".")
            return names.map { QueryText.name(String($0)) }.joined(separator: ".")
        }
    }

    private static func candidates(
        _ expectation: QueryExpectation, properties: [String], behind path: String, values: [QueryLiteral]?
    ) -> [Candidate] {
        switch expectation {
        case .word(let word): return [Candidate(text: word, kind: .word)]
        case .property:
            let own = names(of: properties, behind: path).map { Candidate(text: $0, kind: .property) }
            guard path.isEmpty else { return own }
            return own + QueryMetadata.allCases.map { Candidate(text: "@" + $0.rawValue, kind: .metadata) }
                + QueryConversion.allCases.map { Candidate(text: $0.rawValue + "(", kind: .property) }
        case .value, .orderedValue, .text:
            let words = ["true", "false", "null"].map { Candidate(text: $0, kind: .word) }
            let fitting = values?.filter(expectation.takes).map {
                Candidate(text: $0.description, kind: .value)
            }
            return (fitting ?? (expectation == .value ? words : []))
                + [Candidate(text: expectation.name, kind: .placeholder)]
        case .count, .percent: return [Candidate(text: expectation.name, kind: .placeholder)]
        case .end: return []
        }
    }
}

extension QueryProperty {
    fileprivate var mayBeDate: Bool {
        if case .metadata(let metadata) = self { metadata.kind == .date } else { true }
    }
}

extension QueryExpectation {
    fileprivate func takes(_ literal: QueryLiteral) -> Bool {
        switch self {
        case .value: true
        case .orderedValue: literal.isOrdered
        case .text: if case .text = literal { true } else { false }
        case .word, .property, .count, .percent, .end: false
        }
    }
}
