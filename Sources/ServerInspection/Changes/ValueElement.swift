import StoreInspection
import ValkeyWire

/// An element of a server's value that can be replaced alone.
package enum ValueElement: Sendable, Hashable {
    /// The value of a hash's field.
    case field([UInt8])
    /// An element of a list, with its value and the list's length (nil: unknown) when it was selected: other clients may move it.
    case index(Int, shown: [UInt8], of: Int?)
    /// The score of a sorted set's member.
    case score([UInt8])

    /// What can be edited in values of each type.
    static let names = ["hash": "field", "list": "list element", "zset": "member's score"]

    /// - Parameters:
    ///   - name: the element's name in the tree of the value, as ``KeyName`` spells it.
    ///   - shown: the element's bytes in the tree.
    ///   - length: the number of elements; nil: unknown.
    package init?(_ name: String, ofType type: String, shown: [UInt8]?, of length: Int? = nil) {
        switch (type, Int(name), shown) {
        case ("hash", _, _): self = .field(KeyName.bytes(name))
        case ("list", let place?, let shown?): self = .index(place, shown: shown, of: length)
        case ("zset", _, _): self = .score(KeyName.bytes(name))
        default: return nil
        }
    }

    /// The field, the member or the number of the element.
    package var name: String {
        switch self {
        case .field(let name), .score(let name): KeyName.text(name)
        case .index(let place, _, _): "[\(place)]"
        }
    }

    /// Whether bytes are a value that the element can have.
    package func accepts(_ bytes: [UInt8]) -> Bool {
        guard case .score = self else { return true }
        return ValueElement.score(bytes).map { !$0.isNaN } ?? false
    }

    private static func score(_ bytes: [UInt8]) -> Double? { Double(String(decoding: bytes, as: UTF8.self)) }

    func reading(of key: [UInt8]) -> [RESPCommand] {
        switch self {
        case .field(let name): [RESPCommand("HGET") + key + name]
        case .index(let place, _, _): [RESPCommand("LINDEX") + key + place, RESPCommand("LLEN") + key]
        case .score(let member): [RESPCommand("ZSCORE") + key + member]
        }
    }

    func storing(_ bytes: [UInt8], at key: [UInt8]) -> RESPCommand {
        switch self {
        case .field(let name): RESPCommand("HSET") + key + name + bytes
        case .index(let place, _, _): RESPCommand("LSET") + key + place + bytes
        case .score(let member): RESPCommand("ZADD") + key + "XX" + bytes + member
        }
    }

    /// The element in the answers to ``reading(of:)``; nil: it is absent, or the list has another length.
    func bytes(in answers: [RESPValue]) -> [UInt8]? {
        if case .index(_, _, let length?) = self, answers[1].number != Int64(length) { return nil }
        guard case .double(let score) = answers[0] else { return answers[0].blob }
        let isWhole = score == score.rounded() && abs(score) < 1e15
        return Array((isWhole ? "\(Int64(score))" : "\(score)").utf8)
    }

    func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        if case .score = self { ValueElement.score(one) == ValueElement.score(other) } else { one == other }
    }
}

extension ServerConnection {
    /// Reads an element; nil: it is absent. Counts as an access to the key.
    /// - Throws: also if another element is at the place of the selected one, or the list has another length.
    package func bytes(
        of element: ValueElement, at key: [UInt8], in database: Int
    ) throws(SourceError) -> [UInt8]? {
        let commands = element.reading(of: key)
        let answers = try ask(commands, in: database)
        try accept(answers, to: commands)
        let bytes = element.bytes(in: answers)
        if case .index(_, let shown, _) = element, bytes != shown {
            throw SourceError("The list was changed since it was read; refresh it first.")
        }
        return bytes
    }

    /// Why values of a type can't be edited whole, and what can be edited instead.
    package static func objectionToEditing(type: String) -> SourceError {
        let other = ValueElement.names[type].map { "select a \($0) on the value screen to edit it" }
        return SourceError("Only strings can be edited whole; \(other ?? "the type is \(type)").")
    }
}
