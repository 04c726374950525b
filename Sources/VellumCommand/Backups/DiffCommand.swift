struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Shows the differences of two archives or two stores.",
        discussion: """
            Prints a line per entry: - and the key if only the first has it, + if only the second, ~ if the values' bytes or \
            their encodings differ. Owners, times and expiry times are ignored. Between stores (--with), archives of the \
            same name are compared, one or all, and the archive's name precedes the key. --json prints an object per line: \
            archive, key, change (removed, added or changed).

            For logs, prints a line per message that only one has, with its number and time. Messages with equal time and \
            bytes are equal; numbers are ignored. With --json: archive, sequence, time, change.

            Exit code 0: no difference; 1: differences; 3: something could not be read, or is missing because a log is \
            damaged.

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

    @OptionGroup var rows: JSONLines

    func validate() throws {
        guard other == nil ? second != nil : second == nil else {
            throw ValidationError("pass two archives of one store, or --with FOLDER and at most one archive")
        }
    }

    func run() throws {
        let store = try store.openReadOnly()
        let comparison = Comparison()
        comparison.isJSON = rows.json
        if let other {
            let second = try Store.open(
                at: other, mode: .readOnly, createIfMissing: false, options: .forReading)
            comparison.namesArchives = true
            for name in try first.map({ [$0] }) ?? Self.union(store.archiveNames(), second.archiveNames()) {
                try comparison.compare(name, of: store, with: name, of: second)
            }
        } else if let first, let second {
            try comparison.compare(first, of: store, with: second, of: store)
        }
        try comparison.output.flush()
        let differences = Figures.count(comparison.differences, "difference", "differences")
        var equal = [Figures.count(comparison.equal, "entry", "entries")]
        if comparison.equalMessages > 0 {
            equal.append(Figures.count(comparison.equalMessages, "message", "messages"))
        }
        Console.say("\(differences), \(equal.joined(separator: ", ")) equal")
        if comparison.unreadable > 0 {
            Console.warn(
                "\(Figures.count(comparison.unreadable, "entry or part of a log", "entries or parts of logs")) could not be "
                    + "compared; run vellum check")
        }
        for line in comparison.damage { Console.warn(line) }
        if comparison.unreadable > 0 || !comparison.damage.isEmpty {
            throw CommandFailure(nil, status: .storeFailure)
        }
        if comparison.differences > 0 { throw CommandFailure(nil, status: .nothing) }
    }

    private static func union(_ first: [String], _ second: [String]) -> [String] {
        Set((first + second).map(ExactText.init)).map(\.text).sorted()
    }
}

/// Compares entries, or times and hashes of messages. Keeps one archive's keys or hashes in memory. For one thread.
private final class Comparison {
    enum Change: String {
        case removed, added, changed

        var sign: String { self == .removed ? "-" : self == .added ? "+" : "~" }
    }

    let output = OutputWriter()
    var isJSON = false
    var namesArchives = false
    private(set) var differences = 0
    private(set) var equal = 0
    private(set) var equalMessages = 0
    private(set) var unreadable = 0
    /// A line for each archive that may lack entries because its log is damaged.
    private(set) var damage: [String] = []
    private var known: [ExactText: Set<ExactText>] = [:]

    func compare(_ name: String, of store: Store, with other: String, of second: Store) throws {
        let (one, two) = (try archive(name, of: store), try archive(other, of: second))
        guard one != nil || two != nil else {
            throw StorageError.noSuchArchive(name: name, store: store.path)
        }
        if !namesArchives, let missing = one == nil ? name : two == nil ? other : nil {
            throw StorageError.noSuchArchive(name: missing, store: store.path)
        }
        try one.map { try noteDamage(of: $0, in: store) }
        try two.map { try noteDamage(of: $0, in: second) }
        let kinds = Set(try [one, two].compactMap { $0 }.map { try $0.configuration().kind == .log })
        guard kinds.count == 1 else {
            Console.warn(
                "\(TerminalSafe.quoted(name)) and \(TerminalSafe.quoted(other)) differ: only one of them is a log"
            )
            differences += 1
            return
        }
        if kinds.contains(true) { return try compareMessages(one, two, in: name) }
        try one.map { try eachKey(of: $0) { try compare($0, one, two, in: name) } }
        try two.map {
            try eachKey(of: $0) { key in
                if try one?.sequence(of: key) == nil { try report(.added, key, name) }
            }
        }
    }

    private func noteDamage(of archive: Archive, in store: Store) throws(StorageError) {
        guard let problem = try archive.problem() else { return }
        let line = "\(namesArchives ? store.path + ": " : "")\(archive.name): \(problem)"
        if !damage.contains(line) { damage.append(line) }
    }

    private func archive(_ name: String, of store: Store) throws(StorageError) -> Archive? {
        // Listing the store for each archive would take quadratic time.
        let path = ExactText(store.path)
        if known[path] == nil { known[path] = Set(try store.archiveNames().map(ExactText.init)) }
        return known[path]?.contains(ExactText(name)) == true ? try store.archive(named: name) : nil
    }

    private func compare(_ key: String, _ one: Archive?, _ two: Archive?, in name: String) throws {
        let change: Change?
        do throws(StorageError) {
            // Compare without copies: values may be of any size.
            let isEqual = try one?.withPeek(key) { first in
                Result { () throws(StorageError) in try two?.withPeek(key) { $0.elementsEqual(first) } }
            }
            guard let isEqual else { return }
            switch try isEqual.get() {
            case true?:
                let isSame = try one?.metadata(key)?.encoding == two?.metadata(key)?.encoding
                change = isSame ? nil : .changed
            case false?: change = .changed
            case nil: change = .removed
            }
        } catch {
            guard case .corrupted = error else { throw error }
            unreadable += 1
            return
        }
        if let change { try report(change, key, name) } else { equal += 1 }
    }

    private struct MessageIdentity: Hashable {
        let time: Timestamp
        let length: Int
        let hash: Int

        init(_ message: LogMessage) {
            var hasher = Hasher()
            message.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            (time, length, hash) = (message.time, message.bytes.count, hasher.finalize())
        }
    }

    private func compareMessages(_ one: Archive?, _ two: Archive?, in name: String) throws {
        // Numbers of messages in the second log that no message of the first has matched yet.
        var onlySecond: [MessageIdentity: Int] = [:]
        try two.map { try eachMessage(of: $0) { onlySecond[$1, default: 0] += 1 } }
        try one.map {
            try eachMessage(of: $0) { message, identity in
                if let count = onlySecond[identity], count > 0 {
                    onlySecond[identity] = count - 1
                    equalMessages += 1
                } else {
                    try report(.removed, message, name)
                }
            }
        }
        try two.map {
            try eachMessage(of: $0) { message, identity in
                guard let count = onlySecond[identity], count > 0 else { return }
                onlySecond[identity] = count - 1
                try report(.added, message, name)
            }
        }
    }

    /// Visits the messages up to the end at the time of the call.
    private func eachMessage(of log: Archive, _ body: (LogMessage, MessageIdentity) throws -> Void) throws {
        let end = try log.cursor(beforeLast: 0)
        var cursor: MessageCursor?
        while true {
            try Interruption.check()
            let batch = try log.messages(after: cursor, before: end, mostBytes: 1 << 22)
            if batch.someAreDamaged || batch.someAreLost && cursor != nil { unreadable += 1 }
            if batch.messages.isEmpty { return }
            for message in batch.messages { try body(message, MessageIdentity(message)) }
            cursor = batch.next
        }
    }

    /// Visits the keys in byte order.
    private func eachKey(of archive: Archive, _ body: (String) throws -> Void) throws {
        let keys = try KeyIndex(StoredListing(archive)) { (_) throws(CommandFailure) in
            try Interruption.check()
        }
        unreadable += keys.unreadable
        var order = Array(0..<Int32(clamping: keys.count))
        try StoppableSort.sort(&order) {
            keys.compare(Int($0), Int($1)) < 0
        } checkpoint: { (_) throws(CommandFailure) in
            try Interruption.check()
        }
        var previous: Int?
        for index in order.lazy.map(Int.init) {
            try Interruption.check()
            let key = keys.key(at: index)
            // Skip unreadable keys, and repeated ones: several processes may hold one key in memory.
            if key.isEmpty || previous.map({ keys.compare($0, index) == 0 }) == true { continue }
            previous = index
            try body(String(decoding: key, as: UTF8.self))
        }
    }

    private func report(_ change: Change, _ key: String, _ archive: String) throws(SourceError) {
        try report(change, archive, [("key", .text(key))], text: TerminalSafe.column(key))
    }

    private func report(_ change: Change, _ message: LogMessage, _ archive: String) throws(SourceError) {
        try report(
            change, archive, [("sequence", .count(message.sequence)), ("time", .cell(.time(message.time)))],
            text: "\(message.sequence)\t\(Figures.seconds(message.time))")
    }

    /// `members` identify the difference in JSON, `text` in a line.
    private func report(
        _ change: Change, _ archive: String, _ members: [(name: String, value: JSONTree)], text: String
    ) throws(SourceError) {
        differences += 1
        if isJSON {
            try JSONTree.object(
                [("archive", .text(archive))] + members + [("change", .text(change.rawValue))]
            ).writeLine(to: output)
        } else {
            let place = namesArchives ? TerminalSafe.column(archive) + "\t" : ""
            try TerminalSafe.write(Array("\(change.sign) \(place)\(text)\n".utf8), to: output)
        }
    }
}
