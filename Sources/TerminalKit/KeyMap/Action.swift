package struct ActionFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let destructive = ActionFlags(rawValue: 1)
    package static let footer = ActionFlags(rawValue: 2)
    /// Omitted in help and palette, such as cursor movement.
    package static let hidden = ActionFlags(rawValue: 4)
}

/// An action of the user. `ID` is its name in remaps and documents, `Context` the screen.
package struct Action<ID, Context>: Sendable
where
    ID: RawRepresentable<String> & Hashable & Sendable, Context: Hashable & Sendable
{
    package let id: ID
    package let title: String
    package let help: String
    /// The keys that start the action; the footer shows the first.
    package internal(set) var keys: [Key]
    package let contexts: Set<Context>
    package let flags: ActionFlags
    /// Synonyms that search finds, in lower case.
    private let keywords: [Substring]

    /// - Parameter keywords: separated by spaces.
    package init(
        _ id: ID, title: String, help: String, keys: [Key], contexts: Set<Context>, flags: ActionFlags = [],
        keywords: String = ""
    ) {
        self.id = id
        self.title = title
        self.help = help
        self.keys = keys
        self.contexts = contexts
        self.flags = flags
        self.keywords = keywords.split(separator: " ")
    }

    /// Nil unless a keyword begins with the query. A keyword equal to the query scores above any fuzzy match.
    func keywordScore(_ query: String) -> Int? {
        if keywords.contains(query[...]) { return 500 }
        return query.count > 1 && keywords.contains { $0.hasPrefix(query) } ? 100 : nil
    }

    package var keyList: String { keys.map(\.description).joined(separator: ", ") }
}
