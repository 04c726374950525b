import StoreInspection

/// Reads the messages that a log had at a moment.
struct LogReader: Sendable {
    let archive: ArchiveAddress
    /// The number after the last message.
    let end: Int
    let moment: LogMoment

    func read(
        from number: Int, count: Int = 1, limit: Int = LogLine.limit, in source: any StoreSource
    ) throws(SourceError) -> LogBatch {
        try source.messages(count: count, behind: end - 1 - number, at: moment, limit: limit, in: archive)
    }
}

/// The messages of a log, numbered from the first that was ever appended.
struct LogState: Sendable {
    let archive: ArchiveAddress
    /// The existing messages; nil until the archive's figures were read.
    var available: Range<Int>?
    private var moment = LogMoment()
    /// The messages before this number no longer exist, although `available` may list them.
    private var firstExisting = 0
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

    mutating func noteRemoved(before number: Int) { firstExisting = max(firstExisting, number) }

    var reader: LogReader { LogReader(archive: archive, end: available?.upperBound ?? 0, moment: moment) }

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
        let new = LogMoment(
            identity: archive.identity, index: archive.indexSalt, appended: archive.records)
        let isOther = !new.isOfIndex(of: moment)
        if let known = available, isOther || counted + uncounted < known.upperBound {
            forget()
            uncounted = 0
        }
        uncounted = max(uncounted, archive.entries - counted)
        let end = counted + uncounted
        available = end - archive.entries..<end
        filter.trim(before: end - archive.entries)
        find.trim(before: end - archive.entries)
        moment = new
    }

    var problem: String? { archiveProblem ?? readProblem }

    mutating func show(_ new: LogBatch, asked: Range<Int>) {
        lines = [:]
        let first = asked.lowerBound + new.missing
        for (offset, line) in new.lines.enumerated() { lines[first + offset] = line }
        if new.missing > 0 { noteRemoved(before: first) }
        loaded = asked
    }

    mutating func forget() {
        lines = [:]
        loaded = 0..<0
        firstExisting = 0
        filter.restart()
        find.restart()
    }
}
