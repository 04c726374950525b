import ArchiveQuery

struct GroupsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups", abstract: "Shows the disk usage of an archive by key prefix or by a property.",
        discussion: """
            A group shares the beginning of its keys up to the next separator, by default the most frequent one of : / | . # \
            - _ and space. Keys without one form a group. --prefix divides one group further. --by groups by owner, kind (of \
            value: CBOR, JSON, text, PNG image) or a property of the query language such as address.city or @tier; a \
            property named owner is written '"owner"'. Columns in a pipe, and properties with --json: group, entries, bytes, \
            share of the bytes of all groups, hits, accessed. The largest group is first. In a pipe, control characters of \
            keys are escaped as \\n or \\u{2028}.

            Example: vellum groups Session --prefix user: --limit 10
            """)

    enum By: Equatable, ExpressibleByArgument {
        case prefix, owner, kind
        case property(QueryProperty)

        static let words = ["prefix", "owner", "kind"]

        init?(argument: String) {
            switch argument {
            case "prefix": self = .prefix
            case "owner": self = .owner
            case "kind": self = .kind
            default:
                guard let property = try? QueryProperty(argument) else { return nil }
                self = .property(property)
            }
        }

        var defaultValueDescription: String { "prefix" }

        var isOfMetadata: Bool {
            if case .property(let property) = self { property.isMetadata } else { false }
        }
    }

    @OptionGroup var reference: ArchiveReference

    @Option(
        help: ArgumentHelp(
            "Group by key prefix, owner, kind of value, or a property.",
            valueName: "property"), completion: .groupings)
    var by = By.prefix

    @Option(
        help: ArgumentHelp(
            "Only keys with this prefix; groups are formed by the part after it.", valueName: "text"))
    var prefix = ""

    @Option(help: ArgumentHelp("The ASCII character that ends a prefix.", valueName: "character"))
    var separator: String?

    @Option(help: "Sort by: group ascending, most entries, bytes or hits first, or longest idle first.")
    var order = GroupColumn.bytes

    @Flag(help: "Reverse the order.")
    var reverse = false

    @Option(help: ArgumentHelp("Print at most this number of groups.", valueName: "count"))
    var limit: Int?

    @OptionGroup var rows: JSONLines

    mutating func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more") }
        if let separator, separator.utf8.count != 1 {
            throw ValidationError("--separator must be one ASCII character")
        }
        if by != .prefix, separator != nil || !prefix.isEmpty {
            throw ValidationError("--prefix and --separator require --by prefix")
        }
        if case .property(let property) = by, property.isMany {
            throw ValidationError(
                "an entry has several values of \(property); vellum query \(reference.archive) 'count by \(property)' counts them"
            )
        }
    }

    func run() throws {
        if let server = try reference.store.server() {
            if by == .owner || by == .kind {
                throw ValidationError("on a server, --by must be prefix, @type or a property")
            }
            Interruption.collect()
            let database = try ServerDatabase(server, named: reference.archive)
            let listing = try database.listing()
            if case .property(let property) = by, let reason = try listing.unsupportedReason(for: [property])
            {
                throw CommandFailure(reason, status: .usage)
            }
            return try print(listing) { groups in
                if let omission = groups.omission { Console.warn(omission) }
                if groups.unreadable > 0 {
                    let reason = try by.isOfMetadata ? "no permission" : database.unreadableReason()
                    Console.warn(
                        "\(Figures.count(groups.unreadable, "value", "values")) could not be read"
                            + (reason.map { "; \($0)" } ?? ""))
                }
                if groups.unreadable + groups.unmeasured > 0 {
                    throw CommandFailure(nil, status: .storeFailure)
                }
            }
        }
        let archive = try reference.openEntries()
        try print(StoredListing(archive)) { try report($0, archive) }
    }

    /// `report` reports entries that may be missing.
    private func print(_ listing: any EntryListing, report: (EntryGroups) throws -> Void) throws {
        let keys = by == .prefix ? KeyIndex(listing) { (_) throws(Never) in } : nil
        let chosen = separator?.utf8.first ?? keys?.separator(below: prefix) ?? Grouping.separators[0]
        let grouping: Grouping =
            switch by {
            case .prefix: .prefix(below: prefix, separator: chosen)
            case .owner: .owner
            case .kind: .kind
            case .property(let property): .property(property)
            }
        let groups = EntryGroups(listing, keys: keys, by: grouping, now: .now()) { (_) throws(Never) in }
        var printer = RowPrinter(
            [
                Column("group", title: "GROUP"), Column("entries", title: "ENTRIES"),
                Column("bytes", title: "BYTES"), Column("share", title: "SHARE"),
                Column("hits", title: "HITS", dropped: 1), Column("accessed", title: "ACCESSED", dropped: 2),
            ], json: rows.layout)
        let order = groups.sorted(by: order, descending: (order != .group) != reverse)
        for number in order.prefix(limit ?? .max) {
            let group = groups.groups[number]
            try printer.print([
                name(of: group), .count(UInt64(group.entries)), .bytes(group.bytes),
                .ratio(groups.bytes == 0 ? 0 : Double(group.bytes) / Double(groups.bytes)),
                .count(group.hits), Cell(group.accessed),
            ])
        }
        try printer.end()
        for remark in groups.remarks { Console.warn(remark) }
        try report(groups)
    }

    /// For programs: the prefix itself; empty for keys without a separator after it, and for entries without an owner.
    private func name(of group: EntryGroup) -> Cell {
        guard rows.json || !OutputWriter().isTerminal else { return .text(group.name) }
        switch group.membership {
        case .prefix(let beginning): return .text(beginning.text)
        case .last: return .absent
        case .owner(let owner): return Cell(owner?.text)
        case .value(_, .absent, _): return .absent
        // Texts have no JSON quotes.
        case .value(_, .text(let text), _): return .text(text)
        case .value(_, .key(let key), _): return .text(key.text)
        case .value(_, .boolean, let shown), .value(_, .number(.integer), let shown): return .number(shown)
        case .value(_, .number(.float(let number)), let shown) where number.isFinite: return .number(shown)
        // Write a list or object as such: a string could have the same text.
        case .value(_, let key, _) where rows.json && key.isCollection: return .item(key.encoded)
        case .kind, .value, .both: return .text(group.name)
        }
    }

    /// A single group without a value may mean a mistyped name.
    private func reportMissingProperty(_ groups: EntryGroups, _ archive: Archive) throws {
        guard case .property(let property) = by, groups.groups.count == 1,
            case .value(_, .absent, _) = groups.groups[0].membership
        else { return }
        var options = QueryOptions()
        options.looksForMistakes = true
        let having = QueryPlan(QueryPipeline([.find(.presence(property, .notNull)), .limit(1)]))
        let report = try having.run(over: archive, options: options) { _ in true }
        for warning in report.warnings { Console.warn(warning) }
    }

    private func report(_ groups: EntryGroups, _ archive: Archive) throws {
        if groups.ungrouped > 0 {
            Console.warn(
                "only the \(Figures.count(groups.groups.count)) groups that are largest by entries or by bytes are shown; "
                    + "\(Figures.count(groups.ungrouped, "entry", "entries")) of others are left out")
        }
        try reportMissingProperty(groups, archive)
        Console.reportMissing(groups.unreadable)
        let hasLost = try archive.reportLoss()
        if groups.unreadable > 0 || hasLost { throw CommandFailure(nil, status: .storeFailure) }
        guard groups.entries == 0, !prefix.isEmpty else { return }
        throw CommandFailure(
            "\(archive.name) has no entry with a key that begins with \(TerminalSafe.quoted(prefix))",
            status: .nothing)
    }
}

extension GroupColumn: ExpressibleByArgument {}

extension CompletionKind {
    static var groupings: CompletionKind {
        offered { words, prefix in
            GroupsCommand.By.words.filter { $0.hasPrefix(prefix) }
                + (StoreCompletion(words)?.groupings(beginning: prefix) ?? [])
        }
    }
}

extension StoreCompletion {
    /// Completions of `groups --by`: metadata, and properties of the latest values.
    func groupings(beginning prefix: String) -> [String] {
        guard let sample else { return [] }
        let names = sample.properties.map { property in
            let text = property.description
            return GroupsCommand.By.words.contains(text) ? QueryLiteral.text(text).description : text
        }
        return Self.offered(names + QueryMetadata.allCases.map { "@" + $0.rawValue }, prefix)
    }
}
