import ArchiveQuery
import StorageEngine

package enum ValueCell: Sendable, Hashable {
    case value(String, isNumber: Bool)
    case absent
    /// The value is unreadable or only in the memory of another process.
    case unreadable
    /// The user has no right to read it.
    case noAccess
    /// The value is too long to be read for a row.
    case tooLong

    /// Maximum bytes of a value for a row; longer ones aren't read, so that scrolling stays fast.
    package static let longestValue = 1 << 20
    private static let longest = 200

    init(_ item: [UInt8]?) {
        let cell = Cell(item: item)
        self =
            cell.isAbsent
            ? .absent : .value(String(cell.human.prefix(ValueCell.longest)), isNumber: cell.isNumber)
    }
}

/// Reads values of a list and counts unreadable ones.
package final class ListingProbe {
    private let listing: any EntryListing
    private let cursor: ListingCursor
    private let probe: EntryProbe
    private var isCounted = false
    package private(set) var unreadable = 0

    package init(_ listing: any EntryListing, properties: [QueryProperty], now: Timestamp) {
        self.listing = listing
        cursor = ListingCursor(listing)
        probe = EntryProbe(cursor, properties: properties, now: now)
    }

    /// - Throws: if the condition has an invalid pattern.
    package init(
        _ listing: any EntryListing, condition: QueryPredicate, properties: [QueryProperty] = [],
        now: Timestamp
    ) throws(SourceError) {
        self.listing = listing
        cursor = ListingCursor(listing)
        do throws(QueryError) {
            probe = try EntryProbe(cursor, condition: condition, properties: properties, now: now)
        } catch {
            throw SourceError("\(error)")
        }
    }

    package var warnings: [String] { probe.warnings }
    /// Remarks on values whose kind a condition, sort or calculation doesn't expect.
    package var kindRemarks: [String] { probe.kindRemarks }
    /// Number of entries for which the condition could not be evaluated.
    package var undecided: Int { probe.undecided }

    private func move(to index: Int) {
        guard cursor.index != index else { return }
        cursor.move(to: index)
        probe.next()
        isCounted = false
    }

    /// Whether the entry matches; false if it is missing or unreadable.
    package func isMet(at index: Int) -> Bool {
        move(to: index)
        return found(probe.isMet()) ?? false
    }

    package func sortValue(_ number: Int, at index: Int, isDescending: Bool) -> SortValue {
        move(to: index)
        return found(probe.sortValue(number, isDescending: isDescending)) ?? .absent
    }

    /// The group of an entry's property value, equal for equal values; nil if the value is missing or unreadable.
    package func groupKey(_ number: Int, at index: Int) -> GroupKey? {
        move(to: index)
        return found(probe.groupKey(number))
    }

    /// The name on screen of a ``groupKey(_:at:)``.
    package func shown(_ number: Int, at index: Int) -> ValueCell {
        move(to: index)
        return found(probe.encoded(number)).map { ValueCell($0) } ?? .unreadable
    }

    package func cells(_ properties: [QueryProperty], at index: Int) -> [ValueCell] {
        let isLong = Int(listing.figures(at: index).size) > ValueCell.longestValue
        let unknown = listing.unknown(at: index)
        return properties.enumerated().map { number, property in
            if isLong, !property.isMetadata { return .tooLong }
            let isUnknown = unknown.contains {
                $0 == .type && !property.isMetadata || property == .metadata($0)
            }
            return isUnknown ? .noAccess : shown(number, at: index)
        }
    }

    private func found<Found>(_ answer: EntryProbe.Answer<Found>) -> Found? {
        switch answer {
        case .found(let found): return found
        case .removed: return nil
        case .unreadable:
            if !isCounted { unreadable += 1 }
            isCounted = true
            return nil
        }
    }
}
