import ArchiveQuery
import StorageEngine

/// What a row shows of a property. A value; safe to share between threads.
package enum ValueCell: Sendable, Hashable {
    case value(String, isNumber: Bool)
    case absent
    /// The value can't be read, or is in the memory of another process only.
    case unreadable
    /// The value is longer than what is read for a row.
    case tooLong

    /// Longer values aren't read for a row, so that scrolling stays quick.
    package static let longestValue = 1 << 20
    /// Characters that are kept.
    private static let longest = 200

    init(_ item: [UInt8]?) {
        let cell = Cell(item: item)
        self =
            cell.isAbsent
            ? .absent : .value(String(cell.human.prefix(ValueCell.longest)), isNumber: cell.isNumber)
    }
}

/// Asks entries of a list what is in their values, and counts those that can't be asked. Not thread-safe.
package final class ListingProbe {
    private let listing: any EntryListing
    private let cursor: ListingCursor
    private let probe: EntryProbe
    private var isCounted = false
    /// How many of the entries that were asked couldn't be read.
    package private(set) var unreadable = 0

    package init(_ listing: any EntryListing, properties: [QueryProperty], now: Timestamp) {
        self.listing = listing
        cursor = ListingCursor(listing)
        probe = EntryProbe(cursor, properties: properties, now: now)
    }

    /// - Throws: where the condition has a pattern that is none.
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

    /// What to know of the condition after it was tested.
    package var warnings: [String] { probe.warnings }
    /// What is known of values of other kinds than a condition, a sort or a calculation is for.
    package var kindRemarks: [String] { probe.kindRemarks }
    /// The number of entries for which the condition was unknown.
    package var undecided: Int { probe.undecided }

    private func move(to index: Int) {
        guard cursor.index != index else { return }
        cursor.move(to: index)
        probe.next()
        isCounted = false
    }

    /// Whether the entry meets the condition; one that is gone or can't be read doesn't.
    package func isMet(at index: Int) -> Bool {
        move(to: index)
        return found(probe.isMet()) ?? false
    }

    /// What an entry is sorted by; the same as absent where it can't be read.
    package func sortValue(_ number: Int, at index: Int, isDescending: Bool) -> SortValue {
        move(to: index)
        return found(probe.sortValue(number, isDescending: isDescending)) ?? .absent
    }

    /// What tells whether two entries have the same of a property; nil where it can't be read or is gone.
    package func groupKey(_ number: Int, at index: Int) -> GroupKey? {
        move(to: index)
        return found(probe.groupKey(number))
    }

    /// How a person calls what ``groupKey(_:at:)`` tells apart.
    package func shown(_ number: Int, at index: Int) -> ValueCell {
        move(to: index)
        return found(probe.encoded(number)).map { ValueCell($0) } ?? .unreadable
    }

    package func cells(_ properties: [QueryProperty], at index: Int) -> [ValueCell] {
        let isLong = Int(listing.figures(at: index).size) > ValueCell.longestValue
        return properties.enumerated().map { number, property in
            if isLong, !property.isMetadata { .tooLong } else { shown(number, at: index) }
        }
    }

    private func found<Found>(_ answer: EntryProbe.Answer<Found>) -> Found? {
        switch answer {
        case .found(let found): return found
        case .gone: return nil
        case .unreadable:
            if !isCounted { unreadable += 1 }
            isCounted = true
            return nil
        }
    }
}

extension QueryProperty {
    fileprivate var isMetadata: Bool { if case .metadata = self { true } else { false } }
}
