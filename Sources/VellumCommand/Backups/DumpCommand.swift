struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Writes a store, or some of its archives, into one file.",
        discussion: """
            Each archive is written as of one moment, while others use the store: values, expiry times, owners, times, \
            hits, LRU order, kinds and limits; logs with their messages. vellum restore recreates the store on any machine. \
            A temporary backup is made in the temporary folder (TMPDIR), which needs enough space.

            The file is a sequence of CBOR items (RFC 8742): a map with vellumDump (the version, 1) and files (their \
            number), for each file of the backup a map with path, crc32c and bytes, and a map with end (their number \
            again). The file is renamed to its name when it is complete. An existing file is replaced only after confirmation \
            on a terminal, or with --force. Damaged entries are reported and left out, with exit code 3.

            Example: vellum dump - City | ssh host vellum restore - /srv/store
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The file to write; - for standard output.", completion: .file())
    var file: String

    @Argument(help: "The archives (default: all).", completion: .archives)
    var archives: [WordList] = []

    @OptionGroup var replacement: Replacement

    func run() throws {
        if file == "-", OutputWriter().isTerminal {
            throw CommandFailure("a dump is binary, which a terminal can't show; name a file", status: .usage)
        }
        let source = try store.openReadOnly()
        Interruption.collect()
        let whole = try WholeFile.toWrite(file, force: replacement.force)
        defer { whole?.discard() }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let backup = folder.path + "/store"
        var progress = ProgressBar()
        defer { progress.finish() }
        let report = try source.backUp(archives: archives.isEmpty ? nil : archives.words, to: backup) {
            progress.shouldContinue($0)
        }
        progress.finish()
        guard let report else { throw CommandFailure.interrupted }
        report.reportDamage()
        let output = whole?.output ?? OutputWriter()
        let bytes = try DumpFile.write(storeAt: backup, to: output)
        try output.flush()
        try whole?.finish()
        Console.say(
            "dumped \(Figures.count(report.archives.count, "archive", "archives")), \(report.amount), in "
                + Figures.bytes(bytes))
        if !report.damaged.isEmpty { throw CommandFailure(nil, status: .storeFailure) }
    }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Creates a store from a file that vellum dump wrote.",
        discussion: """
            The folder must be new or empty; it is renamed to its name after every value has been verified. Nothing is \
            replaced. Exit code 1 if the file isn't a dump, ends early or continues after its end; 3 if something in it is \
            damaged.

            Example: vellum restore store.dump /srv/store
            """)

    @Argument(help: "The file; - for standard input.", completion: .file())
    var file: String

    @Argument(help: "The new store's folder.", completion: .directory)
    var folder: String

    func run() throws {
        Interruption.collect()
        let input = try InputBuffer(path: file)
        var files: [String] = []
        let (archives, entries, bytes) = try Store.assemble(at: folder) {
            files = try DumpFile.read(input, into: $0)
        } verify: { store in
            let report = try verify(store)
            try DumpFile.synchronize(files)
            return report
        }
        Console.say(
            "restored \(Figures.count(archives, "archive", "archives")), \(Figures.amount(entries, bytes: bytes)), "
                + "to \(folder)")
    }

    /// Opens every archive for writing, which builds its index, and checks it.
    private func verify(_ store: Store) throws -> (archives: Int, entries: Int, bytes: UInt64) {
        var (archives, entries, bytes) = (0, 0, UInt64(0))
        for name in try store.archiveNames() {
            let archive = try store.archive(named: name)
            defer { archive.close() }
            let report = try archive.check()
            guard report.clean else {
                throw CommandFailure(
                    "\(file): archive \(TerminalSafe.quoted(name)) is damaged: "
                        + (report.problems.first ?? "its frames are inconsistent"), status: .storeFailure)
            }
            archives += 1
            entries += report.entries
            bytes += report.valueBytes
        }
        return (archives, entries, bytes)
    }
}
