import ArchiveQuery
import CBOR
import StorageEngine

/// Entries in memory, the most recent first.
struct ListSource: QuerySource {
    struct Entry {
        var key: String
        var value: [UInt8]
        var encoding = ValueEncoding.cbor
        var created = Timestamp(microseconds: 0)
        var accessed = Timestamp(microseconds: 0)
        var expires: Timestamp?
        var hits: UInt32 = 0
        var tier = Tier.disk
        var owner: String?
        var isDamaged = false
        var isRemoved = false
    }

    var entries: [Entry]
    /// As servers do.
    var storesNumbersAsText = false

    init(_ entries: [Entry]) { self.entries = entries }

    /// One entry for each JSON text, under the keys "0", "1" and so on.
    init(json texts: [String]) throws {
        entries = try texts.enumerated().map {
            Entry(key: String($0), value: try JSONTranscoder.cbor(from: $1))
        }
    }

    func cursor(in order: QueryScanOrder) -> any QueryCursor {
        // The least recent is first in storage order, so that tests detect a wrong order.
        Cursor(self, order: order == .recency ? Array(entries.indices) : entries.indices.reversed())
    }

    func cursor(forKeys keys: [String]) -> any QueryCursor {
        Cursor(
            self,
            order: entries.indices.filter { place in
                keys.contains { ExactText($0) == ExactText(entries[place].key) }
            })
    }

    final class Cursor: QueryCursor {
        private let entries: [Entry]
        let storesNumbersAsText: Bool
        private let order: [Int]
        private(set) var visited = 0
        private var keys: [UInt8] = []
        private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

        init(_ source: ListSource, order: [Int]) {
            entries = source.entries
            storesNumbersAsText = source.storesNumbersAsText
            self.order = order
        }

        deinit { buffer.deallocate() }

        private var entry: Entry { entries[order[visited - 1]] }
        var count: Int { order.count }
        func advance() -> Bool {
            guard visited < order.count else { return false }
            visited += 1
            return true
        }
        var key: String { entry.key }
        var valueBytes: Int { entry.value.count }
        var created: Timestamp { entry.created }
        var accessed: Timestamp { entry.accessed }
        var expires: Timestamp? { entry.expires }
        var hits: UInt32 { entry.hits }
        var tier: Tier { entry.tier }
        var owner: String? { entry.owner }
        var rank: Int? { order[visited - 1] + 1 }
        var recency: UInt64 { UInt64(entries.count - order[visited - 1]) }
        var encoding: ValueEncoding { entry.encoding }
        var sequence: UInt64 { UInt64(order[visited - 1] + 1) }
        func load() -> QueryCursorReading {
            entry.isRemoved ? .removed : entry.isDamaged ? .damaged : .present
        }

        var keyBytes: UnsafeRawBufferPointer { copy(Array(entry.key.utf8), at: entry.value.count) }
        var valueContent: UnsafeRawBufferPointer? { copy(entry.value, at: 0) }

        /// Key and value in memory that stays until the next entry.
        private func copy(_ bytes: [UInt8], at offset: Int) -> UnsafeRawBufferPointer {
            let needed = entry.value.count + entry.key.utf8.count
            if buffer.count < needed {
                buffer.deallocate()
                buffer = .allocate(byteCount: needed, alignment: 8)
            }
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<offset + bytes.count])
            part.copyBytes(from: bytes)
            return UnsafeRawBufferPointer(part)
        }
    }
}

extension QuerySource {
    /// - Parameter change: changes the options.
    func answer(
        _ query: String, zone: QueryTimeZone = .utc, now: Timestamp = .now(),
        _ change: (inout QueryOptions) -> Void = { _ in }
    ) throws -> (rows: [QueryRow], report: QueryReport) {
        var options = QueryOptions()
        options.timeZone = zone
        options.now = now
        change(&options)
        return try QueryPlan(QueryPipeline(query)).rows(of: self, options: options)
    }

    /// The keys of the rows; `-` for a row of no entry.
    func keys(
        _ query: String, zone: QueryTimeZone = .utc, now: Timestamp = .now(),
        _ change: (inout QueryOptions) -> Void = { _ in }
    ) throws -> [String] {
        try answer(query, zone: zone, now: now, change).rows.map { $0.entry?.key ?? "-" }
    }

    /// The columns of the rows, as JSON.
    func columns(
        _ query: String, zone: QueryTimeZone = .utc, now: Timestamp = .now()
    ) throws -> [[String]] {
        try answer(query, zone: zone, now: now).rows.map { row in
            try row.columns.map { try $0.map { try JSONPrinter.text(of: $0) } ?? "-" }
        }
    }
}
