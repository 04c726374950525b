/// An error in a query's text, and its place.
public struct QuerySyntaxError: Error, Sendable, Hashable {
    /// The erroneous part, in bytes of UTF-8 from the start of the text; empty at the end of the text.
    public var range: Range<Int>
    /// The text found there: `"limitt"`, `a text`, `the end`.
    public var found: String
    /// The expected syntax, likeliest first.
    public var expected: [QueryExpectation]
    /// The fault, or the probable intention.
    public var advice: String?

    /// The start of the error, in bytes of UTF-8 from the start of the text.
    public var position: Int { range.lowerBound }
}

/// Syntax that a query may contain at a place.
public enum QueryExpectation: Sendable, Hashable {
    /// A keyword or sign of the language, as written.
    case word(String)
    /// A property of values, or metadata.
    case property
    /// A literal of any kind.
    case value
    /// A literal of a kind with an order: a number, text, date, duration or size.
    case orderedValue
    /// A text in quotes.
    case text
    /// A whole number of 0 or more.
    case count
    /// A number from 0 to 100.
    case percent
    /// The end of the text.
    case end

    package var name: String {
        switch self {
        case .word(let word): word.utf8.first?.isLetter == true || word.hasPrefix("@") ? word : "\"\(word)\""
        case .property: "a property"
        case .value: "a value"
        case .orderedValue: "a number, text, date, duration or size"
        case .text: "a text in \"…\""
        case .count: "a whole number"
        case .percent: "a number from 0 to 100"
        case .end: "the end"
        }
    }
}

extension QuerySyntaxError: CustomStringConvertible {
    /// One line: `at 12: found "limitt", expected find, sort, …`. Positions count bytes from 1.
    public var description: String { "at \(position + 1): " + message }

    /// The place in `text`, the parsed text, and the message: `character 12: found …`, `line 2, character 3: found …`.
    package func description(in text: String) -> String {
        let (line, prefix, _) = place(in: text)
        return (line == 1 ? "" : "line \(line), ") + "character \(prefix.count + 1): \(message)"
    }

    /// The description without the position.
    public var message: String {
        let names = expected.isEmpty ? nil : Self.list(expected.map(\.name))
        var text =
            found == "the end"
            ? "incomplete" + (names.map { ": expected \($0)" } ?? "")
            : "found \(found)" + (names.map { ", expected \($0)" } ?? "")
        if let advice { text += expected.isEmpty ? ": \(advice)" : " (\(advice))" }
        return text
    }

    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }

    /// The error's place in `text`, the parsed text: its line number, from 1, that line before the error, and the whole line.
    public func place(in text: String) -> (line: Int, prefix: String, content: String) {
        let bytes = Array(text.utf8)
        let position = min(position, bytes.count)
        let newline = UInt8(ascii: "\n")
        let start = bytes[..<position].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = bytes[position...].firstIndex(of: newline) ?? bytes.count
        return (
            bytes[..<position].count { $0 == newline } + 1,
            String(decoding: bytes[start..<position], as: UTF8.self),
            String(decoding: bytes[start..<end], as: UTF8.self)
        )
    }
}
