import Foundation

/// Records in a ``StateFile``: a JSON object a line, the latest last. Safe from any thread; keeps what others add.
package struct StateRecords<Record: Codable & Sendable>: Sendable {
    private let file: StateFile
    private let most: Int
    /// Whether the oldest go where there are more.
    private let forgets: Bool

    /// A longer file isn't read: something else has written to it.
    private static var mostBytes: Int { 4 << 20 }

    package init(path: String, most: Int, forgets: Bool = true) {
        (file, self.most, self.forgets) = (StateFile(path: path), most, forgets)
    }

    package var path: String { file.path }

    /// The latest last; none where there is no file. Lines that are something else are passed over; objects among them stay in
    /// the file, and all of them where nothing is to be forgotten: a person may have made a mistake in one.
    package func read() throws(SourceError) -> [Record] {
        try lines().records.suffix(most)
    }

    private func lines() throws(SourceError) -> (records: [Record], others: [Data]) {
        let decoder = JSONDecoder()
        var records: [Record] = []
        var others: [Data] = []
        for line in try file.read(limit: Self.mostBytes).split(separator: UInt8(ascii: "\n")) {
            if let record = try? decoder.decode(Record.self, from: line) {
                records.append(record)
            } else if !forgets || (try? JSONSerialization.jsonObject(with: line)) is [String: Any] {
                others.append(line)
            }
        }
        return (records, others)
    }

    /// Changes the records that are there by then; the oldest beyond the most that are kept go, unless none may.
    /// - Throws: also where the latest is too long, or there are too many; nothing has changed then.
    package func change(_ body: (inout [Record]) -> Void) throws(SourceError) {
        try file.alone { () throws(SourceError) in try changeAlone(body) }
    }

    private func changeAlone(_ body: (inout [Record]) -> Void) throws(SourceError) {
        var (records, others) = try lines()
        let count = records.count
        body(&records)
        guard forgets || records.count <= max(most, count) else {
            throw SourceError("\(path) has \(most) already; delete one")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let kept = (forgets ? records.suffix(most) : records[...]).compactMap { try? encoder.encode($0) }
        var bytes = Data()
        for (number, line) in (others + kept).enumerated().reversed() {
            // What couldn't be read again isn't written.
            guard bytes.count + line.count < Self.mostBytes else {
                guard forgets, number < others.count + kept.count - 1 else {
                    throw SourceError("there is no room for it in \(path)")
                }
                break
            }
            bytes = line + [UInt8(ascii: "\n")] + bytes
        }
        try file.write(bytes)
    }
}
