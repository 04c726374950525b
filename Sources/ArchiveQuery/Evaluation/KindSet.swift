/// The kinds of values that a question found or expects.
struct KindSet: OptionSet, Hashable {
    let rawValue: UInt16

    static let boolean = KindSet(rawValue: 1)
    static let number = KindSet(rawValue: 2)
    static let text = KindSet(rawValue: 4)
    static let date = KindSet(rawValue: 8)
    static let bytes = KindSet(rawValue: 16)
    static let list = KindSet(rawValue: 32)
    static let map = KindSet(rawValue: 64)
    static let other = KindSet(rawValue: 128)
    /// Two values that can be compared with each other.
    static let comparable = KindSet(rawValue: 256)

    /// Kinds with a number of elements, for `count` and `is empty`.
    static let collections: KindSet = [.text, .bytes, .list, .map]

    private static let names: [(KindSet, String)] = [
        (.number, "a number"), (.text, "a text"), (.date, "a date"), (.boolean, "true or false"),
        (.list, "a list"), (.map, "a map"), (.bytes, "bytes"), (.other, "a value of another kind"),
    ]

    /// `a number or a text`.
    var words: String {
        Self.names.filter { contains($0.0) }.map(\.1).joined(separator: " or ")
    }
}

extension StoredItem {
    /// Empty if absent.
    var kind: KindSet {
        switch self {
        case .absent: []
        case .boolean: .boolean
        case .number: .number
        case .text, .string: .text
        case .bytes: .bytes
        case .date: .date
        case .array: .list
        case .map: .map
        case .other: .other
        }
    }
}

extension QueryLiteral {
    /// The kinds that it can be compared with; empty for null, which fits every kind.
    var kind: KindSet {
        switch self {
        case .null: []
        case .boolean: .boolean
        case .integer, .unsigned, .number, .exact, .duration, .size: .number
        case .text(let text): DateText.microseconds(text.utf8) == nil ? .text : [.text, .date]
        case .date: .date
        }
    }
}

extension QueryMetadata {
    var kind: KindSet {
        switch self {
        case .key, .tier, .owner, .type, .encoding: .text
        case .size, .idle, .age, .ttl, .hits, .rank: .number
        case .created, .accessed, .expires: .date
        }
    }
}
