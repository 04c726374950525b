/// The table of all actions, for footer, help, palette and documents.
package struct KeyMap<ID, Context>: Sendable
where
    ID: RawRepresentable<String> & Hashable & Sendable, Context: Hashable & Sendable
{
    /// All actions, in the order of the help.
    package private(set) var actions: [Action<ID, Context>]
    private var index: [Context: [Key: Int]] = [:]

    package init(_ actions: [Action<ID, Context>]) {
        self.actions = actions
        buildIndex()
    }

    /// Omits actions with any of these flags.
    package func without(_ flags: ActionFlags) -> KeyMap {
        KeyMap(actions.filter { $0.flags.isDisjoint(with: flags) })
    }

    /// The first action in the table for a key in a screen.
    package func action(for key: Key, in context: Context) -> Action<ID, Context>? {
        index[context]?[key].map { actions[$0] }
    }

    package func action(_ id: ID) -> Action<ID, Context>? { actions.first { $0.id == id } }

    /// The screen's actions in the table's order, without hidden ones.
    package func actions(in context: Context) -> [Action<ID, Context>] {
        actions.filter { $0.contexts.contains(context) && !$0.flags.contains(.hidden) }
    }

    /// The screen's actions with ``ActionFlags/footer`` and a key, in the table's order.
    package func hints(in context: Context) -> [KeyHint<ID>] {
        actions.compactMap { action in
            guard action.contexts.contains(context), action.flags.contains(.footer),
                let key = action.keys.first
            else { return nil }
            return KeyHint(id: action.id, key: key.description, title: action.title)
        }
    }

    /// The screen's actions whose title, name, help, keywords or keys match, best first; all for an empty query.
    package func search(_ query: String, in context: Context) -> [Action<ID, Context>] {
        let live = actions(in: context)
        guard !query.isEmpty else { return live }
        let scored = live.enumerated().compactMap { position, action -> (Int, Int, Action<ID, Context>)? in
            let title = FuzzyMatch(query, in: action.title)?.score
            let name = FuzzyMatch(query, in: action.id.rawValue)?.score
            // Nearly every sentence contains the letters of a short query in order, so help must contain its words.
            let help = action.help.lowercased().contains(query.lowercased()) ? 1 : nil
            let key = action.keys.contains { $0.description == query } ? 1000 : nil
            let keyword = action.keywordScore(query.lowercased())
            return [title, name, help, key, keyword].compactMap { $0 }.max().map { ($0, position, action) }
        }
        return scored.sorted { ($0.0, $1.1) > ($1.0, $0.1) }.map(\.2)
    }

    /// Assigns keys to an action, and removes them from other actions of the same screens.
    mutating func assign(_ keys: [Key], to position: Int) {
        actions[position].keys = keys
        for other in actions.indices
        where other != position && !actions[other].contexts.isDisjoint(with: actions[position].contexts) {
            actions[other].keys.removeAll { keys.contains($0) }
        }
        buildIndex()
    }

    private mutating func buildIndex() {
        index = [:]
        for (position, action) in actions.enumerated() {
            for context in action.contexts {
                for key in action.keys where index[context]?[key] == nil {
                    index[context, default: [:]][key] = position
                }
            }
        }
    }
}

package struct KeyHint<ID: Hashable & Sendable>: Sendable, Hashable {
    package let id: ID
    package let key: String
    package let title: String

    package init(id: ID, key: String, title: String) {
        self.id = id
        self.key = key
        self.title = title
    }
}
