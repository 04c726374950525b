import ArgumentParser
import CBOR
import StorageEngine

/// `vellum put`.
struct PutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Records a JSON document, as CBOR.",
        discussion: """
            Makes the store and the archive if they aren't there. A cache evicts its least recently used entries to \
            make room; a value larger than the archive's limit is refused and evicts nothing. Lifetime and owner of an \
            entry that is there already are replaced as well.

            Example: echo '{"name":"Bogor"}' | vellum put City b --disk 2MB --expires 5m --owner demo
            """)

    @OptionGroup var store: StoreArguments

    @Argument(help: "The archive's name.")
    var archive: String

    @Argument(help: "The entry's key, 1 to 1,024 bytes.")
    var key: String

    @Argument(help: "The file that holds the document; - or nothing: standard input.", completion: .file())
    var file = "-"

    @OptionGroup var entry: EntryArguments

    @OptionGroup var settings: ArchiveArguments

    func run() throws {
        let cbor = try document()
        let store = try store.openForWriting(creating: true)
        let archive = try settings.archive(named: archive, in: store)
        defer { store.close() }
        try archive.requireEntries()
        try archive.put(cbor, forKey: key, encoding: .cbor, attributes: entry.attributes)
    }

    private func document() throws(CommandFailure) -> [UInt8] {
        let input = try InputBuffer(path: file)
        try input.skipByteOrderMark()
        while try input.fill() {}
        do throws(JSONError) {
            return try JSONTranscoder.cbor(from: Array(input.unread))
        } catch {
            throw CommandFailure("\(input.name) is not a JSON document: \(error)", status: .nothing)
        }
    }
}
