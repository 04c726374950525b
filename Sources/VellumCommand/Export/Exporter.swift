import ArchiveQuery
import CBOR
import StorageEngine
import StoreInspection

/// For one thread. Writes the entries of an archive, the least recently used first, so that importing them in that
/// order makes the same order again.
struct Exporter {
    /// What came of an export.
    struct Outcome {
        var exported = 0
        /// Entries that the format can't hold.
        var skipped = 0
        /// Entries that can't be read.
        var damaged = 0
    }

    private let entries: EntryList
    private let output: OutputWriter
    /// Whether each value is wrapped in an object of its key and itself.
    private let wrapsKeys: Bool

    static let keyName = "key"
    static let valueName = "value"

    /// The versions of entries that are written; nil: all there are.
    private let chosen: Set<UInt64>?

    init(
        _ archive: Archive, to output: OutputWriter, wrapsKeys: Bool, only chosen: Set<UInt64>? = nil
    ) throws(StorageError) {
        self.chosen = chosen
        entries = try archive.entries(order: .leastRecentFirst)
        self.output = output
        self.wrapsKeys = wrapsKeys
    }

    /// A JSON value a line.
    func writeLines() throws -> Outcome {
        var outcome = Outcome()
        outcome.damaged = try forEachValue { key, value in
            let json = JSONTree.printed(try value.json(.compact))
            let line =
                wrapsKeys ? .object([(Self.keyName, .text(key)), (Self.valueName, json)]) : json
            try line.writeLine(to: output)
            outcome.exported += 1
        }
        return outcome
    }

    /// One JSON array, an item a line.
    func writeArray() throws -> Outcome {
        var outcome = Outcome()
        try output.write("[")
        outcome.damaged = try forEachValue { key, value in
            try output.write(outcome.exported == 0 ? "\n" : ",\n")
            let json = JSONTree.printed(try value.json(.compact))
            let item = wrapsKeys ? .object([(Self.keyName, .text(key)), (Self.valueName, json)]) : json
            try item.write(to: output)
            outcome.exported += 1
        }
        try output.write(outcome.exported == 0 ? "]\n" : "\n]\n")
        return outcome
    }

    /// A row an object, under the names of all properties that any object has. Reads every value twice.
    func writeTable(_ table: DelimitedText) throws -> Outcome {
        let properties = try allProperties()
        let names = properties.map(\.name)
        let mixed = Set(properties.indices.filter { properties[$0].isMixed })
        if !table.hasQuotes { Self.warn(of: mixed.sorted().map { names[$0] }) }
        var outcome = Outcome()
        guard !names.isEmpty || !entries.isEmpty else { return outcome }
        try TerminalSafe.write(table.header(names), to: output)
        outcome.damaged = try forEachValue { key, value in
            guard let object = try object(key, value), let row = Self.row(of: object, under: names) else {
                Narration.complain(
                    "\(TerminalSafe.quoted(key)) is not an object that a row can hold; left out")
                outcome.skipped += 1
                return
            }
            try TerminalSafe.write(table.row(row.map { $0?.encoded }, mixed: mixed), to: output)
            outcome.exported += 1
        }
        return outcome
    }

    /// A property that some object has.
    private struct Property {
        let name: String
        var hasTexts = false
        /// Numbers, `true`, `false` or `null`.
        var hasOthers = false

        var isMixed: Bool { hasTexts && hasOthers }

        mutating func add(_ value: CBORValue) {
            switch value {
            case .text: hasTexts = true
            case .array, .map: break
            case .unsigned, .negative, .float, .boolean, .null: hasOthers = true
            // What is printed as a text, a number or null.
            default: (hasTexts, hasOthers) = (true, true)
            }
        }
    }

    /// All properties that any object has. A name that is new comes behind the one that it follows in its object, so that
    /// objects that leave out different properties of a common order come back in that order.
    private func allProperties() throws -> [Property] {
        // Linked, for a name may come between two others: each has the place of the one behind it.
        var all: [Property] = []
        var places: [ExactText: Int] = [:]
        var behind: [Int] = []
        var first = -1
        var count = 0
        _ = try forEachValue(isSilent: true) { key, value in
            var previous: Int?
            for entry in try object(key, value) ?? CBORMap() {
                guard case .text(let name) = entry.key else { continue }
                count += 1
                let place = places[ExactText(name)] ?? all.count
                if place == all.count {
                    places[ExactText(name)] = place
                    all.append(Property(name: name))
                    behind.append(previous.map { behind[$0] } ?? first)
                    if let previous { behind[previous] = place } else { first = place }
                }
                all[place].add(entry.value)
                previous = place
            }
        }
        if let objection = DelimitedText.objection(
            rows: entries.count, columns: all.count, properties: count)
        {
            throw CommandFailure(objection, status: .usage)
        }
        return Array(sequence(first: first) { behind[$0] }.prefix { $0 >= 0 }.map { all[$0] })
    }

    private static func warn(of mixed: [String]) {
        guard !mixed.isEmpty else { return }
        let names = mixed.prefix(5).map(TerminalSafe.quoted).joined(separator: ", ")
        let more = mixed.count > 5 ? " and \(Figures.count(mixed.count - 5)) more" : ""
        Narration.complain(
            "TSV has no quotes to tell texts from numbers and words: an import takes all for text in the columns "
                + names + more + ", which hold both; ndjson, json and csv keep them apart")
    }

    /// Returns how many entries can't be read; unless `isSilent`, each whose place is known is reported, and the others
    /// together. What can be read is not lost with them.
    private func forEachValue(
        isSilent: Bool = false, _ body: (String, RecognizedValue) throws -> Void
    ) throws -> Int {
        var damaged = 0
        var missing = 0
        var elsewhere = 0
        for index in entries.indices {
            if Interruption.isRequested { throw CommandFailure("interrupted", status: Interruption.status) }
            if let chosen {
                guard let sequence = try entries.metadata(at: index)?.sequence, chosen.contains(sequence) else {
                    continue
                }
            }
            // It has no value to write; an empty one would take its place when it is read back.
            guard entries[index].tier != .memory else {
                elsewhere += 1
                continue
            }
            let content: (key: String, encoding: ValueEncoding, value: [UInt8])?
            do throws(StorageError) {
                content = try entries.presentContent(at: index)
            } catch {
                guard case .corrupted = error else { throw error }
                if !isSilent { Narration.complain(error.description) }
                damaged += 1
                continue
            }
            guard let content else {
                if try entries.isDamaged(at: index) { missing += 1 }
                continue
            }
            try body(content.key, RecognizedValue(content.value, encoding: content.encoding))
        }
        if !isSilent, elsewhere > 0 {
            let them = Figures.count(elsewhere, "entry is", "entries are")
            Narration.complain("\(them) in the memory of a process only, and left out")
        }
        if !isSilent { Narration.complainOfMissing(missing) }
        return damaged + missing
    }

    private func object(_ key: String, _ value: RecognizedValue) throws -> CBORMap? {
        let value = try CBORReader.decode(value.item)
        if wrapsKeys {
            return CBORMap([
                CBORMap.Entry(key: .text(Self.keyName), value: .text(key)),
                CBORMap.Entry(key: .text(Self.valueName), value: value),
            ])
        }
        guard case .map(let map) = value else { return nil }
        return map
    }

    /// Nil if the object has a property twice, or one whose name isn't text.
    private static func row(of object: CBORMap, under names: [String]) -> [CBORValue?]? {
        var values: [ExactText: CBORValue] = [:]
        for entry in object {
            guard case .text(let name) = entry.key,
                values.updateValue(entry.value, forKey: ExactText(name)) == nil
            else {
                return nil
            }
        }
        return names.map { values[ExactText($0)] }
    }
}
