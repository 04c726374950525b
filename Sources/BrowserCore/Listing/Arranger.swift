import StorageEngine
import StoreInspection

/// Thrown through a job that a person stopped.
struct Stopped: Error {}

/// Makes arrangements. Stateless; safe to call from any thread.
package struct Arranger {
    private let source: any StoreSource
    private let clock: @Sendable () -> Timestamp
    private let progress: (Double) -> Bool

    /// - Parameter progress: hears the share done, 0 to 1, now and then, and says whether to go on.
    package init(
        source: any StoreSource, clock: @escaping @Sendable () -> Timestamp,
        progress: @escaping (Double) -> Bool = { _ in true }
    ) {
        self.source = source
        self.clock = clock
        self.progress = progress
    }

    private func checkpoint(_ share: Double) throws(Stopped) {
        if !progress(share) { throw Stopped() }
    }

    /// - Returns: nil when it was stopped.
    package func arrange(_ request: ArrangementRequest) throws(SourceError) -> Arranged? {
        let start = clock()
        let listing: any EntryListing
        if let base = request.base {
            listing = base.listing
        } else {
            listing = try source.listing(in: request.archive)
        }
        let limit = request.base == nil ? try diskLimit(request) : nil
        do throws(Stopped) {
            let arrangement = try arrange(listing, request, limit: limit, made: request.base?.made ?? start)
            let row = find(request.anchor, near: request.anchorRow, in: arrangement)
            let range = view(of: arrangement, around: row, request)
            let present = PresentRows(of: arrangement, in: range)
            return Arranged(
                arrangement: present.arrangement, anchorRow: row.map(present.row),
                rows: present.rows, vanished: vanished(request, beside: present.rows.entries),
                cost: max(0, clock().seconds(since: start)))
        } catch {
            return nil
        }
    }

    /// The keys that were in view and are gone; one that can't be asked about counts as there.
    private func vanished(_ request: ArrangementRequest, beside entries: [Int: EntryMetadata]) -> Set<String>
    {
        guard !request.shown.isEmpty else { return [] }
        let present = Set(entries.values.map(\.key))
        return Set(
            request.shown.filter { key in
                guard !present.contains(key) else { return false }
                let entry = try? source.entry(key, in: request.archive)
                return entry == .some(nil)
            })
    }

    private func diskLimit(_ request: ArrangementRequest) throws(SourceError) -> UInt64? {
        let figures = try source.figures(store: request.archive.store)
        let archive = figures.archives.first { $0.name == request.archive.name }
        return archive?.kind == .cache ? archive?.diskLimit : nil
    }

    private func arrange(
        _ listing: any EntryListing, _ request: ArrangementRequest, limit: UInt64?, made: Timestamp
    ) throws(Stopped) -> Arrangement {
        let pattern = KeyPattern(request.filter)
        var keys = request.base?.keys
        let needsKeys = pattern != nil || request.order.column == .key || request.group?.isOfKey == true
        if needsKeys, keys == nil {
            keys = try KeyIndex(listing) { index throws(Stopped) in
                try checkpoint(0.5 * Double(index) / Double(max(1, listing.count)))
            }
        }
        var sorted: Positions
        if let base = request.base, base.order == request.order {
            sorted = base.sorted
        } else {
            sorted = try EntrySorter(listing: listing, keys: keys) { share throws(Stopped) in
                try checkpoint(0.5 + 0.4 * share)
            }.positions(request.order)
        }
        let members = try members(of: request, sorted, listing, keys)
        var rows = members
        if let pattern, let keys {
            let candidates = narrowed(request) ?? members
            rows = .some(
                try keys.matches(pattern, among: candidates) { row throws(Stopped) in
                    try checkpoint(0.9 + 0.1 * Double(row) / Double(max(1, candidates.count)))
                })
        }
        var bytes = listing.valueBytes
        if pattern != nil || request.group != nil {
            bytes = 0
            for row in 0..<rows.count {
                bytes += UInt64(listing.figures(at: rows.index(atRow: row)).size)
            }
        }
        return Arrangement(
            listing: listing, order: request.order, filter: request.filter, group: request.group,
            sorted: sorted, members: members, rows: rows,
            rowBytes: bytes, keys: keys, victims: request.base?.victims ?? victims(listing, limit: limit),
            made: made)
    }

    /// The rows of the group that is asked for.
    private func members(
        of request: ArrangementRequest, _ sorted: Positions, _ listing: any EntryListing, _ keys: KeyIndex?
    ) throws(Stopped) -> Positions {
        guard let group = request.group else { return sorted }
        if let base = request.base, base.order == request.order, base.group == group { return base.members }
        var members: [Int32] = []
        for row in 0..<sorted.count {
            if row % 4096 == 0 { try checkpoint(0.9) }
            let index = sorted.index(atRow: row)
            let isMember =
                if group.isOfKey, let keys { group.matches(keys.key(at: index)) } else {
                    ((try? listing.entry(at: index)) ?? nil).map { group.matches($0) } ?? false
                }
            if isMember { members.append(Int32(index)) }
        }
        return .some(members)
    }

    /// The rows of a filter that this one makes narrower: what doesn't hold `jak` doesn't hold `jaka`.
    private func narrowed(_ request: ArrangementRequest) -> Positions? {
        guard let base = request.base, base.order == request.order, base.group == request.group,
            !base.filter.isEmpty,
            request.filter.hasPrefix(base.filter)
        else { return nil }
        return base.rows
    }

    /// The entries at the old end that go when 1 % of the limit, or one average entry if that is more, is stored.
    private func victims(_ listing: any EntryListing, limit: UInt64?) -> Range<Int> {
        let count = listing.count
        guard let limit, count > 0 else { return count..<count }
        let average = Double(listing.valueBytes) / Double(count)
        var excess = Double(listing.valueBytes) + max(Double(limit) / 100, average) - Double(limit)
        var first = count
        while excess > 0, first > 0, count - first < 10_000 {
            first -= 1
            excess -= Double(listing.figures(at: first).size)
        }
        return first..<count
    }

    /// Entries that are looked at one by one when the listing can't tell where a key is.
    private static let searched = 50_000
    /// Of a longer list, how many of the most recent, and how many rows on either side of the old place.
    private static let searchedRecent = 5_000
    private static let searchedNearby = 1_000

    /// The row of a key. A listing can't tell when the entry was used after the list was made; such an entry is
    /// used often, so it is among the most recent.
    private func find(_ key: String?, near old: Int, in arrangement: Arrangement) -> Int? {
        guard let key else { return nil }
        let rows = arrangement.rows
        let listing = arrangement.listing
        if let index = listing.index(ofKey: key) { return rows.row(ofIndex: index) }
        let recent = listing.count <= Arranger.searched ? listing.count : Arranger.searchedRecent
        if let index = (0..<recent).first(where: { (try? listing.key(at: $0)) == key }) {
            return rows.row(ofIndex: index)
        }
        guard recent < listing.count else { return nil }
        let middle = min(max(0, old), rows.count)
        let nearby =
            max(0, middle - Arranger.searchedNearby)..<min(rows.count, middle + Arranger.searchedNearby)
        return nearby.first { (try? listing.key(at: rows.index(atRow: $0))) == key }
    }

    /// The rows that will be in view when the anchor keeps its place on the screen.
    private func view(
        of arrangement: Arrangement, around anchor: Int?, _ request: ArrangementRequest
    ) -> Range<Int> {
        let row = min(anchor ?? request.anchorRow, max(0, arrangement.count - 1))
        let top = max(0, min(row - request.anchorOffset, arrangement.count - request.visible))
        return top..<min(arrangement.count, top + request.visible)
    }
}
