/// Completions from the contents of the store; none if it can't be read.
extension CompletionKind {
    static var archives: CompletionKind {
        offered { words, prefix in StoreCompletion(words)?.archives(beginning: prefix) ?? [] }
    }

    static var keys: CompletionKind {
        offered { words, prefix in StoreCompletion(words)?.keys(beginning: prefix) ?? [] }
    }

    static var owners: CompletionKind {
        offered { words, prefix in StoreCompletion(words)?.owners(beginning: prefix) ?? [] }
    }

    /// `choices`: from the words of the line and the beginning of the completed word, both without quotes.
    static func offered(_ choices: @escaping @Sendable ([String], String) -> [String]) -> CompletionKind {
        .custom { words, _, prefix in
            let dialect = CompletionDialect(
                CompletionShell.requesting, version: CompletionShell.requestingVersion)
            return choices(words.map(dialect.read), dialect.read(prefix)).map(dialect.write)
        }
    }
}

/// The store and the archive that a command line names before its last word.
struct StoreCompletion: Sendable {
    private static let most = 200

    private let store: Store
    private let archive: String?

    init?(_ words: [String]) {
        var words = words[...]
        var named = Configuration.storeOfEnvironment
        var plain: [String] = []
        _ = words.popFirst()
        while let word = words.popFirst() {
            if word == "--store" || word == "-s" {
                named = words.popFirst()
            } else if word.hasPrefix("--store=") {
                named = String(word.dropFirst("--store=".count))
            } else if !word.hasPrefix("-") {
                plain.append(word)
            }
        }
        guard let path = named ?? Configuration.current.store.value ?? StoreArguments.onlyStore,
            let store = try? Store.open(
                at: path, mode: .readOnly, createIfMissing: false, options: .forReading)
        else { return nil }
        self.store = store
        // Skip the command's name. Other words may be values of options.
        let names = Set(((try? store.archiveNames()) ?? []).map { ExactText($0) })
        archive = plain.dropFirst().first { names.contains(ExactText($0)) }
    }

    func archives(beginning prefix: String) -> [String] {
        Self.offered((try? store.archiveNames()) ?? [], prefix)
    }

    private var opened: Archive? { archive.flatMap { try? store.archive(named: $0) } }

    func keys(beginning prefix: String) -> [String] {
        let found = try? opened?.keys(KeyQuery(prefix: prefix, limit: Self.most)).keys
        return Self.offered(found ?? [], prefix)
    }

    func owners(beginning prefix: String) -> [String] {
        Self.offered(((try? opened?.owners()) ?? []).compactMap(\.owner), prefix)
    }

    var sample: PropertySample? { opened.flatMap { try? PropertySample(of: $0) } }

    /// Leaves out words with control characters: a shell would split them at line ends.
    static func offered(_ words: [String], _ prefix: String) -> [String] {
        words.filter { $0.utf8.starts(with: prefix.utf8) && TerminalSafe.column($0) == $0 }.prefix(most)
            .map { $0 }
    }
}
