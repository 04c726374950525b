import ArgumentParser
import StorageEngine
import StoreInspection

struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copies an archive or some of its entries.",
        discussion: """
            A whole archive is copied to a new one, as it is at one moment, with expiry times, owners, times, hits and the \
            LRU order; a log with its messages. No archive of that name may exist.

            Keys, or entries that meet --where, are copied into an archive, which is created with the same kind and limits \
            if it doesn't exist. They keep value, owner and remaining TTL, are stored in their LRU order, and replace \
            entries with the same keys. --to names another store, which is created if it doesn't exist.

            Example: vellum copy City Large --where 'population > 1000000'
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive to copy.", completion: .archives)
    var archive: String

    @Argument(help: "The new archive, or the one that receives the entries.", completion: .archives)
    var target: String

    @Argument(help: "Keys of the entries to copy (default: the whole archive).", completion: .keys)
    var keys: [WordList] = []

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Copy the entries that meet this condition.", valueName: "condition"))
    var condition: String?

    @Option(
        help: ArgumentHelp("The store of the copy (default: the same).", valueName: "folder"),
        completion: .directory)
    var to: String?

    mutating func validate() throws {
        if !keys.isEmpty, condition != nil { throw ValidationError("pass either keys or --where") }
    }

    func run() throws {
        Interruption.collect()
        let source = try to == nil ? store.openForWriting(creating: false) : store.openForLooking()
        defer { source.close() }
        let archive = try source.archive(named: archive)
        let isWhole = keys.isEmpty && condition == nil
        if !isWhole { try archive.requireEntries() }
        // Check the request before creating anything.
        let (chosen, absent) = isWhole ? ([], 0) : try chosenEntries(archive)
        let target = try to.map { try Store.open(at: $0, options: .forChanging(as: "vellum")) } ?? source
        defer { target.close() }
        if isWhole {
            return try ArchiveCopying.copy(self.archive, of: source, as: self.target, to: target) { copied in
                "copied \(copied) from \(self.archive) to \(self.target)"
            }
        }
        var configuration = try archive.configuration()
        configuration.durability = .process
        let copy = try target.archive(named: self.target, orCreate: configuration)
        try copy.requireEntries()
        var copying = EntryCopying(source: archive, target: copy)
        for entry in chosen {
            if Interruption.isRequested { break }
            try copying.copy(entry.key, of: entry.sequence)
        }
        Narration.say(
            "copied \(Figures.amount(copying.entries, bytes: copying.bytes)) from \(archive.name) to \(copy.name)"
        )
        try Interruption.check()
        copying.complain()
        if absent > 0 || copying.isIncomplete || copying.entries == 0 {
            throw CommandFailure(nil, status: try archive.statusOfAbsence())
        }
    }

    /// Keys, with the required sequence number where a condition chose them; and the number of keys without an entry.
    private func chosenEntries(
        _ archive: Archive
    ) throws -> (entries: [(key: String, sequence: UInt64?)], absent: Int) {
        guard let condition else {
            var seen: Set<ExactText> = []
            let asked = keys.words.filter { seen.insert(ExactText($0)).inserted }
            let present = try asked.filter { try archive.metadata($0).map { $0.tier != .memory } ?? false }
            let found = Set(present.map(ExactText.init))
            for key in asked where !found.contains(ExactText(key)) {
                Narration.complain("no entry \(TerminalSafe.quoted(key)) on disk")
            }
            guard !present.isEmpty else { throw CommandFailure(nil, status: try archive.statusOfAbsence()) }
            return (present.map { ($0, nil) }, asked.count - present.count)
        }
        let found = try FoundEntries(condition, in: archive).entries
        guard !found.isEmpty else {
            throw CommandFailure(
                "\(archive.name) has no entry that meets the condition", status: try archive.statusOfAbsence()
            )
        }
        return (found.map { ($0.key, $0.sequence) }, 0)
    }
}

/// Copies entries of one archive into another. For one thread.
private struct EntryCopying {
    let source: Archive
    let target: Archive
    private(set) var entries = 0
    private(set) var bytes: UInt64 = 0
    fileprivate var missing = 0
    /// Entries stored again after they were found to meet the condition.
    fileprivate var changed = 0
    var isIncomplete: Bool { missing > 0 || changed > 0 }

    /// `sequence`: copies the entry only if this operation stored it; another value may not meet the condition.
    mutating func copy(_ key: String, of sequence: UInt64?) throws(StorageError) {
        guard let (entry, expires) = try source.currentWithExpiry(key) else {
            missing += 1
            return
        }
        guard sequence == nil || entry.sequence == sequence else {
            changed += 1
            return
        }
        let left = expires.map { Duration.seconds(max(0, $0.seconds(since: .now()))) }
        try target.put(
            entry.value, forKey: key, encoding: entry.encoding,
            attributes: EntryAttributes(lifetime: left, owner: entry.owner))
        entries += 1
        bytes += UInt64(entry.value.count)
    }

    func complain() {
        if missing > 0 {
            Narration.complain(
                "\(Figures.count(missing, "entry was", "entries were")) deleted during the copy")
        }
        if changed > 0 {
            Narration.complain(
                "\(Figures.count(changed, "entry", "entries")) changed during the copy and \(changed == 1 ? "is" : "are") not copied"
            )
        }
    }
}
