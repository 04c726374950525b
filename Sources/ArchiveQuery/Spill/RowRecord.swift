import StorageEngine

/// A row in a temporary file, with the number that breaks ties.
struct RowRecord {
    var tie: UInt64
    var row: KeptRow

    var encoded: [UInt8] {
        var writer = RecordWriter()
        writer.write(tie)
        writer.write(row.hasColumns)
        writer.write(row.document)
        writer.write(row.facts != nil)
        if let facts = row.facts { writer.write(facts) }
        return writer.bytes
    }

    init(tie: UInt64, row: KeptRow) {
        self.tie = tie
        self.row = row
    }

    init(_ bytes: [UInt8]) {
        var reader = RecordReader(bytes: bytes)
        tie = reader.number()
        let hasColumns = reader.flag()
        let document = reader.bytesIfThere()
        let facts = reader.flag() ? reader.facts() : nil
        row = KeptRow(facts: facts, document: document, hasColumns: hasColumns)
    }
}

private struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func write(_ content: [UInt8]?) {
        write(content != nil)
        guard let content else { return }
        write(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func write(_ facts: EntryFacts) {
        write(Array(facts.key.utf8))
        write(UInt64(facts.valueBytes))
        for time in [facts.created, facts.accessed] { write(UInt64(bitPattern: time.microseconds)) }
        write(facts.expires != nil)
        write(UInt64(bitPattern: facts.expires?.microseconds ?? 0))
        write(UInt64(facts.hits))
        write(Array(facts.tier.rawValue.utf8))
        write(facts.owner.map { Array($0.utf8) })
        write(UInt64(facts.rank ?? 0))
        write(facts.recency)
        bytes.append(facts.encoding.rawValue)
        write(facts.sequence)
        for name in [facts.type, facts.layout] { write(name.map { Array($0.utf8) }) }
    }
}

/// Reads records of ``RecordWriter`` in this process.
private struct RecordReader {
    let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func number() -> UInt64 {
        defer { place += 8 }
        return bytes.withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        }
    }

    mutating func byte() -> UInt8 {
        defer { place += 1 }
        return bytes[place]
    }

    mutating func flag() -> Bool { byte() != 0 }

    mutating func bytesIfThere() -> [UInt8]? {
        guard flag() else { return nil }
        let count = Int(number())
        defer { place += count }
        return Array(bytes[place..<place + count])
    }

    private mutating func text() -> String? { bytesIfThere().map { String(decoding: $0, as: UTF8.self) } }

    private mutating func time() -> Timestamp { Timestamp(microseconds: Int64(bitPattern: number())) }

    mutating func facts() -> EntryFacts {
        let key = text() ?? ""
        let valueBytes = Int(number())
        let (created, accessed) = (time(), time())
        let hasDeadline = flag()
        let deadline = time()
        let hits = UInt32(number())
        let tier = text().flatMap(Tier.init(rawValue:)) ?? .disk
        let owner = text()
        let rank = Int(number())
        let recency = number()
        let encoding = ValueEncoding(rawValue: byte()) ?? .unknown
        return EntryFacts(
            key: key, valueBytes: valueBytes, created: created, accessed: accessed,
            expires: hasDeadline ? deadline : nil, hits: hits, tier: tier, owner: owner,
            rank: rank == 0 ? nil : rank, recency: recency, encoding: encoding, sequence: number(),
            type: text(), layout: text())
    }
}
