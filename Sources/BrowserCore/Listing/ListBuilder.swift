import ArchiveQuery
import StorageEngine
import StoreInspection

struct Stopped: Error {}

package struct ListBuilder {
    private let source: any StoreSource
    private let clock: @Sendable () -> Timestamp
    private let progress: (Double) -> Bool

    /// - Parameter progress: receives the completed share; returns false to stop.
    package init(
        source: any StoreSource, clock: @escaping @Sendable () -> Timestamp,
        progress: @escaping (Double) -> Bool = { _ in true }
    ) {
        self.source = source
        self.clock = clock
        // Each part of the work begins at zero, but the reported share only grows.
        var most = 0.0
        self.progress = { share in
            most = max(most, share)
            return progress(most)
        }
    }

    private func checkpoint(_ share: Double) throws(Stopped) {
        if !progress(share) { throw Stopped() }
    }

    /// - Parameter isFirst: arranges a part, to be shown while all are listed: the most recent entries, or those that a scan has found
    ///   so far. If metadata is needed, the part has only entries whose metadata is known.
    /// - Returns: nil if it was stopped.
    package func arrange(
        _ request: ArrangementRequest, isFirst: Bool = false
    ) throws(SourceError) -> Arranged? {
        let start = clock()
        var request = request
        if isFirst { (request.anchor, request.marks, request.shown) = (nil, Marks(), []) }
        if !request.removed.isEmpty { request.base = request.base?.without(request.removed) }
        let found =
            isFirst
            ? try source.recentEntries(request.isGrowing ? 1 : ListBuilder.first, in: request.archive)
            : try listing(for: request)
        guard let listing = found else { return nil }
        let asked =
            (request.condition.map { PipelineStage.find($0.predicate).properties } ?? [])
            + [request.order.property].compactMap { $0 }
        if let reason = try listing.unsupportedReason(for: asked) { throw SourceError(reason) }
        let limit = request.base == nil && !isFirst ? try diskLimit(request) : nil
        let (remembered, columns) = columns(of: request)
        do {
            let isSearched = request.base?.listing.isCut == true && !request.filter.isEmpty
            let made = isSearched ? start : request.base?.made ?? start
            let arrangement = try arrange(listing, request, limit: limit, made: made, isPart: isFirst)
            let row = find(request.anchor, near: request.anchorRow, in: arrangement)
            let range = view(of: arrangement, around: row, request)
            let present = PresentRows(
                of: arrangement, in: range, showing: columns, now: clock(), while: { progress(1) })
            guard progress(1),
                let hidden = present.arrangement.missing(
                    of: request.marks.keys, shown: present.rows.entries.values, { _ in progress(1) })
            else { throw Stopped() }
            let removed = try request.marks.absent(
                from: listing, filter: request.filter, in: request.archive, source
            ) { progress(1) }
            guard let removed else { throw Stopped() }
            return Arranged(
                arrangement: present.arrangement, anchorRow: row.map(present.row),
                rows: present.rows, remembered: remembered,
                vanished: vanished(request, beside: present.rows.entries),
                hiddenMarks: hidden.subtracting(removed).count, removedMarks: removed.count,
                isNew: request.base == nil, isOutdated: present.isOutdated,
                cost: max(0, clock().seconds(since: start)))
        } catch let error as SourceError {
            throw error
        } catch {
            return nil
        }
    }

    /// The requested columns, or those of an earlier session.
    private func columns(
        of request: ArrangementRequest
    ) -> (remembered: Result<ChosenColumns?, SourceError>?, shown: [QueryProperty]) {
        if let columns = request.columns { return (nil, columns) }
        let remembered = Result { () throws(SourceError) in try source.columns(of: request.archive) }
        if case .success(let chosen?) = remembered { return (remembered, chosen.properties) }
        return (remembered, [])
    }

    private func listing(for request: ArrangementRequest) throws(SourceError) -> (any EntryListing)? {
        func shouldContinue(_ found: Int) -> Bool {
            progress(min(0.9, Double(found) / Double(max(1, request.expected))))
        }
        let whole: (any EntryListing)? =
            if let base = request.base { base.listing } else {
                try source.listing(
                    in: request.archive, holding: "",
                    loadsMetadata: request.needsFigures && request.filter.isEmpty, while: shouldContinue)
            }
        guard let whole, whole.isCut, FilterPattern(request.filter)?.isPlain == true else { return whole }
        // The server searches entries that aren't listed.
        return try source.listing(
            in: request.archive, holding: request.filter, loadsMetadata: false, while: shouldContinue)
    }

    /// Number of entries from which the first ones are shown while the rest is listed.
    static let large = 200_000
    static let largeOfServer = 2_000
    private static let first = 2_000

    /// The visible keys that were removed; unreadable ones count as present.
    private func vanished(
        _ request: ArrangementRequest, beside entries: [Int: EntryMetadata]
    ) -> Set<ExactText> {
        guard !request.shown.isEmpty else { return [] }
        let present = Set(entries.values.map { ExactText($0.key) })
        return Set(
            request.shown.map(ExactText.init).filter { key in
                guard !present.contains(key) else { return false }
                return (try? source.contains(key.text, in: request.archive)) == false
            })
    }

    private func diskLimit(_ request: ArrangementRequest) throws(SourceError) -> UInt64? {
        let figures = try source.figures(store: request.archive.store)
        let archive = figures.archives.first { ExactText($0.name) == ExactText(request.archive.name) }
        return archive?.kind == .cache ? archive?.diskLimit : nil
    }

    private func arrange(
        _ listing: any EntryListing, _ request: ArrangementRequest, limit: UInt64?, made: Timestamp,
        isPart: Bool
    ) throws -> Arrangement {
        let pattern = FilterPattern(request.filter)
        let base = request.base
        var work = Work(
            parts: (base?.order == request.order ? 0 : 1)
                + (request.group == nil && request.condition == nil ? 0 : 1) + (pattern == nil ? 0 : 1),
            report: checkpoint)
        var unread = base?.unread ?? Arrangement.Unread()
        var sorted: Positions
        let lacksFigures = request.needsFigures && !listing.knowsFigures
        if let base, base.order == request.order, !lacksFigures {
            sorted = base.sorted
        } else {
            let part = work
            if lacksFigures, !isPart { try loadMetadata(of: listing, pattern, part) }
            var sorter = EntrySorter(listing: read(listing, request), now: clock()) { share throws(Stopped) in
                try part.report(share)
            }
            sorted = try sorter.positions(request.order)
            if !listing.isByRecency, !isPart || lacksFigures {
                let present = (0..<sorted.count).map { Int32(sorted.index(atRow: $0)) }
                    .filter { listing.wasPresent(at: Int($0)) ?? !isPart }
                if present.count < sorted.count { sorted = .some(present) }
            }
            (unread.sorted, unread.remarks) = (sorter.unreadable, sorter.remarks)
            work.endPart()
        }
        let members = try members(of: request, sorted, listing, work, &unread)
        if request.group != nil || request.condition != nil { work.endPart() }
        var rows = members
        if pattern == nil { (unread.filtered, unread.untested) = (0, 0) }
        if let pattern {
            let wider = narrowed(request)
            let candidates = wider ?? members
            let matches = try listing.entries(matching: pattern, among: candidates) {
                share throws(Stopped) in
                try work.report(share)
            }
            rows = .some(matches.found)
            // The rows of the wider filter lack its unreadable and untested entries.
            if wider == nil { (unread.filtered, unread.untested) = (0, 0) }
            unread.filtered += matches.unreadable
            unread.untested += matches.untested
        }
        var bytes = listing.valueBytes
        if listing.knowsFigures, rows.count < listing.count {
            bytes = 0
            for row in 0..<rows.count { bytes += listing.figures(at: rows.index(atRow: row)).size }
        }
        unread.unknown =
            listing.isByRecency || !listing.knowsFigures
            ? 0 : (0..<rows.count).count { !listing.unknown(at: rows.index(atRow: $0)).isEmpty }
        return Arrangement(
            listing: listing, order: request.order, filter: request.filter, group: request.group,
            condition: request.condition, sorted: sorted, members: members, unread: unread, rows: rows,
            rowBytes: bytes, hasBytes: listing.knowsFigures,
            removed: max(0, listing.count - sorted.count - (base?.deleted ?? 0)), deleted: base?.deleted ?? 0,
            victims: base?.victims ?? victims(listing, limit: limit),
            made: made, isPart: isPart)
    }

    /// Requests metadata from a server. Filters the keys first, because the server is asked for each.
    private func loadMetadata(of listing: any EntryListing, _ pattern: FilterPattern?, _ part: Work) throws {
        let all = Positions.all(listing.count)
        let wanted = try pattern.map { pattern in
            try listing.entries(matching: pattern, among: all, checkpoint: part.report).found
        }
        let isKnown = try listing.loadMetadata(of: wanted.map(Positions.some) ?? all) { progress(0.9 * $0) }
        if !isKnown { throw Stopped() }
    }

    private struct Work {
        private let parts: Int
        private let checkpoint: (Double) throws(Stopped) -> Void
        private var done = 0

        init(parts: Int, report: @escaping (Double) throws(Stopped) -> Void) {
            (self.parts, checkpoint) = (max(1, parts), report)
        }

        mutating func endPart() { done += 1 }

        /// - Parameter share: completed share of the current part, 0 to 1.
        func report(_ share: Double) throws(Stopped) {
            try checkpoint((Double(done) + share) / Double(parts))
        }
    }

    private func members(
        of request: ArrangementRequest, _ sorted: Positions, _ listing: any EntryListing, _ work: Work,
        _ unread: inout Arrangement.Unread
    ) throws -> Positions {
        guard request.group != nil || request.condition != nil else {
            (unread.chosen, unread.warnings, unread.undecided) = (0, [], 0)
            return sorted
        }
        if let base = request.base, base.group == request.group, base.condition == request.condition {
            return base.order == request.order ? base.members : reordered(base.members, as: sorted, listing)
        }
        var membership = try EntryMembership(
            of: request.group, meeting: request.condition, in: read(listing, request), now: clock())
        var members: [Int32] = []
        for row in 0..<sorted.count {
            if row % 64 == 0 { try work.report(Double(row) / Double(sorted.count)) }
            listing.prefetch(after: row, of: sorted)
            let index = sorted.index(atRow: row)
            if membership.holds(at: index) { members.append(Int32(index)) }
        }
        unread.chosen = membership.unreadable
        (unread.warnings, unread.undecided) = (membership.warnings, membership.undecided)
        return .some(members)
    }

    private func read(_ listing: any EntryListing, _ request: ArrangementRequest) -> any EntryListing {
        request.allowsAccesses ? listing.allowingAccesses() : listing
    }

    private func reordered(
        _ members: Positions, as sorted: Positions, _ listing: any EntryListing
    ) -> Positions {
        var isMember = [Bool](repeating: false, count: listing.count)
        for row in 0..<members.count { isMember[members.index(atRow: row)] = true }
        return .some(
            (0..<sorted.count).lazy.map { sorted.index(atRow: $0) }.filter { isMember[$0] }.map { Int32($0) })
    }

    /// The rows of the previous filter if the new one extends it. A backslash may begin an escape of a character, so it isn't plain.
    private func narrowed(_ request: ArrangementRequest) -> Positions? {
        guard let base = request.base, base.order == request.order, base.group == request.group,
            base.condition == request.condition, !base.filter.isEmpty,
            request.filter.hasPrefix(base.filter), FilterPattern(request.filter)?.isPlain == true
        else { return nil }
        return base.rows
    }

    /// The entries that are evicted when 1 % of the limit, or one average entry if that is more, is stored.
    private func victims(_ listing: any EntryListing, limit: UInt64?) -> NextEvicted {
        let count = listing.count
        guard let limit, count > 0 else { return NextEvicted([]) }
        let average = Double(listing.valueBytes) / Double(count)
        var excess = Double(listing.valueBytes) + max(Double(limit) / 100, average) - Double(limit)
        var victims: [Int] = []
        let order = listing.evictionOrder.map { Positions.some($0.indices) } ?? .reversed(count)
        while excess > 0, victims.count < min(count, 10_000) {
            victims.append(order.index(atRow: victims.count))
            excess -= Double(listing.figures(at: victims[victims.count - 1]).size)
        }
        return NextEvicted(victims)
    }

    /// Maximum length of a listing without an index of keys that is searched completely.
    private static let searched = 50_000
    /// Numbers of recent entries and of rows on either side of the old row that are searched in longer listings.
    private static let searchedRecent = 5_000
    private static let searchedNearby = 1_000

    /// The row of a key. The index of a listing misses entries accessed after it was made, which are among the most recent.
    private func find(_ key: String?, near old: Int, in arrangement: Arrangement) -> Int? {
        guard let key else { return nil }
        func isMatch(_ index: Int) -> Bool {
            ((try? arrangement.listing.key(at: index)) ?? nil).map(ExactText.init) == ExactText(key)
        }
        let rows = arrangement.rows
        let listing = arrangement.listing
        if let index = listing.index(ofKey: key) { return rows.row(ofIndex: index) }
        let recent = listing.count <= ListBuilder.searched ? listing.count : ListBuilder.searchedRecent
        if let index = (0..<recent).first(where: isMatch) { return rows.row(ofIndex: index) }
        guard recent < listing.count else { return nil }
        let middle = min(max(0, old), rows.count)
        let nearby =
            max(0, middle - ListBuilder.searchedNearby)..<min(rows.count, middle + ListBuilder.searchedNearby)
        return nearby.first { isMatch(rows.index(atRow: $0)) }
    }

    /// The visible rows if the anchor keeps its place on the screen.
    private func view(
        of arrangement: Arrangement, around anchor: Int?, _ request: ArrangementRequest
    ) -> Range<Int> {
        let row = min(anchor ?? request.anchorRow, max(0, arrangement.count - 1))
        let top = max(0, min(row - request.anchorOffset, arrangement.count - request.visible))
        return top..<min(arrangement.count, top + request.visible)
    }
}
