import ArchiveQuery
import ArgumentParser
import ServerInspection
import CBOR
import StorageEngine
import StoreInspection

/// `vellum get`.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Prints the value of an entry.",
        discussion: """
            Documents (CBOR, JSON, property lists) are printed as indented JSON, texts as they are, anything else in hexadecimal. \
            Looking doesn't count as an access.
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.", completion: .archives)
    var archive: String

    @Argument(help: "The entry's key.", completion: .keys)
    var key: String

    @Flag(help: "Print JSON on one line; a text becomes a string, other bytes a string of base64url.")
    var json = false

    @Flag(help: "Print the stored bytes as they are.")
    var raw = false

    @Flag(help: "Print the characters of a text alone, also of one that is a string of JSON or CBOR.")
    var text = false

    @Flag(help: "Print the stored bytes in hexadecimal.")
    var hex = false

    @Flag(help: "Print the entry's metadata first; with --json, {\"meta\":…,\"value\":…}.")
    var meta = false

    mutating func validate() throws {
        if [json, raw, text, hex].count(where: { $0 }) > 1 {
            throw ValidationError("--json, --raw, --text and --hex exclude each other")
        }
        if raw || text, meta {
            throw ValidationError("--raw and --text print nothing but the value, so they exclude --meta")
        }
    }

    func run() throws {
        if let server = try store.server() {
            let database = try ServerDatabase(server, named: archive)
            guard let (facts, value) = try database.value(of: key) else {
                throw CommandFailure(
                    "no key \(TerminalSafe.quoted(key)) in \(archive) of \(server)", status: .nothing)
            }
            var members = zip(ServerDatabase.columns, ServerDatabase.cells(key, facts)).map { ($0.name, $1) }
            if let owner = value.owner { members.append(("owner", .text(owner))) }
            try print(value.bytes, value.encoding, members)
            // Half a value isn't what was asked for.
            if value.isUnreadable, let origin = value.origin { Narration.complain(origin) }
            if let doubt = value.doubt { Narration.complain(doubt) }
            if let shortage = value.shortage { throw CommandFailure(shortage, status: .storeFailure) }
            return
        }
        let archive = try store.openForLooking().archive(named: archive)
        try archive.requireEntries()
        let found = try archive.metadata(key)
        guard var metadata = found, let bytes = try archive.peek(key) else {
            let hasLost = try found == nil && archive.complainOfLoss()
            let place = "\(TerminalSafe.quoted(key)) in archive \"\(archive.name)\""
            throw CommandFailure(
                found?.tier == .memory
                    ? "the value of \(place) is in the memory of a process only, and nobody else can read it (vellum why "
                        + "tells which)" : "no entry \(place)" + Suggestion.key(for: key, in: archive),
                status: hasLost ? .storeFailure : .nothing)
        }
        if meta { metadata.rank = try Self.rank(of: metadata, in: archive) }
        try print(bytes, metadata.encoding, MetadataColumns.members(metadata))
    }

    /// `members`: what is known of the entry besides its value.
    private func print(
        _ bytes: [UInt8], _ encoding: ValueEncoding, _ members: [(name: String, value: Cell)]
    ) throws {
        let output = OutputWriter()
        if raw {
            try output.write(bytes)
        } else if text {
            try output.write(characters(bytes, encoding))
        } else if json {
            try printJSON(RecognizedValue(bytes, encoding: encoding), members, to: output)
        } else {
            if meta { try printMetadata(members, to: output) }
            try TerminalSafe.write(
                hex ? HexText.dump(bytes) : pretty(bytes, encoding), to: output)
        }
        try output.flush()
    }

    private func printJSON(
        _ value: RecognizedValue, _ members: [(name: String, value: Cell)], to output: OutputWriter
    ) throws {
        complain(of: value)
        let json = try value.json(.compact)
        try (meta ? MetadataColumns.entry(members, value: json) : .printed(json)).writeLine(to: output)
    }

    private func characters(_ bytes: [UInt8], _ encoding: ValueEncoding) throws -> [UInt8] {
        let value = RecognizedValue(bytes, encoding: encoding)
        if value.form == .text { return bytes }
        if value.form.isDocument, case .text(let text)? = try? CBORReader.decode(value.item) {
            return Array(text.utf8)
        }
        throw CommandFailure(
            "the value of \(TerminalSafe.quoted(key)) is no text; --json, --raw and --hex print it",
            status: .nothing)
    }

    private func complain(of value: RecognizedValue) {
        if let problem = value.problem { Narration.complain("\(TerminalSafe.quoted(key)): \(problem)") }
    }

    /// A line a property, and an empty line before the value.
    private func printMetadata(
        _ members: [(name: String, value: Cell)], to output: OutputWriter
    ) throws {
        for (name, cell) in members {
            try output.write("\(name)\t\(output.isTerminal ? cell.human : cell.plain)\n")
        }
        try output.write("\n")
    }

    private func pretty(_ bytes: [UInt8], _ encoding: ValueEncoding) throws(CBORError) -> [UInt8] {
        let value = RecognizedValue(bytes, encoding: encoding)
        complain(of: value)
        var output =
            value.form.isDocument
            ? try value.json(.pretty) : value.form == .text ? bytes : HexText.dump(bytes)
        if output.last != UInt8(ascii: "\n") { output.append(UInt8(ascii: "\n")) }
        return output
    }

    /// Only a list of all entries knows the place of one.
    static func rank(of metadata: EntryMetadata, in archive: Archive) throws(StorageError) -> Int? {
        let entries = try archive.entries()
        return entries.firstIndex { $0.recency <= metadata.recency }.map { entries.rank(at: $0) }
    }
}
