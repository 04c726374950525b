import ServerInspection

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Lists the entries of an archive with their metadata.",
        discussion: """
            Columns in a pipe, and properties with --json: key, size, tier, created, accessed, expires, hits, owner, rank. \
            Sizes are bytes, times seconds since 1970; rank 1 is the most recent. In a pipe, an entry is a line: control \
            characters and line separators in keys and owners are escaped as \\n, \\t or \\u{2028}; --json prints them \
            exactly. For a server: key, type, encoding, size (in its memory), accessed, expires and, with an LFU policy, \
            frequency; without --order in the order of its scan. On a terminal, expires is the remaining time. --match is a \
            shell pattern; quote it. --prefix and --owner compare bytes. Exit code 1 if no entry matches.

            A cache with the policy s3fifo also has queue, small or main, and frequency, the accesses since the entry entered \
            that queue, up to 3.

            Example: vellum keys City --prefix 16 --owner demo --order expires
            """)

    @OptionGroup var reference: ArchiveReference

    @Option(
        help: ArgumentHelp(
            """
            Sort by recency (most recently used first), key, owner, size (largest first), created (latest first), \
            expires (soonest first), hits (most first), tier (in memory first) or eviction (next evicted first).
            """, valueName: "order"))
    var order = EntryColumn.idle

    @Flag(help: "Reverse the order; equal entries stay most recently used first.")
    var reverse = false

    @Option(help: ArgumentHelp("Only keys with this prefix.", valueName: "text"))
    var prefix: String?

    @Option(
        help: ArgumentHelp(
            "Only keys that match this pattern: * is any text, ? a character, [a-c] one of these.",
            valueName: "pattern"))
    var match: String?

    @Option(
        help: ArgumentHelp("Only the entries of this owner.", valueName: "name"), completion: .owners,
        transform: OwnerName.parse)
    var owner: String?

    @Option(help: ArgumentHelp("Print at most this number of entries.", valueName: "count"))
    var limit: Int?

    @OptionGroup var rows: JSONLines

    mutating func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more") }
    }

    func run() throws {
        if let server = try reference.store.server() {
            return try list(ServerDatabase(server, named: reference.archive))
        }
        let archive = try reference.openEntries()
        let listing = try StoredListing(archive)
        let entries = listing.list
        let queues = listing.evictionOrder
        var printer = RowPrinter(
            MetadataColumns.columns + (queues == nil ? [] : MetadataColumns.queueColumns), json: rows.layout)
        var left = limit ?? .max
        var missing = 0
        var isAnyMeant = false
        let isFiltered = prefix != nil || owner != nil || match != nil
        let pattern = match.map { KeyPattern($0) }
        let now = Timestamp.now()
        let order = EntryOrder(order)
        let places = (reverse ? order.reversed : order).positions(in: listing, now: now)
        for row in 0..<places.count {
            let index = places.index(atRow: row)
            // Prefetch eight rows ahead: writing them takes about as long as a memory access.
            if row + 8 < places.count { entries.prefetch(at: places.index(atRow: row + 8)) }
            guard left > 0 || (isFiltered && !isAnyMeant) else { break }
            if prefix != nil || pattern != nil, let key = try entries.soundKey(at: index),
                !key.utf8.starts(with: (prefix ?? "").utf8) || pattern?.matches(key) == false
            {
                continue
            }
            guard var metadata = try entries.soundMetadata(at: index) else {
                if try entries.isDamaged(at: index) { missing += 1 }
                continue
            }
            // Compare bytes: two spellings of an accent are two owners.
            if let owner, metadata.owner?.utf8.elementsEqual(owner.utf8) != true { continue }
            isAnyMeant = true
            guard left > 0 else { break }
            metadata.queue = queues?[index]
            try printer.print(MetadataColumns.cells(metadata, now: now))
            left -= 1
        }
        try printer.end()
        Console.reportMissing(missing)
        let hasLost = try archive.reportLoss()
        if missing > 0 || hasLost { throw CommandFailure(nil, status: .storeFailure) }
        // Report that nothing matches, as rm and expire do.
        guard isFiltered, !isAnyMeant else { return }
        let meant = [
            prefix.map { "with a key that begins with \(TerminalSafe.quoted($0))" },
            match.map { "with a key that matches \(TerminalSafe.quoted($0))" },
            owner.map { "of owner \(TerminalSafe.quoted($0))" },
        ]
        throw CommandFailure(
            "\(archive.name) has no entry \(meant.compactMap { $0 }.joined(separator: " "))", status: .nothing
        )
    }

    private func list(_ database: ServerDatabase) throws {
        if owner != nil { throw ServerDatabase.noOwners }
        // Any order but the server's own needs metadata of all keys.
        let isOrdered = ProgramArguments.withoutStore.contains { $0 == "--order" || $0.hasPrefix("--order=") }
        let order = isOrdered ? order : nil
        if let order, [.tier, .age, .owner, .queue].contains(order) {
            throw ValidationError("keys of a server have no \(order.rawValue)")
        }
        let pattern: String? =
            switch (prefix, match) {
            case (nil, nil): nil
            case (let prefix?, nil): ServerScan.escaped(prefix) + "*"
            case (nil, let match?): match
            case (_?, _?): throw ValidationError("on a server, pass either --prefix or --match")
            }
        var printer = RowPrinter(ServerDatabase.columns, json: rows.layout)
        var left = limit ?? .max
        var hidden = 0
        Interruption.collect()
        try database.visitKeys(matching: pattern, by: order, reverse: reverse) { key, facts in
            guard left > 0, !Interruption.isRequested else { return false }
            left -= 1
            if !facts.unknown.isEmpty { hidden += 1 }
            try printer.print(ServerDatabase.cells(key, facts))
            return left > 0
        }
        try printer.end()
        try Interruption.check()
        if pattern != nil, left == limit ?? .max, limit != 0 {
            throw CommandFailure("\(reference.archive) has no key that matches", status: .nothing)
        }
        guard hidden > 0 else { return }
        throw CommandFailure(ServerDatabase.lackOfRights(to: hidden), status: .storeFailure)
    }
}

extension EntryColumn: ExpressibleByArgument {}
