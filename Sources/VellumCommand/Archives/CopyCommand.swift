struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copies an archive or some of its entries.",
        discussion: """
            A whole archive is copied to a new one, as of one moment, with expiry times, owners, times, hits and the \
            LRU order; a log with its messages. No archive of that name may exist. Requests for vellum advise \
            are recorded from then on.

            Keys, or entries that meet --where, are copied into an archive, which is created with the same kind, limits and policy \
            if it doesn't exist. They keep value, owner and remaining TTL, are stored in their LRU order, and replace \
            entries with the same keys. Damaged entries are reported and left out, with exit code 3. --to names another \
            store, which is created if it doesn't exist.

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
        let source = try to == nil ? store.openForWriting(creating: false) : store.openReadOnly()
        defer { source.close() }
        let archive = try source.archive(named: archive)
        let isWhole = keys.isEmpty && condition == nil
        if !isWhole { try archive.requireEntries() }
        // Check the request before creating anything.
        let (chosen, asked, isDamaged) = isWhole ? ([], 0, false) : try chosenEntries(archive)
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
        Console.say(
            "copied \(Figures.amount(copying.entries, bytes: copying.bytes)) from \(archive.name) to \(copy.name)"
        )
        try Interruption.check()
        copying.reportSkipped()
        if copying.entries < max(1, asked) { throw try failure(archive, isDamaged || copying.damaged > 0) }
    }

    private func failure(_ archive: Archive, _ isDamaged: Bool) throws -> CommandFailure {
        let absence = try archive.statusOfAbsence()
        return CommandFailure(nil, status: isDamaged ? .storeFailure : absence)
    }

    /// The keys, each with its required sequence number if a condition chose it; their number, including absent and damaged
    /// entries; and whether an entry is damaged.
    private func chosenEntries(
        _ archive: Archive
    ) throws -> (entries: [(key: String, sequence: UInt64?)], asked: Int, isDamaged: Bool) {
        guard let condition else {
            var seen: Set<ExactText> = []
            var present: [(key: String, sequence: UInt64?)] = []
            var isDamaged = false
            for key in keys.words where seen.insert(ExactText(key)).inserted {
                let found = try archive.readingEntry(key) { () throws(StorageError) in
                    try archive.metadata(key)
                }
                guard let found else {
                    isDamaged = true
                    continue
                }
                if let found, found.tier != .memory {
                    present.append((key, nil))
                } else {
                    Console.warn("no entry \(TerminalSafe.quoted(key)) on disk")
                }
            }
            guard !present.isEmpty else { throw try failure(archive, isDamaged) }
            return (present, seen.count, isDamaged)
        }
        let found = try archive.entries(meeting: condition)
        guard !found.isEmpty else {
            throw CommandFailure(
                "\(archive.name) has no entry that meets the condition", status: try archive.statusOfAbsence()
            )
        }
        return (found.map { ($0.key, $0.sequence) }, found.count, false)
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
    /// Entries with damaged bytes, which have been reported.
    fileprivate var damaged = 0

    /// `sequence`: copies the entry only if this operation stored it; another value may not meet the condition.
    mutating func copy(_ key: String, of sequence: UInt64?) throws(StorageError) {
        let found = try source.readingEntry(key) { () throws(StorageError) in
            try source.currentWithExpiry(key)
        }
        guard let found else {
            damaged += 1
            return
        }
        guard let (entry, expires) = found else {
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

    func reportSkipped() {
        if missing > 0 {
            Console.warn("\(Figures.count(missing, "entry was", "entries were")) deleted during the copy")
        }
        if changed > 0 {
            Console.warn(
                "\(Figures.count(changed, "entry", "entries")) changed during the copy and \(changed == 1 ? "is" : "are") not copied"
            )
        }
    }
}
