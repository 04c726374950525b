struct KeySearch {
    private let query: KeyQuery
    private let prefix: [UInt8]
    private let owner: [UInt8]?
    private let limit: Int
    private var found: [[UInt8]] = []
    /// Keys that are not below this bound are no longer needed.
    private var bound: [UInt8]?
    private var page = KeyPage(keys: [], hasMore: false, unreadable: 0)

    init(_ query: KeyQuery) {
        self.query = query
        prefix = Array(query.prefix.utf8)
        owner = query.owner.map { Array($0.utf8) }
        limit = max(0, query.limit ?? .max)
    }

    mutating func search(_ engine: ArchiveEngine) throws(StorageError) -> KeyPage {
        let ownerTag = owner.map { owner in owner.withUnsafeBytes { engine.ownerTag($0) } }
        let after = query.order == .key ? query.after.map { Array($0.utf8) } : nil
        let scan = try EntryScan(engine: engine, order: query.order == .key ? .location : .recency)
        while query.order == .key || !page.hasMore, try scan.advance() {
            if let ownerTag, scan.ownerTag != ownerTag { continue }
            let (reading, head) = try scan.readHead()
            if reading == .damaged { page.unreadable += 1 }
            guard let head, head.key.starts(with: prefix) else { continue }
            if let owner, !head.owner.elementsEqual(owner) { continue }
            if let after, !after.lexicographicallyPrecedes(head.key) { continue }
            keep(head.key, mayBeTwice: scan.isInMemoryOnly)
        }
        if query.order == .key { cut() }
        page.keys = found.map { String(decoding: $0, as: UTF8.self) }
        return page
    }

    /// Several processes may hold a memory-only entry of a key; the key is listed only once.
    private mutating func keep(_ key: UnsafeRawBufferPointer, mayBeTwice: Bool) {
        switch query.order {
        case .recency:
            if mayBeTwice, found.contains(where: { $0.elementsEqual(key) }) { return }
            if found.count < limit { found.append(Array(key)) } else { page.hasMore = true }
        case .key:
            if let bound, !key.lexicographicallyPrecedes(bound) {
                page.hasMore = true
                return
            }
            found.append(Array(key))
            // Sorts and truncates the list from time to time, so that it has no more keys than needed.
            if limit < .max / 4, found.count >= 2 * limit + 64 { cut() }
        }
    }

    private mutating func cut() {
        found.sort { $0.lexicographicallyPrecedes($1) }
        var previous: [UInt8]?
        found.removeAll { key in
            defer { previous = key }
            return key == previous
        }
        guard found.count > limit else { return }
        page.hasMore = true
        found.removeLast(found.count - limit)
        bound = found.last ?? []
    }
}

extension OwnerSummary {
    static func all(in engine: ArchiveEngine) throws(StorageError) -> [OwnerSummary] {
        var summaries: [[UInt8]: OwnerSummary] = [:]
        var names: [UInt32: [UInt8]] = [0: []]
        var damaged: [UInt32: OwnerSummary] = [:]
        func add(_ scan: EntryScan, to summary: inout OwnerSummary) {
            summary.entries += 1
            summary.bytes += UInt64(scan.valueBytes)
            summary.hits += UInt64(scan.hits)
        }
        let none = OwnerSummary(owner: nil, entries: 0, bytes: 0, hits: 0)
        let scan = try EntryScan(engine: engine, order: .location)
        while try scan.advance() {
            let tag = scan.ownerTag
            if tag == 0 {
                add(scan, to: &summaries[[], default: none])
                continue
            }
            let (reading, head) = try scan.readHead()
            if let head {
                let name = Array(head.owner)
                names[tag] = name
                add(scan, to: &summaries[name, default: none])
            } else if reading == .damaged {
                add(scan, to: &damaged[tag, default: none])
            }
        }
        for (tag, part) in damaged {
            let name = names[tag] ?? []
            summaries[name, default: none].entries += part.entries
            summaries[name]?.bytes += part.bytes
            summaries[name]?.hits += part.hits
            summaries[name]?.unreadable += part.entries
        }
        return summaries.map { name, summary in
            var summary = summary
            summary.owner = name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
            return summary
        }
        .sorted { ($0.bytes, $0.entries, $1.owner ?? "") > ($1.bytes, $1.entries, $0.owner ?? "") }
    }
}
