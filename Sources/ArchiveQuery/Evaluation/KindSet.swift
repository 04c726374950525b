struct KindSet: OptionSet, Hashable {
    let rawValue: UInt16

    // In sort order.
    static let boolean = KindSet(rawValue: 1)
    static let number = KindSet(rawValue: 2)
    static let date = KindSet(rawValue: 4)
    static let text = KindSet(rawValue: 8)
    static let bytes = KindSet(rawValue: 16)
    static let list = KindSet(rawValue: 32)
    static let map = KindSet(rawValue: 64)
    static let other = KindSet(rawValue: 128)
    static let comparable = KindSet(rawValue: 256)
    static let nan = KindSet(rawValue: 512)
    /// A division by zero.
    static let quotient = KindSet(rawValue: 1024)
    /// A value that isn't a list, where a condition is about elements.
    static let unlisted = KindSet(rawValue: 2048)
    /// All single kinds, in sort order.
    static let each = (0..<12).map { KindSet(rawValue: 1 << $0) }

    /// Kinds with a number of elements, for `count` and `is empty`.
    static let collections: KindSet = [.text, .bytes, .list, .map]

    /// For each kind: an expected value, one value and several. In the order of expected values.
    private static let names: [(kind: KindSet, wanted: String, one: String, many: String)] = [
        (.number, "a number", "number", "numbers"), (.text, "a text", "text", "texts"),
        (.date, "a date", "date", "dates"), (.boolean, "true or false", "boolean", "booleans"),
        (.list, "a list", "list", "lists"), (.map, "a map", "map", "maps"),
        (.bytes, "bytes", "byte string", "byte strings"),
        (.other, "a value of another kind", "value of another kind", "values of another kind"),
        (.comparable, "", "pair of incomparable values", "pairs of incomparable values"),
        (.nan, "", "NaN", "NaN"), (.quotient, "", "division by zero", "divisions by zero"),
        (.unlisted, "", "value that isn't a list", "values that aren't lists"),
    ]

    /// `3 texts that aren't dates and 1 list`; `wanted`: the expected kinds.
    static func amounts(_ count: (KindSet) -> Int, wanted: KindSet = []) -> String {
        let parts = each.map { ($0, count($0)) }.filter { $0.1 > 0 }.map { kind, count in
            let isUndated = kind == .text && wanted.contains(.date)
            let name = names.first { $0.kind == kind }
            let (one, many) =
                isUndated
                ? ("text that isn't a date", "texts that aren't dates") : (name?.one ?? "", name?.many ?? "")
            return "\(count) \(count == 1 ? one : many)"
        }
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "" }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }

    /// `a number or a text`.
    var words: String {
        Self.names.filter { contains($0.kind) && !$0.wanted.isEmpty }.map(\.wanted)
            .joined(separator: " or ")
    }
}

extension StoredItem {
    var kind: KindSet {
        switch self {
        case .absent, .failed: []
        case .boolean: .boolean
        case .number: .number
        case .text, .string, .key: .text
        case .bytes: .bytes
        case .date: .date
        case .array: .list
        case .map: .map
        case .other: .other
        }
    }
}

extension QueryLiteral {
    /// The comparable kinds; empty for null, which fits every kind.
    var kind: KindSet {
        switch self {
        case .null: []
        case .boolean: .boolean
        case .integer, .unsigned, .number, .exact, .duration, .size: .number
        case .text(let text): TextValue(text).date == nil ? .text : [.text, .date]
        case .date, .localDate: .date
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
