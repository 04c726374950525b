import StoreInspection

/// The messages of a log, numbered from the first that was ever appended.
struct LogState: Sendable {
    let archive: ArchiveAddress
    /// The existing messages; nil until the archive's figures were read.
    var available: Range<Int>?
    private var moment = LogMoment()
    /// The messages before this number no longer exist, although `available` may list them.
    private var firstExisting = 0
    /// Numbers of damaged messages among those that were read.
    private(set) var damaged: Set<Int> = []
    private var known: (number: Int, line: LogLine)?
    private var sample: ArchiveSample?
    /// Number of messages missing in the archive's counter, which restarts when the index is rebuilt.
    private var uncounted = 0
    private(set) var lines: [Int: LogLine] = [:]
    private(set) var loaded = 0..<0
    var isPending = false
    var cursor = 0
    var top = 0
    /// Columns of the messages that are scrolled out at the left.
    var firstColumn = 0
    var follows = true
    /// The selected message and ``follows`` when the prompt of a filter or search opened. Nil after a cancelled search, and if no
    /// filter prompt is open.
    var searchStart: (number: Int, follows: Bool)?
    var archiveProblem: String?
    var readProblem: String?

    enum Purpose: Sendable, Hashable, CaseIterable { case filter, find }

    var filter = LogSearch()
    var find = LogSearch()
    var typing = Purpose.filter

    init(archive: ArchiveAddress) { self.archive = archive }

    subscript(purpose: Purpose) -> LogSearch {
        get { purpose == .filter ? filter : find }
        set { if purpose == .filter { filter = newValue } else { find = newValue } }
    }

    /// Listed messages that were dropped or deleted since `available` was read.
    var removed: Int {
        max(0, min(firstExisting, available?.upperBound ?? 0) - (available?.lowerBound ?? 0))
    }

    /// The text of a row whose message was requested but not read.
    func absence(of number: Int) -> String {
        damaged.contains(number) ? "damaged" : readProblem == nil ? "removed" : "not read"
    }

    mutating func note(removedBefore number: Int, damaged others: [Int]) {
        firstExisting = max(firstExisting, number)
        damaged.formUnion(others)
    }

    var reader: LogReader {
        LogReader(archive: archive, end: available?.upperBound ?? 0, moment: moment, known: known)
    }

    var count: Int { filter.isActive ? filter.numbers.count : available?.count ?? 0 }

    var row: Int { row(of: cursor) }

    /// The row of a message or of the next one shown.
    func row(of number: Int) -> Int {
        let row = filter.isActive ? filter.count(before: number) : number - (available?.lowerBound ?? 0)
        return max(0, min(row, count - 1))
    }

    /// The message of a row, which must exist.
    func number(at row: Int) -> Int {
        filter.isActive ? filter.numbers[row] : row + (available?.lowerBound ?? 0)
    }

    func line(_ number: Int) -> LogLine? { lines[number] ?? filter.lines[number] }

    mutating func select(_ number: Int, follows: Bool = false) { (cursor, self.follows) = (number, follows) }

    /// Selects the latest match that isn't newer than the search's start, else the latest of all.
    mutating func selectFirstFound() {
        guard typing == .find, let searchStart else { return }
        let index = find.count(before: searchStart.number + 1)
        guard let number = index > 0 ? find.numbers[index - 1] : find.numbers.last else { return }
        select(number)
        find.hasWrapped = index == 0
    }

    mutating func update(_ archive: ArchiveSample) {
        // Unchanged figures may include messages that were dropped since.
        guard archive != sample else { return }
        sample = archive
        archiveProblem = archive.problem
        guard archive.problem == nil else { return }
        let counted = Int(clamping: archive.records)
        // The counters of a recreated archive or a rebuilt index restart.
        let new = LogMoment(
            identity: archive.identity, index: archive.indexSalt, appended: archive.records)
        let isOther = !new.isOfIndex(of: moment)
        if let known = available, isOther || counted + uncounted < known.upperBound {
            forget()
            uncounted = 0
        }
        uncounted = max(uncounted, archive.entries - counted)
        let end = counted + uncounted
        let first = end - archive.entries
        (available, firstExisting) = (first..<end, 0)
        filter.trim(before: first)
        find.trim(before: first)
        if !damaged.isEmpty { damaged = damaged.filter { $0 >= first } }
        moment = new
    }

    var problem: String? { archiveProblem ?? readProblem }

    /// - Parameter isLive: whether the list begins with the oldest readable message.
    mutating func show(_ page: LogPage, isLive: Bool) {
        lines = Dictionary(uniqueKeysWithValues: page.lines.map { ($0.number, $0.line) })
        loaded = page.range
        known = page.lines.first ?? known
        note(removedBefore: page.existing, damaged: page.damaged)
        let readable = [page.lines.first?.number, page.damaged.first].compactMap { $0 }.min()
        if isLive, page.existing > 0, let first = readable, let available {
            self.available = max(first, available.lowerBound)..<max(first, available.upperBound)
            // Otherwise the dropped messages would be requested again at the next update.
            (cursor, top) = (max(first, cursor), max(first, top))
        }
    }

    /// Whether the rows, of which the first was dropped, stay until those of the next state were read.
    func isHeld(until next: LogState) -> Bool {
        lines[top] != nil && !filter.isActive && moment.isOfIndex(of: next.moment)
            && top < next.available?.lowerBound ?? 0
    }

    mutating func forget() {
        lines = [:]
        loaded = 0..<0
        (firstExisting, damaged, known) = (0, [], nil)
        filter.restart()
        find.restart()
    }
}
