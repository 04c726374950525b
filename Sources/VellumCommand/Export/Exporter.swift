import ArchiveQuery
import CBOR

/// Writes a snapshot of an archive, least recently used first, so that an import restores the order. For one thread.
struct Exporter {
    struct Outcome {
        var exported = 0
        /// Entries that the format can't represent.
        var skipped = 0
        var damaged = 0
        /// Matching entries that were changed or removed before they could be written.
        var missed = 0
    }

    private let snapshot: ArchiveSnapshot
    /// Entries held only in a process's memory.
    private let memoryOnly: Int
    private let output: OutputWriter
    private let wrapsKeys: Bool

    static let keyName = "key"
    static let valueName = "value"

    /// Sequence numbers of the entries to write; nil: all.
    private let chosen: Set<UInt64>?

    init(
        _ archive: Archive, to output: OutputWriter, wrapsKeys: Bool, only chosen: Set<UInt64>? = nil
    ) throws(StorageError) {
        self.chosen = chosen
        snapshot = try archive.snapshot()
        let entries = try archive.entries()
        memoryOnly = try entries.indices.count { (index) throws(StorageError) in
            guard entries[index].tier == .memory else { return false }
            guard let chosen else { return true }
            return try entries.metadata(at: index).map { chosen.contains($0.sequence) } ?? false
        }
        self.output = output
        self.wrapsKeys = wrapsKeys
    }

    func writeJSON(isArray: Bool) throws -> Outcome {
        var outcome = Outcome()
        var records = JSONRecords(isArray: isArray, output: output)
        (outcome.damaged, outcome.missed) = try forEachValue { key, value in
            try value.withSource { try records.write(json(key, $0)) }
            outcome.exported += 1
            return nil
        }
        try records.finish()
        return outcome
    }

    private func json(_ key: String, _ source: JSONSource) -> JSONTree {
        let json = JSONTree.source(source)
        guard wrapsKeys else { return json }
        return .object([
            (Self.keyName, .cell(Cell(item: CBORValue.text(key).encoded))), (Self.valueName, json),
        ])
    }

    /// Writes a row for each object, with the properties of all objects as columns. Reads every value twice.
    func writeTable(_ text: DelimitedText) throws -> Outcome {
        var columns = PropertyColumns()
        _ = try forEachValue(isSilent: true) { key, value in
            try withFields(key, value) { columns.add($0 ?? ObjectFields()) }
            return nil
        }
        if let reason = DelimitedText.unsupportedReason(rows: snapshot.count, columns) {
            throw CommandFailure(reason, status: .usage)
        }
        let table = columns.table()
        let header = text.header(table.names)
        if !text.hasQuotes { Self.warn(of: table.mixed.sorted().map { table.names[$0] }) }
        var outcome = Outcome()
        guard !table.names.isEmpty || snapshot.count > 0 else { return outcome }
        try TerminalSafe.write(header, to: output)
        (outcome.damaged, outcome.missed) = try forEachValue { key, value in
            let isWritten = try withFields(key, value) { object in
                guard let object, case let row = table.row(of: object), row.isWhole else { return false }
                try text.write(row.cells, mixed: table.mixed, unlike: header, to: output)
                return true
            }
            guard isWritten else {
                outcome.skipped += 1
                return "\(TerminalSafe.quoted(key)) is not an object that a row can hold; left out"
            }
            outcome.exported += 1
            return nil
        }
        return outcome
    }

    private static func warn(of mixed: [String]) {
        guard !mixed.isEmpty else { return }
        let names = mixed.prefix(5).map(TerminalSafe.quoted).joined(separator: ", ")
        let more = mixed.count > 5 ? " and \(Figures.count(mixed.count - 5)) more" : ""
        Console.warn(
            "TSV can't distinguish texts from numbers and words: an import may read all as text in the columns "
                + names + more + ", which have both; ndjson, json and csv distinguish them")
    }

    /// Returns the counts of unreadable entries and of chosen entries that are no longer present or were changed. Continues
    /// after an unreadable entry; reports it unless `isSilent`. `body` returns a text to report about the entry.
    private func forEachValue(
        isSilent: Bool = false, _ body: (String, RecognizedBytes) throws -> String?
    ) throws -> (damaged: Int, missed: Int) {
        var damaged = 0
        var found = 0
        var missing = 0
        var (changed, repeating) = (0, 0)
        // Rows on the same terminal already show progress.
        var progress = output.isTerminal ? nil : ProgressBar()
        defer { progress?.finish() }
        func warn(_ text: String) {
            progress?.finish()
            Console.warn(text)
        }
        for number in (0..<snapshot.count).reversed() {
            if number % 256 == 0 {
                let done = snapshot.count - number
                progress?.update(done: UInt64(done), total: UInt64(snapshot.count), entries: done)
            }
            try Interruption.check()
            let result: Result<Void, any Error>
            do throws(StorageError) {
                result = try snapshot.withEntry(at: number) { key, bytes, encoding, sequence in
                    Result {
                        if let chosen {
                            guard chosen.contains(sequence) else { return }
                            found += 1
                        }
                        let value: RecognizedBytes
                        do throws(TooLongPropertyList) {
                            value = try RecognizedBytes(bytes, encoding: encoding)
                        } catch {
                            if !isSilent { warn("\(TerminalSafe.quoted(key)): \(error); left out") }
                            damaged += 1
                            return
                        }
                        if !isSilent, value.changesInJSON { changed += 1 }
                        if !isSilent, value.repeatsName { repeating += 1 }
                        if let warning = try body(key, value) { warn(warning) }
                    }
                }
            } catch {
                // The condition didn't select the entry, because its value could not be read.
                guard case .corrupted = error else { throw error }
                if chosen != nil { continue }
                // Entries without an intact key are only counted.
                if damaged < Console.mostDamaged, let key = try? snapshot.intactKey(at: number) {
                    if !isSilent {
                        progress?.finish()
                        Console.reportDamage(key)
                    }
                    damaged += 1
                } else {
                    missing += 1
                }
                continue
            }
            try result.get()
        }
        progress?.finish()
        Self.warn(ofChanged: changed, keptBy: "dump and backup preserve")
        Self.warn(ofRepeating: repeating, keptBy: "dump and backup keep")
        if !isSilent, memoryOnly > 0 {
            let them = Figures.count(memoryOnly, "entry is", "entries are")
            Console.warn("\(them) only in a process's memory, and left out")
        }
        if !isSilent { Console.reportMissing(missing) }
        let missed = (chosen?.count ?? 0) - found - (chosen == nil ? 0 : memoryOnly)
        if !isSilent, missed > 0 {
            let them = Figures.count(missed, "matching entry was", "matching entries were")
            Console.warn("\(them) changed or removed during the export, and left out")
        }
        return (damaged + missing, missed)
    }

    /// Warns about values that an import reads differently.
    static func warn(ofChanged count: Int, keptBy keepers: String) {
        guard count > 0 else { return }
        Console.warn(
            "\(Figures.count(count, "value", "values")) with dates, non-finite numbers or plain bytes: an import "
                + "stores numbers, null and CBOR instead, which a typed program may not read; "
                + "\(keepers) them")
    }

    static func warn(ofRepeating count: Int, keptBy keepers: String) {
        guard count > 0 else { return }
        let them = Figures.count(count, "value has", "values have")
        Console.warn("\(them) duplicate names; import skips such records; \(keepers) them")
    }

    /// Bytes of the longest value converted for a table.
    private static let longestConverted = 8 << 20

    /// Calls `body` with the fields of a row; nil for a value that isn't an object.
    private func withFields<Result>(
        _ key: String, _ value: RecognizedBytes, _ body: (ObjectFields?) throws -> Result
    ) throws -> Result {
        guard wrapsKeys || value.form.isDocument else { return try body(nil) }
        let isConverted = value.form != .cbor && value.form != .propertyList
        guard !isConverted || value.bytes.count <= Self.longestConverted else {
            throw CommandFailure(
                "\(TerminalSafe.quoted(key)): a non-CBOR value of \(Figures.bytes(UInt64(value.bytes.count))) is too long "
                    + "for a table; write ndjson or json", status: .storeFailure)
        }
        let converted =
            isConverted ? RecognizedValue(Array(value.bytes), encoding: value.form.encoding).item : []
        return try value.withSource { source in
            try converted.withUnsafeBytes { converted in
                let item = if case .cbor(let item) = source { item } else { converted }
                guard wrapsKeys else { return try body(ObjectFields(item)) }
                return try CBORValue.text(key).encoded.withUnsafeBytes { key in
                    var object = ObjectFields()
                    object.fields = [(Self.keyName, key), (Self.valueName, item)]
                    return try body(object)
                }
            }
        }
    }
}
