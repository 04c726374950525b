import ArchiveQuery
import StorageEngine

/// Facts of a listing's keys in little memory, with the time of the read that added them.
package struct CachedFacts: Sendable {
    private struct Row {
        let size: UInt64
        let used: Timestamp
        let expires: Timestamp?
        // The smallest fields are last, to minimize padding.
        let hits: UInt8
        let type: UInt8
        let read: UInt16
    }

    private var rows: [Row?] = []
    private var types: [(type: String, layout: String?, unknown: Set<QueryMetadata>)] = []
    /// The end of each read, by its number.
    private var ends: [Timestamp] = []
    private(set) var total: UInt64 = 0
    /// The first number of a key without facts.
    private(set) var firstUnknown = 0

    /// Seconds after the end of a read for which its facts are valid.
    private static let fresh = 10.0

    package init() {}

    func knows(_ index: Int) -> Bool { index < rows.count && rows[index] != nil }

    package mutating func note(_ facts: KeyMetadata?, at index: Int, now: Timestamp) {
        let type = (facts?.type ?? "", facts?.layout, facts?.unknown ?? [])
        let known = types.firstIndex { $0 == type }
        if known == nil, types.count <= UInt8.max { types.append(type) }
        let size = UInt64(clamping: facts?.memory ?? 0)
        if index >= rows.count { rows += repeatElement(nil, count: index + 1 - rows.count) }
        total = total - (rows[index]?.size ?? 0) + size
        rows[index] = Row(
            size: size, used: facts?.used ?? now,
            expires: facts?.expires, hits: facts?.frequency ?? 0,
            type: UInt8(clamping: known ?? types.count - 1), read: UInt16(clamping: ends.count))
        while knows(firstUnknown) { firstUnknown += 1 }
    }

    package mutating func endRead(at now: Timestamp) { if ends.count <= UInt16.max { ends.append(now) } }

    /// Whether facts are valid: until ten seconds after the end of the read that added them.
    package func isFresh(_ index: Int, at now: Timestamp) -> Bool {
        guard knows(index), let row = rows[index] else { return false }
        return Int(row.read) >= ends.count || now.seconds(since: ends[Int(row.read)]) < CachedFacts.fresh
    }

    func facts(at index: Int) -> KeyMetadata? {
        guard knows(index), let row = rows[index] else { return nil }
        let type = types[Int(row.type)]
        return KeyMetadata(
            type: type.type, layout: type.layout, memory: Int(row.size), expires: row.expires,
            used: row.used, frequency: row.hits, unknown: type.unknown)
    }
}
