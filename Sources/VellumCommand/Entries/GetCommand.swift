import ArchiveQuery

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints the value of an entry.",
        discussion: """
            Documents (CBOR, JSON, property lists) are printed as indented JSON, texts unchanged, other bytes in \
            hexadecimal. Doesn't count as an access.
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The entry's key.", completion: .keys)
    var key: String

    @Flag(help: "Print JSON on one line; texts and other bytes become strings.")
    var json = false

    @Flag(help: "Print the stored bytes unchanged.")
    var raw = false

    @Flag(help: "Print only the characters of a text, also of a JSON or CBOR string.")
    var text = false

    @Flag(help: "Print the stored bytes in hexadecimal.")
    var hex = false

    @Flag(help: "Print the entry's metadata first; with --json, {\"meta\":…,\"value\":…}.")
    var meta = false

    mutating func validate() throws {
        if [json, raw, text, hex].count(where: { $0 }) > 1 {
            throw ValidationError("only one of --json, --raw, --text and --hex can be passed")
        }
        if raw || text, meta {
            throw ValidationError("--raw and --text print only the value; they can't be combined with --meta")
        }
    }

    func run() throws {
        if let server = try reference.store.server() {
            let database = try ServerDatabase(server, named: reference.archive)
            guard let (facts, value) = try database.value(of: key) else {
                throw CommandFailure(
                    "no key \(TerminalSafe.quoted(key)) in \(reference.archive) of \(server)",
                    status: .nothing)
            }
            if let reason = try database.unreadableReason() { Console.warn(reason) }
            var members = zip(ServerDatabase.columns, ServerDatabase.cells(key, facts)).map { ($0.name, $1) }
            if let owner = value.owner { members.append(("owner", .text(owner))) }
            try value.bytes.withUnsafeBytes { try print($0, value.encoding, members) }
            // Fail after printing only a part of a value.
            if value.isUnreadable, let origin = value.origin { Console.warn(origin) }
            if let doubt = value.doubt { Console.warn(doubt) }
            if let shortage = value.shortage { throw CommandFailure(shortage, status: .storeFailure) }
            return
        }
        let archive = try reference.openEntries()
        let found = try archive.metadata(key)
        let isPrinted = try found.map { metadata in
            var metadata = metadata
            if meta { metadata.rank = try Self.rank(of: metadata, in: archive) }
            let members = MetadataColumns.members(metadata)
            // Print from the mapping: a copy would double the memory.
            let result = try archive.withPeek(key) { bytes in
                Result { try print(bytes, metadata.encoding, members) }
            }
            try result?.get()
            return result != nil
        }
        guard isPrinted == true else {
            let hasLost = try found == nil && archive.reportLoss()
            let place = "\(TerminalSafe.quoted(key)) in archive \"\(archive.name)\""
            throw CommandFailure(
                found?.tier == .memory
                    ? "the value of \(place) is only in a process's memory; vellum why names the process"
                    : "no entry \(place)" + Suggestion.key(for: key, in: archive),
                status: hasLost ? .storeFailure : .nothing)
        }
        try archive.failIfDamaged()
    }

    private func print(
        _ bytes: UnsafeRawBufferPointer, _ encoding: ValueEncoding, _ members: [(name: String, value: Cell)]
    ) throws {
        let output = OutputWriter()
        if raw {
            try output.write(bytes)
        } else if text {
            try printCharacters(try recognized(bytes, encoding), to: output)
        } else if json {
            let value = try recognized(bytes, encoding)
            warn(about: value)
            try value.withSource { source in
                let json = JSONTree.source(source)
                try (meta ? MetadataColumns.entry(members, value: json) : json).writeLine(to: output)
            }
        } else {
            if meta {
                try output.write(members)
                try output.write("\n")
            }
            if hex {
                try HexText.dump(bytes, to: output)
            } else {
                try printPretty(bytes, encoding, to: output)
            }
        }
        try output.flush()
    }

    private func recognized(
        _ bytes: UnsafeRawBufferPointer, _ encoding: ValueEncoding
    ) throws(CommandFailure) -> RecognizedBytes {
        do throws(TooLongPropertyList) {
            return try RecognizedBytes(bytes, encoding: encoding)
        } catch {
            throw CommandFailure("\(TerminalSafe.quoted(key)): \(error)", status: .storeFailure)
        }
    }

    private func printCharacters(_ value: RecognizedBytes, to output: OutputWriter) throws {
        try value.withSource { source in
            guard source.isText else {
                throw CommandFailure(
                    "the value of \(TerminalSafe.quoted(key)) isn't a text; --json, --raw and --hex print it",
                    status: .nothing)
            }
            try output.write(source, isBare: true, isSafe: false)
        }
    }

    private func warn(about value: RecognizedBytes) {
        let repetition = value.repeatsName ? "an object has duplicate names; --raw keeps all" : nil
        for problem in [value.problem, repetition].compactMap(\.self) {
            Console.warn("\(TerminalSafe.quoted(key)): \(problem)")
        }
    }

    private func printPretty(
        _ bytes: UnsafeRawBufferPointer, _ encoding: ValueEncoding, to output: OutputWriter
    ) throws {
        let value = try recognized(bytes, encoding)
        warn(about: value)
        if value.form == .bytes {
            try HexText.dump(bytes, to: output)
        } else if value.form == .text {
            try TerminalSafe.write(bytes, to: output)
            if bytes.last != UInt8(ascii: "\n") { try output.write("\n") }
        } else {
            try value.withSource { try output.write($0, .pretty) }
            try output.write("\n")
        }
    }

    /// The position in the LRU order. Lists all entries.
    static func rank(of metadata: EntryMetadata, in archive: Archive) throws(StorageError) -> Int? {
        let entries = try archive.entries()
        return entries.firstIndex { $0.recency <= metadata.recency }.map { entries.rank(at: $0) }
    }
}
