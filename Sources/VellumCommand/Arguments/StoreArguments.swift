struct ArchiveReference: ParsableArguments {
    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    /// Opens the archive read-only.
    /// - Throws: also if it is a log.
    func openEntries() throws -> Archive {
        let archive = try store.openReadOnly().archive(named: archive)
        try archive.requireEntries()
        return archive
    }
}

struct StoreArguments: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The store's folder, or valkey://host:port of a server (default: $VELLUM_STORE, else the one in the settings, else the only store in the caches folder).",
            valueName: "folder"), completion: .directory)
    var store: String?

    mutating func validate() throws {
        if store?.isEmpty == true { throw ValidationError("--store is empty; pass the store's folder") }
    }

    var named: String? { Configuration.current.store(option: store).value }

    /// The store in the caches folder, if it has exactly one.
    static var onlyStore: String? {
        let paths = (try? StoresFolder.stores(in: CachesFolder.path())) ?? []
        return paths.count == 1 ? paths[0] : nil
    }

    /// Opens the named store read-only.
    func openReadOnly() throws -> Store {
        try Store.open(
            at: try pathForReading(), mode: .readOnly, createIfMissing: false, options: .forReading)
    }

    /// Opens the store for writing; it must be named. `creating`: creates a missing store. `name`: shown to other processes.
    func openForWriting(creating: Bool, as name: String = "vellum") throws -> Store {
        try Store.open(
            at: pathForWriting(), mode: .readWrite, createIfMissing: creating,
            options: .forChanging(as: name))
    }

    func repairMarker() throws -> String? { try Store.repairMarker(at: try pathForWriting()) }

    private func pathForWriting() throws(CommandFailure) -> String {
        try refuseServer()
        guard let named else {
            throw CommandFailure("pass the store to change with --store or VELLUM_STORE", status: .usage)
        }
        return named
    }

    private func refuseServer() throws(CommandFailure) {
        guard let server = try server() else { return }
        throw CommandFailure(
            "\(server) is a server; only browse, ls, keys, groups, get, query, stats, export, import, rm, expire "
                + "and undo work on servers", status: .usage)
    }

    func pathForReading() throws -> String {
        try refuseServer()
        if let named { return named }
        let folder = CachesFolder.path()
        let paths = try StoresFolder.stores(in: folder)
        if paths.count == 1 { return paths[0] }
        guard !paths.isEmpty else {
            throw CommandFailure(
                "there is no store in \(folder); name one with --store or VELLUM_STORE", status: .usage)
        }
        throw CommandFailure(
            "there are \(paths.count) stores in \(folder); name one with --store:\n  "
                + paths.joined(separator: "\n  "), status: .usage)
    }
}
