import StoreInspection

/// The messages of a log, numbered from the first that was ever appended.
struct LogState: Sendable {
    let archive: ArchiveAddress
    /// The existing messages; nil until the archive's figures were read.
    var available: Range<Int>?
    /// The number of the next event when `available` was read.
    var nextEvent: UInt64 = 0
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
        archiveProblem = archive.problem
        guard archive.problem == nil else { return }
        let counted = Int(clamping: archive.records)
        // The counters of a recreated archive or a rebuilt index restart.
        if let known = available, counted + uncounted < known.upperBound {
            forget()
            uncounted = 0
        }
        uncounted = max(uncounted, archive.entries - counted)
        let end = counted + uncounted
        available = end - archive.entries..<end
        filter.trim(before: end - archive.entries)
        find.trim(before: end - archive.entries)
        nextEvent = archive.nextEvent
    }

    var problem: String? { archiveProblem ?? readProblem }

    mutating func show(_ new: [LogLine], from number: Int, asked: Range<Int>) {
        lines = [:]
        for (offset, line) in new.enumerated() { lines[number + offset] = line }
        loaded = asked
    }

    mutating func forget() {
        lines = [:]
        loaded = 0..<0
        filter.restart()
        find.restart()
    }
}
