import ArgumentParser
import StorageEngine
import StoreInspection

/// What the shell offers for a word that names something in a store: the program itself looks there, and is quiet where it
/// can't.
extension CompletionKind {
    static var archives: CompletionKind {
        .custom { words, _, prefix in StoreCompletion(words)?.archives(beginning: prefix) ?? [] }
    }

    static var keys: CompletionKind {
        .custom { words, _, prefix in StoreCompletion(words)?.keys(beginning: prefix) ?? [] }
    }

    static var owners: CompletionKind {
        .custom { words, _, prefix in StoreCompletion(words)?.owners(beginning: prefix) ?? [] }
    }
}

/// Sendable value type. The store and the archive that a command line names before its last word.
struct StoreCompletion: Sendable {
    private static let most = 200

    private let store: Store
    private let archive: String?

    init?(_ words: [String]) {
        var words = words[...]
        var named = StoreArguments.namedByEnvironment
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
                at: path, mode: .readOnly, createIfMissing: false, options: .forLooking)
        else { return nil }
        self.store = store
        // Behind the command's name.
        archive = plain.count > 1 ? plain[1] : nil
    }

    func archives(beginning prefix: String) -> [String] {
        offered((try? store.archiveNames()) ?? [], prefix)
    }

    func keys(beginning prefix: String) -> [String] {
        guard let archive, let found = try? store.archive(named: archive) else { return [] }
        return offered((try? found.keys(KeyQuery(prefix: prefix, limit: Self.most)).keys) ?? [], prefix)
    }

    func owners(beginning prefix: String) -> [String] {
        guard let archive, let found = try? store.archive(named: archive) else { return [] }
        return offered(((try? found.owners()) ?? []).compactMap(\.owner), prefix)
    }

    /// What a shell can take: a word with the end of a line in it would be two.
    private func offered(_ words: [String], _ prefix: String) -> [String] {
        words.filter { $0.utf8.starts(with: prefix.utf8) && TerminalSafe.column($0) == $0 }.prefix(Self.most)
            .map { $0 }
    }
}
