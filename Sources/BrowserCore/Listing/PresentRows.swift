import ArchiveQuery
import StorageEngine
import StoreInspection

/// Reads rows of a listing; rows of entries that were removed since are replaced by the next ones.
struct PresentRows: Sendable {
    /// Maximum number of rows read to replace removed ones.
    private static let most = 20_000

    private(set) var arrangement: Arrangement
    private(set) var rows = ListedRows()
    private var removed: [Int] = []

    /// - Parameters:
    ///   - properties: properties in columns.
    ///   - now: the time that ages are relative to.
    ///   - seen: rows that were on screen; if removed, they stay and are reported as vanished.
    init(
        of arrangement: Arrangement, in range: Range<Int>, showing properties: [QueryProperty] = [],
        now: Timestamp, seen: [Int: EntryMetadata] = [:]
    ) {
        self.arrangement = arrangement
        find(range.clamped(to: 0..<arrangement.count), seen)
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
            // After a refusal each row is read alone and reports its problem; without an answer each would wait.
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
        guard !removed.isEmpty else { return }
        replaceGone(range)
    }

    private mutating func look(_ row: Int) -> Bool {
        do throws(SourceError) {
            rows.entries[row] = try arrangement.listing.entry(at: arrangement.rows.index(atRow: row))
            if rows.entries[row] == nil { removed.append(row) }
            return rows.entries[row] != nil
        } catch {
            rows.problems[row] = error.description
            return true
        }
    }

    private mutating func replaceGone(_ range: Range<Int>) {
        var (first, last) = (range.lowerBound, range.upperBound)
        var missing = removed.count
        while missing > 0, last < arrangement.count, last - range.upperBound < PresentRows.most {
            if look(last) { missing -= 1 }
            last += 1
        }
        while missing > 0, first > 0, range.lowerBound - first < PresentRows.most {
            first -= 1
            if look(first) { missing -= 1 }
        }
        removed.sort()
        arrangement = arrangement.without(removed)
        let old = rows
        rows = ListedRows(range: row(first)..<row(last), vanished: old.vanished)
        for (old, entry) in old.entries { rows.entries[row(old)] = entry }
        for (old, problem) in old.problems { rows.problems[row(old)] = problem }
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
