import StoreInspection
import ValkeyWire

/// An element of a server's value that can be added, replaced or removed alone.
package enum ValueElement: Sendable, Hashable {
    /// The value of a hash's field.
    case field([UInt8])
    /// An element of a list, with its value and the list's length (nil: unknown) when it was selected: other clients may move it.
    case index(Int, shown: [UInt8], of: Int?)
    /// A new element at the end of a list.
    case end
    /// A member of a set, whose value is empty.
    case member([UInt8])
    /// The score of a sorted set's member.
    case score([UInt8])

    /// The nouns for elements of each type.
    package static let nouns = ["hash": "field", "list": "element", "set": "member", "zset": "member"]

    /// An element that can be replaced; nil: none.
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

    var type: String {
        switch self {
        case .field: "hash"
        case .index, .end: "list"
        case .member: "set"
        case .score: "zset"
        }
    }

    /// The field, the member or the number of the element.
    package var name: String {
        switch self {
        case .field(let name), .member(let name), .score(let name): KeyName.text(name)
        case .index(let place, _, _): "[\(place)]"
        case .end: "at the end"
        }
    }

    /// `field born`
    package var fullName: String { "\(ValueElement.nouns[type] ?? "") \(name)" }

    /// Whether bytes are a value that the element can have. Servers refuse scores that round to infinity or 0.
    package func accepts(_ bytes: [UInt8]) -> Bool {
        guard case .score = self else { return true }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let score = Double(text), !score.isNaN else { return false }
        if score.isInfinite { return text.lowercased().contains("inf") }
        return score != 0 || !text.prefix { !"eEpP".contains($0) }.contains { ("1"..."9").contains($0) }
    }

    /// The scores that are accepted.
    package static let scores = "a number in the range of 64-bit floats, or inf"

    /// The canonical spelling of a score; other values unchanged.
    func normalized(_ bytes: [UInt8]) -> [UInt8] {
        guard case .score = self, let score = Double(String(decoding: bytes, as: UTF8.self)) else {
            return bytes
        }
        let isWhole = score == score.rounded() && abs(score) < 1e15
        return Array((isWhole ? "\(Int64(score))" : "\(score)").utf8)
    }

    /// The commands that add, replace or remove the value.
    /// - Parameters:
    ///   - former: the current value; nil: none.
    ///   - bytes: the new value; nil: none.
    func changing(_ key: [UInt8], from former: [UInt8]?, to bytes: [UInt8]?) -> [RESPCommand] {
        func command(_ name: String) -> RESPCommand { RESPCommand(name) + key }
        switch (self, bytes) {
        case (.field(let name), let bytes?):
            return [command(former == nil ? "HSETNX" : "HSET") + name + bytes]
        case (.field(let name), nil): return [command("HDEL") + name]
        case (.index(let place, _, _), let bytes?): return [command("LSET") + place + bytes]
        case (.index(let place, _, _), nil):
            // No command removes an element by index, so it is replaced with a unique value that is then removed.
            let mark = "vellum \(UInt64.random(in: 0 ... .max))"
            return [command("LSET") + place + mark, command("LREM") + 1 + mark]
        case (.end, _): return [command("RPUSHX") + (bytes ?? [])]
        case (.member(let member), _): return [command(bytes == nil ? "SREM" : "SADD") + member]
        case (.score(let member), let bytes?):
            return [command("ZADD") + (former == nil ? "NX" : "XX") + bytes + member]
        case (.score(let member), nil): return [command("ZREM") + member]
        }
    }
}

/// The state of an element, in a list with its neighbors, which shows whether a change was executed.
struct ElementState: Sendable {
    private let element: ValueElement
    /// The values at and next to the element's place. Empty if the element is absent.
    private var values: [[UInt8]]
    /// Number of the list's elements; of other types, of ``values``.
    private var count: Int

    static func reading(_ element: ValueElement, of key: [UInt8]) -> [RESPCommand] {
        func command(_ name: String) -> RESPCommand { RESPCommand(name) + key }
        return switch element {
        case .field(let name): [command("HGET") + name]
        case .index(let place, _, _): [command("LRANGE") + max(0, place - 1) + (place + 1), command("LLEN")]
        case .end: [command("LRANGE") + -1 + -1, command("LLEN")]
        case .member(let member): [command("SISMEMBER") + member]
        case .score(let member): [command("ZSCORE") + member]
        }
    }

    /// Nil for replies of another type.
    /// - Parameter replies: to ``reading(_:of:)``.
    init?(_ element: ValueElement, _ replies: [RESPValue]) {
        self.element = element
        switch (element, replies[0]) {
        case (.index, .array(let elements)), (.end, .array(let elements)):
            values = elements.compactMap(\.blob)
            guard values.count == elements.count, case .integer(let length) = replies[1] else { return nil }
            count = Int(clamping: length)
            return
        case (.member, .integer(let number)): values = number == 0 ? [] : [[]]
        case (.score, .double(let score)): values = [element.normalized(Array("\(score)".utf8))]
        case (.field, .bytes(let bytes)), (.score, .bytes(let bytes)): values = [element.normalized(bytes)]
        case (.field, .null), (.score, .null): values = []
        default: return nil
        }
        count = values.count
    }

    /// The place of the element's value in ``values``.
    private var place: Int { if case .index(let place, _, _) = element { min(place, 1) } else { 0 } }

    /// The element's value; nil: it is absent, or the list has another length.
    var bytes: [UInt8]? {
        if case .end = element { return nil }
        if case .index(_, _, let length?) = element, count != length { return nil }
        return place < values.count ? values[place] : nil
    }

    /// The state after the element's value was replaced; nil: removed.
    func replacing(by bytes: [UInt8]?) -> ElementState {
        var state = self
        let new = bytes.map { [element.normalized($0)] } ?? []
        let former = self.bytes == nil ? 0 : 1
        if case .end = element { state.values = [] }
        let start = min(place, state.values.count)
        state.values.replaceSubrange(start..<start + former, with: new)
        state.count += new.count - former
        return state
    }

    /// Whether another state has the same values at the same places. It may have more values after them.
    func isContained(in other: ElementState) -> Bool {
        count == other.count && other.values.starts(with: values)
    }
}

extension ServerConnection {
    /// Reads an element; nil: it is absent. Counts as an access to the key.
    /// - Throws: also if another element is at the place of the selected one, or the list has another length.
    package func bytes(
        of element: ValueElement, at key: [UInt8], in database: Int
    ) throws(SourceError) -> [UInt8]? {
        let commands = ElementState.reading(element, of: key)
        let replies = try ask(commands, in: database)
        try accept(replies, to: commands)
        guard let state = ElementState(element, replies) else {
            throw invalidReply(to: commands[0].name)
        }
        let bytes = state.bytes
        if case .index(_, let shown, _) = element, bytes != shown {
            throw SourceError("The list was changed since it was read; refresh it first.")
        }
        return bytes
    }

    /// The error that values of a type can't be edited whole. Names the part that can be edited.
    package static func uneditableReason(type: String) -> SourceError {
        let names = ["hash": "field", "list": "list element", "zset": "member's score"]
        let other = names[type].map { "select a \($0) on the value screen to edit it" }
        return SourceError("Only strings can be edited whole; \(other ?? "this is a \(type)").")
    }
}
