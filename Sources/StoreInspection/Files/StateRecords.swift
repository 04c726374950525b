import Foundation

/// Records in a ``StateFile``: one JSON object per line, the latest last. Records of other processes are kept.
package struct StateRecords<Record: Codable & Sendable>: Sendable {
    private let file: StateFile
    private let most: Int
    /// Whether the oldest records beyond the maximum are dropped. Otherwise the maximum is an error.
    private let dropsOldest: Bool

    /// Maximum bytes of the file; longer files aren't read.
    private static var mostBytes: Int { 4 << 20 }

    package init(path: String, most: Int, dropsOldest: Bool = true) {
        (file, self.most, self.dropsOldest) = (StateFile(path: path), most, dropsOldest)
    }

    package var path: String { file.path }

    /// The records, the latest last. Invalid lines are skipped but stay in the file if they are objects or nothing is dropped.
    package func read() throws(SourceError) -> [Record] { try lines().records.suffix(most) }

    private func lines() throws(SourceError) -> (records: [Record], others: [Data]) {
        let decoder = JSONDecoder()
        var records: [Record] = []
        var others: [Data] = []
        for line in try file.read(limit: Self.mostBytes).split(separator: UInt8(ascii: "\n")) {
            if let record = try? decoder.decode(Record.self, from: line) {
                records.append(record)
            } else if !dropsOldest || (try? JSONSerialization.jsonObject(with: line)) is [String: Any] {
                others.append(line)
            }
        }
        return (records, others)
    }

    /// Changes the records under the lock, and drops the oldest beyond the maximum.
    /// - Throws: also if the latest record is too long, or if there are too many; the file is then unchanged.
    package func change(_ body: (inout [Record]) -> Void) throws(SourceError) {
        try file.withLock { () throws(SourceError) in try changeLocked(body) }
    }

    private func changeLocked(_ body: (inout [Record]) -> Void) throws(SourceError) {
        var (records, others) = try lines()
        let count = records.count
        body(&records)
        guard dropsOldest || records.count <= max(most, count) else {
            throw SourceError("\(path) already has \(most) records; delete one")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let kept = (dropsOldest ? records.suffix(most) : records[...]).compactMap { try? encoder.encode($0) }
        var bytes = Data()
        for (number, line) in (others + kept).enumerated().reversed() {
            // A record that can't be read back isn't written.
            guard bytes.count + line.count < Self.mostBytes else {
                guard dropsOldest, number < others.count + kept.count - 1 else {
                    throw SourceError("\(path) has no space for another record")
                }
                break
            }
            bytes = line + [UInt8(ascii: "\n")] + bytes
        }
        try file.write(bytes)
    }
}
