import ArchiveQuery
import CBOR
import StorageEngine
import StoreInspection

/// Reads a value in windows, so that one of any size is never in memory as a whole, for a file or a program. For one thread.
struct ValueStream {
    enum Form: Sendable, Hashable {
        /// A document that is no longer than ``StoreInspection/ValueContent/decodingLimit`` as indented JSON, anything else as
        /// it is stored.
        case shown
        case stored
    }

    let entry: EntryAddress
    let form: Form
    let source: any StoreSource
    /// Takes the share that is done, and says whether to go on.
    let progress: (Double) -> Bool

    private var key: String { entry.key }
    private var archive: ArchiveAddress { entry.archive }

    /// Bytes that are read at once.
    static let window = 1 << 20
    /// How often a value that others store anew meanwhile is begun again.
    private static let attempts = 4

    /// What was read: bytes of one version of the entry.
    struct Report: Sendable, Hashable {
        var bytes: UInt64
        var isJSON: Bool
    }

    /// Writes the value through what `open` gives, which is asked once for each attempt, and told how a file of it is called:
    /// `json`, `txt` or `bin`.
    /// - Returns: nil when it was stopped.
    func write(
        to open: (String) throws(SourceError) -> OutputWriter
    ) throws(SourceError) -> Report? {
        for _ in 0..<ValueStream.attempts {
            guard let entry = try source.entry(key, in: archive) else { throw gone }
            let report: Report?
            if let json = try document(entry) {
                let output = try open("json")
                try output.write(json)
                try output.flush()
                report = Report(bytes: UInt64(json.count), isJSON: true)
            } else {
                report = try copy(entry, to: open)
            }
            guard report != nil, let after = try source.entry(key, in: archive) else {
                if report == nil { return nil }
                throw gone
            }
            if after.sequence == entry.sequence, after.created == entry.created { return report }
        }
        throw SourceError(
            "\(TerminalSafe.quoted(key)) is stored anew all the time; none of \(ValueStream.attempts) attempts read one "
                + "version of it")
    }

    /// The value as JSON, if it is a document that is to be shown as one.
    private func document(_ entry: EntryMetadata) throws(SourceError) -> [UInt8]? {
        guard form == .shown, entry.valueBytes <= ValueContent.decodingLimit,
            let bytes = try source.bytes(key, range: 0..<entry.valueBytes, in: archive)
        else { return nil }
        let value = RecognizedValue(bytes, encoding: entry.encoding)
        guard value.form.isDocument, let json = try? value.json(.pretty) else { return nil }
        return json.last == UInt8(ascii: "\n") ? json : json + [UInt8(ascii: "\n")]
    }

    private func copy(
        _ entry: EntryMetadata, to open: (String) throws(SourceError) -> OutputWriter
    ) throws(SourceError) -> Report? {
        var output: OutputWriter?
        var offset = 0
        repeat {
            let end = min(entry.valueBytes, offset + ValueStream.window)
            guard let bytes = try source.bytes(key, range: offset..<end, in: archive) else { throw gone }
            // Cut off: another value is there by now, which the look at the entry finds out.
            guard bytes.count == end - offset else { break }
            if output == nil { output = try open(ending(of: bytes, entry)) }
            try output?.write(bytes)
            offset = end
            guard progress(Double(offset) / Double(max(1, entry.valueBytes))) else { return nil }
        } while offset < entry.valueBytes
        try output?.flush()
        return Report(bytes: UInt64(offset), isJSON: false)
    }

    private func ending(of head: [UInt8], _ entry: EntryMetadata) -> String {
        let content = ValueContent(head, total: entry.valueBytes, encoding: entry.encoding)
        if content.name == "JSON" { return "json" }
        return MessageText.text(head, isCut: head.count < entry.valueBytes) == nil || head.contains(0)
            ? "bin" : "txt"
    }

    private var gone: SourceError {
        SourceError(
            "\(TerminalSafe.quoted(key)) can't be read any more: it was evicted or removed, or is in the memory of a "
                + "process only")
    }
}
