/// Sendable value type. What is wrong with a query's text, and where.
public struct QuerySyntaxError: Error, Sendable, Hashable {
    /// Bytes of UTF-8 from the start of the text to what is wrong, and to its end; empty at the end of the text.
    public var range: Range<Int>
    /// What stands there: `"limitt"`, `a text`, `the end`.
    public var found: String
    /// What could stand there, the likeliest first.
    public var expected: [QueryExpectation]
    /// What is wrong with it in itself, or what was probably meant.
    public var advice: String?

    /// Bytes of UTF-8 from the start of the text.
    public var position: Int { range.lowerBound }
}

/// Something that can stand at a place in a query.
public enum QueryExpectation: Sendable, Hashable {
    /// A word or sign of the language, as it is written.
    case word(String)
    case property
    /// A value of any kind.
    case value
    /// A number, text, date, duration or size: something that has an order.
    case orderedValue
    case text
    /// A whole number, 0 or more.
    case count
    /// A number from 0 to 100.
    case percent
    case end

    /// As a person reads it.
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
    /// One line: `at 12: found "limitt", expected find, sort, …`. Positions count bytes from 1 on.
    public var description: String {
        "at \(position + 1): " + message
    }

    /// The same without the position.
    public var message: String {
        var text = "found \(found)"
        if !expected.isEmpty { text += ", expected " + Self.list(expected.map(\.name)) }
        if let advice { text += expected.isEmpty ? ": \(advice)" : " (\(advice))" }
        return text
    }

    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension QuerySyntaxError {
    /// Where the error is in the text that was parsed: the line from 1 on, and the line up to there.
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
