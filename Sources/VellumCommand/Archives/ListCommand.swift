import ServerInspection

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "Lists the archives with their sizes, limits and counters.",
        discussion: """
            Columns in a pipe, and properties with --json: archive, kind, type, entries, memoryBytes, memoryLimit, \
            diskBytes, diskLimit, footprint, hits, misses, evictions, expirations, rejections, evictionPolicy. Sizes are \
            bytes; memoryBytes and diskBytes are sums of values, footprint is the size of the archive's files. Unreadable archives and empty \
            archive folders are reported on standard error, with exit code 3, and so are damaged archives, which may \
            lack entries; the others are still listed.
            """)

    @OptionGroup var store: StoreArguments

    @Flag(help: "Print one JSON array.")
    var json = false

    private static let columns = [
        Column("archive", title: "ARCHIVE"), Column("kind", title: "KIND", dropped: 6), Column("type"),
        Column("entries", title: "ENTRIES"), Column("memoryBytes", title: "MEMORY", dropped: 4),
        Column("memoryLimit", title: "LIMIT", dropped: 3), Column("diskBytes", title: "DISK"),
        Column("diskLimit", title: "LIMIT", dropped: 7), Column("footprint", title: "FOOTPRINT", dropped: 5),
        Column("hits", title: "HITS", dropped: 2), Column("misses", title: "MISSES", dropped: 1),
        Column("evictions", title: "EVICTIONS", dropped: 0), Column("expirations"), Column("rejections"),
        Column("evictionPolicy", title: "POLICY", dropped: 4),
    ]

    func run() throws {
        if let server = try store.server() { return try list(server) }
        let store = try store.openReadOnly()
        var printer = RowPrinter(Self.columns, json: json ? .jsonArray : nil)
        var failed = false
        try store.visitArchives { archive in
            let sample = try ArchiveSample(archive)
            let members = sample.members
            try printer.print(
                Self.columns.compactMap { column in members.first { $0.name == column.name }?.value })
            if try archive.reportLoss(withSegments: true) { failed = true }
        } unreadable: { name, error in
            Console.warn("\(name): \(error)")
            failed = true
        }
        for name in try store.emptyArchiveNames() {
            Console.warn("\(name): \(store.emptyArchiveProblem(named: name))")
            failed = true
        }
        for name in try store.strayFolderNames() {
            Console.warn(store.strayFolderProblem(name))
            failed = true
        }
        try printer.end()
        if failed { throw CommandFailure(nil, status: .storeFailure) }
    }

    private static let databaseColumns = [
        Column("archive", title: "DATABASE"), Column("entries", title: "KEYS"),
        Column("expiring", title: "EXPIRING"),
    ]

    private func list(_ server: ServerAddress) throws {
        var printer = RowPrinter(Self.databaseColumns, json: json ? .jsonArray : nil)
        let figures = try ServerConnection(server).figures()
        for database in figures.databases {
            try printer.print([
                .text(database.name), .count(UInt64(clamping: database.keys)),
                .count(UInt64(clamping: database.expiring)),
            ])
        }
        try printer.end()
        if let remark = figures.remark { Console.warn("\(server) is \(remark)") }
    }
}
