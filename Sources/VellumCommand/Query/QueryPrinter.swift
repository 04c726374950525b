import ArchiveQuery
import CBOR
import StorageEngine

/// Prints the rows of a query as they come. For one thread.
protocol QueryPrinter {
    mutating func print(_ row: QueryRow) throws
    mutating func finish() throws
}

/// A JSON object a line: `{"key":…,"value":…}`, or the columns by their names.
struct QueryLines: QueryPrinter {
    private let columns: [String]?
    private let output: OutputWriter

    init(_ plan: QueryPlan, _ output: OutputWriter) {
        columns = plan.columns
        self.output = output
    }

    func print(_ row: QueryRow) throws {
        var members: [(name: String, value: [UInt8]?)] = []
        if let columns {
            members = zip(columns, row.columns).map { ($0, $1) }
        } else {
            var key = CBORWriter()
            key.write(row.entry?.key ?? "")
            members = [("key", key.bytes), ("value", row.value)]
        }
        var line = Array("{".utf8)
        for (index, member) in members.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            JSONText.append(member.name, to: &line)
            line.append(UInt8(ascii: ":"))
            line.append(contentsOf: QueryCell.json(member.value).utf8)
        }
        line.append(contentsOf: "}\n".utf8)
        try TerminalSafe.write(line, to: output)
    }

    func finish() throws { try output.flush() }
}

/// Stateless. Parts of rows as they are printed.
enum QueryCell {
    /// What the column of an entry's key is called.
    static let keyName = "key"

    /// One CBOR item as an object; nil if it is something else or can't be read.
    static func object(_ item: [UInt8]?) -> CBORMap? {
        guard let item, case .map(let map)? = try? CBORReader.decode(item) else { return nil }
        return map
    }

    /// One CBOR item as JSON on one line; null for what is absent or can't be read.
    static func json(_ item: [UInt8]?) -> String {
        item.flatMap { try? JSONPrinter.text(of: $0) } ?? "null"
    }

    /// The item as a cell of a table: a text as it is, all else as JSON.
    static func cell(_ item: [UInt8]?) -> Cell {
        guard let item, let first = item.first else { return .absent }
        if isText(item) {
            guard case .text(let text)? = try? CBORReader.decode(item) else { return .absent }
            return .text(text)
        }
        guard let json = try? JSONPrinter.text(of: item) else { return .absent }
        // By the first byte (RFC 8949, 3): integers, null and undefined, floats.
        switch first {
        case 0x00..<0x40, 0xf9...0xfb: return .number(json)
        case 0xf6, 0xf7: return .absent
        default: return .text(json)
        }
    }

    /// Whether an item is a text, by its first byte.
    static func isText(_ item: [UInt8]) -> Bool { item.first.map { $0 >> 5 == 3 } ?? false }
}

/// The names of all properties that some objects have, in the order in which they come.
struct ColumnNames {
    private(set) var all: [String] = []
    private var places: [ExactText: Int] = [:]

    mutating func add(_ object: CBORMap?) {
        for entry in object ?? CBORMap() {
            guard case .text(let name) = entry.key, places[ExactText(name)] == nil else { continue }
            places[ExactText(name)] = all.count
            all.append(name)
        }
    }

    /// What an object has under each of them; of two properties of one name the first.
    func row(of object: CBORMap?) -> [CBORValue?] {
        var row = [CBORValue?](repeating: nil, count: all.count)
        for entry in object ?? CBORMap() {
            guard case .text(let name) = entry.key, let place = places[ExactText(name)] else { continue }
            row[place] = row[place] ?? entry.value
        }
        return row
    }
}
