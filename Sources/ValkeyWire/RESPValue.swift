/// A reply or a push, by the Redis serialization protocol 2 and 3 (<https://valkey.io/topics/protocol/>).
package enum RESPValue: Sendable, Hashable {
    /// `$`, and `=` without its three-letter format prefix.
    case bytes([UInt8])
    /// `+`: a status such as `OK`.
    case status(String)
    /// `:`
    case integer(Int64)
    /// `-` and `!`. The first word is the kind of error.
    case error(String)
    /// `_`, and the null strings and arrays of version 2.
    case null
    /// `,`
    case double(Double)
    /// `#`
    case boolean(Bool)
    /// `(`: an integer of any length, as its digits.
    case bigNumber(String)
    /// `*` and `~`.
    case array([RESPValue])
    /// `%`: keys and values alternate.
    case map([RESPValue])
    /// `>`: a message without a request. The first element is its kind.
    case push([RESPValue])

    package var blob: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }

    package var error: String? { if case .error(let message) = self { message } else { nil } }

    /// The text of a string or a status; `nil` if it isn't UTF-8, or something else.
    package var text: String? {
        switch self {
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        case .status(let text), .bigNumber(let text): text
        default: nil
        }
    }

    package var number: Int64? {
        switch self {
        case .integer(let number): number
        case .bytes, .status: text.flatMap { Int64($0) }
        default: nil
        }
    }

    /// The elements of an array, a map (keys and values alternate) or a push.
    package var elements: [RESPValue]? {
        switch self {
        case .array(let elements), .map(let elements), .push(let elements): elements
        default: nil
        }
    }
    /// The value of this name in a map.
    package subscript(_ name: String) -> RESPValue? {
        guard let elements, let place = elements.firstIndex(where: { $0.text == name }),
            place + 1 < elements.count
        else { return nil }
        return elements[place + 1]
    }

    /// The text, with invalid UTF-8 repaired; empty for other values.
    package var shownText: String { blob.map { String(decoding: $0, as: UTF8.self) } ?? text ?? "" }

    /// The next cursor and the elements in the reply to `SCAN` and similar commands.
    package var scanned: (cursor: [UInt8], elements: [RESPValue])? {
        guard let parts = elements, parts.count == 2, let cursor = parts[0].blob,
            let elements = parts[1].elements
        else { return nil }
        return (cursor, elements)
    }
}

/// The cursors of a scan since its last new element.
package struct ScanCursors: Sendable {
    private var idle: Set<[UInt8]> = []

    package init() {}

    package var count: Int { idle.count }

    /// Adds the next cursor, from a reply with `new` new elements. Returns false if it is a repetition, which correct servers don't
    /// send.
    package mutating func isAdvanced(to cursor: [UInt8], new: Int) -> Bool {
        if new > 0 { idle = [] }
        return idle.insert(cursor).inserted
    }
}

/// Named texts in a reply, such as the lines `name:value` of `INFO` and the words `name=value` of `CLIENT INFO`.
package struct RESPFields: Sendable {
    package private(set) var all: [(name: Substring, value: Substring)] = []

    /// The fields of a text between whitespace, or other separators.
    package init(
        _ text: some StringProtocol, with sign: Character,
        separatedBy isSeparator: (Character) -> Bool = \.isWhitespace
    ) {
        for field in text.split(whereSeparator: isSeparator) {
            let field = Substring(field)
            guard let place = field.firstIndex(of: sign) else { continue }
            all.append((field[..<place], field[field.index(after: place)...]))
        }
    }

    /// Lines `name:value`.
    package init(lines answer: RESPValue) {
        self.init(answer.shownText, with: ":", separatedBy: \.isNewline)
    }

    package subscript(_ name: String) -> String? { all.first { $0.name == name }.map { String($0.value) } }

    /// At most 2^50, so that sums don't overflow.
    package func number(_ name: String) -> UInt64? {
        self[name].flatMap { UInt64($0) }.map { min($0, 1 << 50) }
    }
}
