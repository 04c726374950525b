struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Frees the space of deleted entries now.",
        discussion: """
            Archives free this space automatically over time; this command does it now, while others use the store. Entries \
            that can be undone keep their space unless --give-up-undo is passed. Prints a line per archive: its name, and \
            the bytes of its files before and after.

            Example: vellum compact City
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archives (default: all).", completion: .archives)
    var archives: [WordList] = []

    @Flag(help: "Also free the space kept for undo; earlier deletions can then no longer be undone.")
    var giveUpUndo = false

    private static let columns = [
        Column("archive", title: "ARCHIVE"), Column("before", title: "BEFORE"),
        Column("after", title: "AFTER"),
    ]

    func run() throws {
        Interruption.collect()
        let store = try store.openForWriting(creating: false)
        defer { store.close() }
        var printer = RowPrinter(Self.columns)
        let known = Set(try store.archiveNames().map(ExactText.init))
        for name in archives.words where !known.contains(ExactText(name)) {
            throw StorageError.noSuchArchive(name: name, store: store.path)
        }
        var hasFailed = false
        for name in archives.isEmpty ? try store.archiveNames() : archives.words {
            do {
                let before = try compact(name, of: store)
                // On tmpfs, for example, an index releases its blocks only when it is closed.
                let after = try store.archive(named: name).status()
                try printer.print([.text(name), .bytes(before.footprint), .bytes(after.footprint)])
                if after.undoBytes > 0, !giveUpUndo {
                    Console.say(
                        "\(name): \(Figures.bytes(after.undoBytes)) are kept for undo; --give-up-undo frees them too"
                    )
                }
            } catch let error as StorageError {
                Console.warn("\(name): \(error)")
                hasFailed = true
            }
            if Interruption.isRequested { break }
        }
        try printer.end()
        try Interruption.check()
        if hasFailed { throw CommandFailure(nil, status: .storeFailure) }
    }

    /// - Returns: the status before.
    private func compact(_ name: String, of store: Store) throws -> ArchiveStatus {
        let archive = try store.archive(named: name)
        defer { archive.close() }
        let before = try archive.status()
        var progress = ProgressBar()
        try archive.compact(givingUpUndo: giveUpUndo) { share in
            progress.update(done: UInt64(share * 1000), total: 1000, entries: before.entries)
            return !Interruption.isRequested
        }
        progress.finish()
        return before
    }
}
