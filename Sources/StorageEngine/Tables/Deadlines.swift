import CPlatform

/// Lower bounds of entries' expiry times: for each row of 32 entries, each chunk, each 384 chunks, and all (OnDiskFormat, "Bounds
/// of deadlines"). A view of the mapped index. Changes require a write lock guard; reading a bound, one atomic word, needs no
/// lock.
///
/// Invariant: no bound is later than the earliest expiry time of a visible entry in its range (0: none expires). It is lowered
/// before an entry gets its expiry time, and corrected by searches after it has passed, so they read only rows with expired
/// entries.
struct Deadlines<Right> {
    private let index: MappedIndex<Right>

    fileprivate init(_ index: MappedIndex<Right>) { self.index = index }

    private func row(_ row: Int, ofChunk chunk: Int) -> UnsafeMutableRawPointer? {
        index.memory.deadlineRows(ofChunk: chunk).map {
            $0 + 8 * min(max(row, 0), IndexLayout.deadlineRows - 1)
        }
    }

    private func whole(_ chunk: Int) -> UnsafeMutableRawPointer? {
        index.memory.deadlineRows(ofChunk: chunk).map { $0 + 8 * IndexLayout.deadlineRows }
    }

    private func group(_ group: Int) -> UnsafeMutableRawPointer { index.memory.deadlineGroup(group) }

    private var all: UnsafeMutableRawPointer { index.memory.field(IndexLayout.nextDeadlineOffset) }

    private func bound(_ place: UnsafeMutableRawPointer) -> Int64 { Int64(bitPattern: cp_relaxed64(place)) }

    private func isDue(_ place: UnsafeMutableRawPointer, _ now: Int64) -> Bool {
        let bound = bound(place)
        return bound != Deadline.never && bound <= now
    }

    private func earlier(_ one: Int64, _ other: Int64) -> Int64 {
        one == Deadline.never ? other : other == Deadline.never ? one : min(one, other)
    }

    /// The bounds of an entry's row, chunk and group of chunks.
    private func places(
        of number: UInt32
    ) -> (UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer)? {
        let place = Int(number) - 1
        let chunk = place / IndexLayout.chunkEntries
        let row = place % IndexLayout.chunkEntries / IndexLayout.entriesInDeadlineRow
        guard let line = self.row(row, ofChunk: chunk), let whole = whole(chunk) else { return nil }
        return (line, whole, group(chunk / IndexLayout.chunksInDeadlineGroup))
    }

    func bounds(_ deadline: Int64, of number: UInt32) -> Bool {
        guard let (row, chunk, group) = places(of: number) else { return false }
        return [row, chunk, group, all].allSatisfy { isDue($0, deadline) }
    }

    private var chunks: Int {
        (Int(index.usedEntries) + IndexLayout.chunkEntries - 1) / IndexLayout.chunkEntries
    }

    private func forEach(_ row: Int, ofChunk chunk: Int, _ body: (UInt32, EntrySlot<Right>) -> Void) {
        let first = chunk * IndexLayout.chunkEntries + row * IndexLayout.entriesInDeadlineRow
        for place in first..<first + IndexLayout.entriesInDeadlineRow {
            let number = UInt32(truncatingIfNeeded: place + 1)
            guard number <= index.usedEntries else { return }
            if let slot = index.entry(number), slot.location != .none, slot.deadline != Deadline.never {
                body(number, slot)
            }
        }
    }

    /// Expired entries that aren't removed yet; totals exclude them. Costs as much as ``due(at:most:rows:)``.
    func overdue(at now: Int64) -> Removal {
        var sum = Removal(entries: 0, bytes: 0)
        guard isDue(all, now) else { return sum }
        for chunk in 0..<chunks where isDue(group(chunk / IndexLayout.chunksInDeadlineGroup), now) {
            guard let whole = whole(chunk), isDue(whole, now) else { continue }
            for row in 0..<IndexLayout.deadlineRows {
                guard let place = self.row(row, ofChunk: chunk), isDue(place, now) else { continue }
                forEach(row, ofChunk: chunk) { number, slot in
                    guard slot.deadline <= now, !index.marks.isHidden(number, slot) else { return }
                    sum += Removal(entries: 1, bytes: UInt64(slot.valueBytes))
                }
            }
        }
        return sum
    }
}

extension Deadlines where Right == Changing {
    private func lower(_ place: UnsafeMutableRawPointer, to deadline: Int64) {
        let known = bound(place)
        if known == Deadline.never || deadline < known { set(place, deadline) }
    }

    private func set(_ place: UnsafeMutableRawPointer, _ bound: Int64) {
        cp_relaxed_store64(place, UInt64(bitPattern: bound))
    }

    /// Called before an entry gets this expiry time.
    func expect(_ deadline: Int64, of number: UInt32) {
        guard let (row, chunk, group) = places(of: number) else { return }
        lower(row, to: deadline)
        lower(chunk, to: deadline)
        lower(group, to: deadline)
        lower(all, to: deadline)
    }

    /// Removes all bounds. The caller calls ``expect(_:of:)`` for entries that expire.
    func clear() {
        for chunk in 0..<chunks {
            guard let rows = index.memory.deadlineRows(ofChunk: chunk) else { break }
            for place in 0...IndexLayout.deadlineRows { set(rows + 8 * place, Deadline.never) }
        }
        for place in 0..<IndexLayout.deadlineGroups { set(group(place), Deadline.never) }
        set(all, Deadline.never)
    }

    /// Expired entries: at most `most`, of about `rows` rows; raises their bounds. Empty with `isDone`: no others have expired.
    func due(at now: Int64, most: Int, rows: Int) -> (numbers: [UInt32], isDone: Bool) {
        var search = DeadlineSearch(now: now, most: most, rows: rows)
        guard isDue(all, now) else { return ([], true) }
        var earliest = Deadline.never
        let groups = (chunks + IndexLayout.chunksInDeadlineGroup - 1) / IndexLayout.chunksInDeadlineGroup
        for place in 0..<groups {
            if isDue(group(place), now) { searchGroup(place, &search) }
            guard !search.isFull else { return (search.found, false) }
            earliest = earlier(earliest, bound(group(place)))
        }
        set(all, earliest)
        return (search.found, search.found.isEmpty)
    }

    private func searchGroup(_ place: Int, _ search: inout DeadlineSearch) {
        let first = place * IndexLayout.chunksInDeadlineGroup
        var earliest = Deadline.never
        for chunk in first..<min(chunks, first + IndexLayout.chunksInDeadlineGroup) {
            guard let whole = whole(chunk) else { break }
            if isDue(whole, search.now) { searchChunk(chunk, whole, &search) }
            guard !search.isFull else { return }
            earliest = earlier(earliest, bound(whole))
        }
        set(group(place), earliest)
    }

    private func searchChunk(_ chunk: Int, _ whole: UnsafeMutableRawPointer, _ search: inout DeadlineSearch) {
        var earliest = Deadline.never
        for row in 0..<IndexLayout.deadlineRows {
            guard let place = self.row(row, ofChunk: chunk) else { break }
            if isDue(place, search.now) { searchRow(row, ofChunk: chunk, place, &search) }
            guard !search.isFull else { return }
            earliest = earlier(earliest, bound(place))
        }
        set(whole, earliest)
    }

    private func searchRow(
        _ row: Int, ofChunk chunk: Int, _ place: UnsafeMutableRawPointer, _ search: inout DeadlineSearch
    ) {
        search.rows -= 1
        var earliest = Deadline.never
        forEach(row, ofChunk: chunk) { number, slot in
            guard !slot.isTombstoned || index.marks.unmarkIfRestored(number, slot) else { return }
            // An expired entry stays in the bound until it is removed, because removing it may fail.
            earliest = earlier(earliest, slot.deadline)
            if slot.deadline <= search.now { search.found.append(number) }
        }
        set(place, earliest)
    }
}

private struct DeadlineSearch {
    let now: Int64
    var most: Int
    var rows: Int
    var found: [UInt32] = []
    var isFull: Bool { found.count >= most || rows <= 0 }
}

extension MappedIndex {
    var deadlines: Deadlines<Right> { Deadlines(self) }
}
