import CBOR

struct PutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Stores a JSON document as CBOR, a text, or bytes.",
        discussion: """
            Creates the store and the archive if they don't exist. A cache evicts entries, in the order of its policy, for a new \
            one; a value larger than the archive's limit is refused and evicts nothing. TTL and owner of an existing entry \
            are replaced as well. A document in which an object has duplicate names is refused.

            --text stores the input unchanged and marks it as text; --raw stores any bytes. get --raw prints both unchanged.

            Example: echo '{"name":"Bogor"}' | vellum put City b --disk 2MB --expires 5m --owner demo
            """)

    @OptionGroup var reference: ArchiveReference

    @Argument(help: "The entry's key, 1 to 1,024 bytes.")
    var key: String

    @Argument(help: "The document's file; - or nothing: standard input.", completion: .file())
    var file = "-"

    @Flag(help: "Store the input, UTF-8, as a text.")
    var text = false

    @Flag(help: "Store the input's bytes unchanged.")
    var raw = false

    @OptionGroup var entry: EntryArguments

    @OptionGroup var settings: ArchiveArguments

    mutating func validate() throws {
        if text, raw { throw ValidationError("--text and --raw can't be combined") }
    }

    func run() throws {
        let (bytes, encoding) = try content()
        let store = try reference.store.openForWriting(creating: true)
        defer { store.close() }
        let names = try store.archiveNames()
        try settings.withArchive(named: reference.archive, in: store) { archive in
            try archive.requireEntries()
            try archive.put(bytes, forKey: key, encoding: encoding, attributes: entry.attributes)
        }
        // A newly created archive may be a mistyped name.
        if !names.contains(reference.archive),
            let other = Suggestion.nearest(to: reference.archive, among: names)
        {
            Console.say(
                "created archive \(TerminalSafe.quoted(reference.archive)); there is also \(TerminalSafe.quoted(other))"
            )
        }
    }

    private func content() throws(CommandFailure) -> (bytes: [UInt8], encoding: ValueEncoding) {
        if file.hasPrefix("{") || file.hasPrefix("["), FileKind(of: file) == nil {
            let put = ShellWord.vellum("put", [reference.archive, key], store: reference.store.store)
            throw CommandFailure(
                "there is no file \(TerminalSafe.quoted(file)); to store this text as a document: "
                    + "echo \(ShellWord.quoted(file)) | \(put)", status: .usage)
        }
        let input = try InputBuffer(path: file)
        if !text, !raw { try input.skipByteOrderMark() }
        while try input.fill() {}
        let bytes = Array(input.unread)
        if raw { return (bytes, .unknown) }
        if text {
            guard String(validating: bytes, as: UTF8.self) != nil else {
                throw CommandFailure(
                    "\(input.name) is not UTF-8 text; --raw stores any bytes", status: .nothing)
            }
            return (bytes, .text)
        }
        do throws(JSONError) {
            return (try JSONTranscoder.cbor(from: bytes, uniqueNames: true, readsBytes: true), .cbor)
        } catch {
            let problem =
                if case .repeatedName = error.reason { "is refused" } else { "is not a JSON document" }
            throw CommandFailure(
                "\(input.name) \(problem): \(error); --text and --raw store it unchanged", status: .nothing)
        }
    }
}
