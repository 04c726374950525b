import StorageEngine

/// A row in a temporary file, with the number that breaks ties.
struct RowRecord {
    var tie: UInt64
    var row: KeptRow

    var encoded: [UInt8] {
        var (coder, record) = (RecordCoder(), self)
        record.code(&coder)
        return coder.bytes
    }

    fileprivate mutating func code(_ coder: inout RecordCoder) {
        coder.code(trivial: &tie)
        coder.code(trivial: &row.hasColumns)
        coder.code(trivial: &row.isDamageNoted)
        coder.code(&row.document)
        var hasFacts = row.facts != nil
        coder.code(trivial: &hasFacts)
        guard hasFacts else { return }
        var facts = row.facts ?? .empty
        coder.code(&facts)
        row.facts = facts
    }
}

extension RowRecord {
    init(_ bytes: [UInt8]) {
        self.init(tie: 0, row: KeptRow(facts: nil, document: nil, hasColumns: false))
        var coder = RecordCoder(bytes: bytes, place: 0)
        code(&coder)
    }
}

extension EntryFacts {
    fileprivate static let empty = EntryFacts(
        key: "", valueBytes: 0, created: Timestamp(microseconds: 0), accessed: Timestamp(microseconds: 0),
        hits: 0, tier: .disk, recency: 0, encoding: .unknown, sequence: 0)
}

/// Writes the properties of a record, or reads them in this process in the same order.
private struct RecordCoder {
    var bytes: [UInt8] = []
    /// The offset of the next property to read; nil to write.
    var place: Int?

    /// For a type without references, in its form in memory.
    mutating func code<Value>(trivial value: inout Value) {
        withUnsafeMutableBytes(of: &value) { memory in
            guard let start = place else { return bytes.append(contentsOf: memory) }
            memory.copyBytes(from: bytes[start..<start + memory.count])
            place = start + memory.count
        }
    }

    mutating func code(_ content: inout [UInt8]?) {
        var count = content?.count ?? -1
        code(trivial: &count)
        guard let start = place else { return bytes.append(contentsOf: content ?? []) }
        content = count < 0 ? nil : Array(bytes[start..<start + count])
        place = start + max(0, count)
    }

    private mutating func code(_ text: inout String?) {
        var content = text.map { Array($0.utf8) }
        code(&content)
        if place != nil { text = content.map { String(decoding: $0, as: UTF8.self) } }
    }

    mutating func code(_ facts: inout EntryFacts) {
        var key: String? = facts.key
        code(&key)
        facts.key = key ?? ""
        code(trivial: &facts.valueBytes)
        code(trivial: &facts.created)
        code(trivial: &facts.accessed)
        code(trivial: &facts.expires)
        code(trivial: &facts.hits)
        code(trivial: &facts.tier)
        code(&facts.owner)
        code(trivial: &facts.rank)
        code(trivial: &facts.recency)
        code(trivial: &facts.encoding)
        code(trivial: &facts.sequence)
        code(&facts.type)
        code(&facts.layout)
        var unknown: String? = facts.unknown.map(\.rawValue).joined(separator: " ")
        code(&unknown)
        let names = unknown?.split(separator: " ") ?? []
        facts.unknown = Set(names.compactMap { QueryMetadata(rawValue: String($0)) })
    }
}
