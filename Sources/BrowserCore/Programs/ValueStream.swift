import ArchiveQuery
import CBOR
import StorageEngine
import StoreInspection

/// Copies a value of any size in windows, for a file or a program. Not thread-safe.
struct ValueStream {
    enum Form: Sendable, Hashable {
        /// A document up to ``StoreInspection/ValueContent/decodingLimit`` as indented JSON, other values unchanged.
        case shown
        case stored
    }

    let entry: EntryAddress
    let form: Form
    let source: any StoreSource
    /// Reports the completed share. Returns false if the copy must stop.
    let progress: (Double) -> Bool

    private var key: String { entry.key }
    private var archive: ArchiveAddress { entry.archive }

    static let window = 1 << 20
    /// Attempts for a value that is replaced during the copy.
    private static let attempts = 4

    struct Report: Sendable, Hashable {
        var bytes: UInt64
        var isJSON: Bool
    }

    /// Writes the value to the output of `open`, which is called for each attempt with `json`, `txt` or `bin`.
    /// - Returns: nil if it was stopped.
    func write(to open: (String) throws(SourceError) -> OutputWriter) throws(SourceError) -> Report? {
        for _ in 0..<ValueStream.attempts {
            guard let entry = try source.entry(key, in: archive) else { throw removed }
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
                throw removed
            }
            if after.sequence == entry.sequence, after.created == entry.created { return report }
        }
        throw SourceError(
            "\(TerminalSafe.quoted(key)) was replaced during each of \(ValueStream.attempts) attempts to read it"
        )
    }

    /// The value as JSON if ``form`` requires that and it is a document.
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
            guard let bytes = try source.bytes(key, range: offset..<end, in: archive) else { throw removed }
            // A shorter value replaced it, which the caller detects.
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

    private var removed: SourceError {
        SourceError(
            "\(TerminalSafe.quoted(key)) was evicted or removed, or is only in the memory of a process")
    }
}
