import ArchiveQuery
import StorageEngine
import StoreInspection

/// Reads rows of a listing; rows of entries that were removed since are replaced by the next ones.
struct PresentRows: Sendable {
    /// Maximum number of rows read on either side to replace removed ones, in a store and on a server.
    private static let (maximum, serverMaximum) = (20_000, 512)

    private(set) var arrangement: Arrangement
    /// Whether too many of a server's listed keys were removed to replace them, so that the list should be rebuilt.
    private(set) var isOutdated = false
    private(set) var rows = ListedRows()
    private var removed: [Int] = []

    /// - Parameters:
    ///   - properties: properties in columns.
    ///   - now: the time that ages are relative to.
    ///   - seen: rows that were on screen; if removed, they stay and are reported as vanished.
    ///   - shouldContinue: whether to continue with the replacement of removed rows.
    init(
        of arrangement: Arrangement, in range: Range<Int>, showing properties: [QueryProperty] = [],
        now: Timestamp, seen: [Int: EntryMetadata] = [:], while shouldContinue: () -> Bool = { true }
    ) {
        self.arrangement = arrangement
        let range = range.clamped(to: 0..<arrangement.count)
        find(range, seen)
        if !removed.isEmpty { replaceRemoved(range, while: shouldContinue) }
        show(properties, now: now)
    }

    private mutating func show(_ properties: [QueryProperty], now: Timestamp) {
        (rows.properties, rows.made) = (properties, now)
        guard !properties.isEmpty else { return }
        let probe = ListingProbe(arrangement.listing, properties: properties, now: now)
        for (row, entry) in rows.entries where !rows.vanished.contains(ExactText(entry.key)) {
            rows.cells[row] = probe.cells(properties, at: arrangement.rows.index(atRow: row))
        }
    }

    private mutating func find(_ range: Range<Int>, _ seen: [Int: EntryMetadata]) {
        rows = ListedRows(range: range)
        do throws(SourceError) {
            try arrangement.listing.prepare(range.map { arrangement.rows.index(atRow: $0) })
        } catch {
            // If the source refuses the batch, each row is read separately and reports its problem. If the source doesn't answer,
            // each read would wait.
            if error.refusal == nil {
                for row in range { rows.problems[row] = error.description }
                return
            }
        }
        for row in range {
            guard !look(row), let entry = seen[row] else { continue }
            removed.removeLast()
            rows.entries[row] = entry
            rows.vanished.insert(ExactText(entry.key))
        }
    }

    private mutating func look(_ row: Int) -> Bool {
        read(row)
        if rows.entries[row] != nil || rows.problems[row] != nil { return true }
        removed.append(row)
        return false
    }

    private mutating func read(_ row: Int) {
        let index = arrangement.rows.index(atRow: row)
        do throws(SourceError) {
            rows.entries[row] = try arrangement.listing.entry(at: index)
        } catch {
            rows.problems[row] = error.description
        }
        let unknown = arrangement.listing.unknown(at: index)
        rows.unknown[row] = unknown.isEmpty ? nil : unknown
    }

    private mutating func replaceRemoved(_ range: Range<Int>, while shouldContinue: () -> Bool) {
        let listing = arrangement.listing
        var missing = removed.count
        let last =
            range.upperBound + find(&missing, in: range.upperBound..<arrangement.count, while: shouldContinue)
        let first =
            range.lowerBound - find(&missing, in: (0..<range.lowerBound).reversed(), while: shouldContinue)
        if !listing.isByRecency {
            isOutdated = missing > 0 && (last < arrangement.count || first > 0)
            // The batches replaced the metadata of the first rows.
            try? listing.prepare(rows.entries.keys.map { arrangement.rows.index(atRow: $0) })
        }
        removed.sort()
        arrangement = arrangement.without(removed)
        let old = rows
        rows = ListedRows(range: row(first)..<row(last), vanished: old.vanished)
        for (old, entry) in old.entries { rows.entries[row(old)] = entry }
        for (old, problem) in old.problems { rows.problems[row(old)] = problem }
        for (old, unknown) in old.unknown { rows.unknown[row(old)] = unknown }
        guard isOutdated else { return }
        // The other rows in view would be replaced again at once, through the whole list. Rows without an entry are shown as removed.
        let read = rows.range
        let end = min(arrangement.count, read.upperBound + range.count)
        rows.range = max(0, min(read.lowerBound, end - range.count))..<end
        try? listing.prepare(rows.range.map { arrangement.rows.index(atRow: $0) })
        for row in rows.range where !read.contains(row) { self.read(row) }
    }

    /// Reads rows until `missing` of them are present. Requests those of a server in batches.
    /// - Returns: the number of rows read.
    private mutating func find(
        _ missing: inout Int, in candidates: some Collection<Int>, while shouldContinue: () -> Bool
    ) -> Int {
        let listing = arrangement.listing
        var rest = candidates.prefix(listing.isByRecency ? PresentRows.maximum : PresentRows.serverMaximum)
        var count = 0
        while missing > 0, !rest.isEmpty, shouldContinue() {
            let batch = rest.prefix(max(16, min(64, 2 * missing)))
            rest = rest.dropFirst(batch.count)
            do throws(SourceError) {
                try listing.prepare(batch.map { arrangement.rows.index(atRow: $0) })
            } catch {
                // If the source doesn't answer, each read would wait.
                if error.refusal == nil { break }
            }
            for row in batch where missing > 0 {
                count += 1
                if look(row) { missing -= 1 }
            }
        }
        return count
    }

    /// The new position of a row, or of its successor if it was removed.
    func row(_ old: Int) -> Int { old - removed.partitioningIndex { $0 >= old } }
}

extension Arrangement {
    /// Removes rows, given in ascending order.
    fileprivate func without(_ removed: [Int]) -> Arrangement {
        var left: [Int32] = []
        left.reserveCapacity(count)
        var next = removed[...]
        var bytes: UInt64 = 0
        for row in 0..<count {
            let index = rows.index(atRow: row)
            if next.first == row {
                next.removeFirst()
                bytes += listing.figures(at: index).size
            } else {
                left.append(Int32(index))
            }
        }
        var result = self
        result.rows = .some(left)
        result.rowBytes -= min(bytes, rowBytes)
        result.removed += removed.count
        return result
    }
}
