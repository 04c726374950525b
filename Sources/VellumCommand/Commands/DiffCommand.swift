import ArgumentParser
import StorageEngine
import StoreInspection

/// `vellum diff`.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Tells how two archives, or two stores, differ.",
        discussion: """
            A line an entry: - and the key if only the first has it, + if only the second, ~ if the values' bytes or their \
            encodings differ. Owners, times and deadlines don't count. Between stores (--with) archives of the same \
            name are compared, one or all, and the archive's name comes before the key. --json prints an object a line: \
            archive, key, change (removed, added or changed).

            Exit code 0: no difference; 1: some; 3: something could not be read. Logs are not compared.

            Examples: vellum diff City CityNew; vellum diff City --with /backup/store
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The first archive, or the one to compare between stores.", completion: .archives)
    var first: String?

    @Argument(help: "The second archive.", completion: .archives)
    var second: String?

    @Option(
        name: .customLong("with"), help: ArgumentHelp("The store to compare with.", valueName: "folder"),
        completion: .directory)
    var other: String?

    @Flag(help: "Print a JSON object a line.")
    var json = false

    func validate() throws {
        guard other == nil ? second != nil : second == nil else {
            throw ValidationError("say two archives of one store, or --with FOLDER and at most one archive")
        }
    }

    func run() throws {
        let store = try store.openForLooking()
        let output = OutputWriter()
        let comparison = Comparison(output: output, isJSON: json)
        if let other {
            let second = try Store.open(
                at: other, mode: .readOnly, createIfMissing: false, options: .forLooking)
            comparison.namesArchives = true
            for name in try first.map({ [$0] }) ?? Self.union(store.archiveNames(), second.archiveNames()) {
                try comparison.compare(name, of: store, with: name, of: second)
            }
        } else if let first, let second {
            try comparison.compare(first, of: store, with: second, of: store)
        }
        try output.flush()
        let differences = Figures.count(comparison.differences, "difference", "differences")
        Narration.say("\(differences), \(Figures.count(comparison.equal, "entry", "entries")) equal")
        if comparison.unreadable > 0 {
            Narration.complain(
                "\(Figures.count(comparison.unreadable, "entry", "entries")) could not be compared; run vellum check"
            )
            throw CommandFailure(nil, status: .storeFailure)
        }
        if comparison.differences > 0 { throw CommandFailure(nil, status: .nothing) }
    }

    private static func union(_ first: [String], _ second: [String]) -> [String] {
        Set((first + second).map(ExactText.init)).map(\.text).sorted()
    }
}

/// For one thread. Compares archives entry by entry, by look-ups: it keeps a list of each archive's places, and no values.
private final class Comparison {
    enum Change: String {
        case removed, added, changed

        var sign: String {
            switch self {
            case .removed: "-"
            case .added: "+"
            case .changed: "~"
            }
        }
    }

    let output: OutputWriter
    let isJSON: Bool
    var namesArchives = false
    private(set) var differences = 0
    private(set) var equal = 0
    private(set) var unreadable = 0

    init(output: OutputWriter, isJSON: Bool) {
        self.output = output
        self.isJSON = isJSON
    }

    func compare(_ name: String, of store: Store, with other: String, of second: Store) throws {
        let (one, two) = (try archive(name, of: store), try archive(other, of: second))
        defer {
            one?.close()
            two?.close()
        }
        guard one != nil || two != nil else {
            throw StorageError.noSuchArchive(name: name, store: store.path)
        }
        if !namesArchives, let missing = one == nil ? name : two == nil ? other : nil {
            throw StorageError.noSuchArchive(name: missing, store: store.path)
        }
        if try isLog(one) || isLog(two) {
            Narration.complain("\(name): logs are not compared")
            return
        }
        try one.map { try eachKey(of: $0) { try compare($0, one, two, in: name) } }
        try two.map {
            try eachKey(of: $0) { key in
                if try one?.sequence(of: key) == nil { try report(.added, key, name) }
            }
        }
    }

    private func archive(_ name: String, of store: Store) throws(StorageError) -> Archive? {
        guard try store.archiveNames().contains(where: { ExactText($0) == ExactText(name) }) else {
            return nil
        }
        return try store.archive(named: name)
    }

    private func isLog(_ archive: Archive?) throws(StorageError) -> Bool {
        try archive?.configuration().kind == .log
    }

    private func compare(_ key: String, _ one: Archive?, _ two: Archive?, in name: String) throws {
        let change: Change?
        do throws(StorageError) {
            guard let first = try one?.current(key) else { return }
            if let second = try two?.current(key) {
                change = first.value == second.value && first.encoding == second.encoding ? nil : .changed
            } else {
                change = .removed
            }
        } catch {
            guard case .corrupted = error else { throw error }
            unreadable += 1
            return
        }
        if let change { try report(change, key, name) } else { equal += 1 }
    }

    /// In an order that doesn't depend on use.
    private func eachKey(of archive: Archive, _ body: (String) throws -> Void) throws {
        var after: String?
        while true {
            let page = try archive.keys(KeyQuery(after: after, limit: 10_000))
            if after == nil { unreadable += page.unreadable }
            for key in page.keys {
                if Interruption.isRequested {
                    throw CommandFailure("interrupted", status: Interruption.status)
                }
                try body(key)
            }
            guard page.hasMore, let last = page.keys.last else { return }
            after = last
        }
    }

    private func report(_ change: Change, _ key: String, _ archive: String) throws(SourceError) {
        differences += 1
        if isJSON {
            try JSONTree.object([
                ("archive", .text(archive)), ("key", .text(key)), ("change", .text(change.rawValue)),
            ]).writeLine(to: output)
        } else {
            let place = namesArchives ? TerminalSafe.column(archive) + "\t" : ""
            try TerminalSafe.write(
                Array("\(change.sign) \(place)\(TerminalSafe.column(key))\n".utf8), to: output)
        }
    }
}
