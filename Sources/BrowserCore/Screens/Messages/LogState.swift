import StoreInspection

/// The screen of a log's messages. Messages are numbered from the first that was ever appended, so that a number
/// stays right while messages come at one end and go at the other.
struct LogState: Sendable {
    let archive: ArchiveAddress
    /// The messages that there are; nil until the archive's figures were read.
    var available: Range<Int>?
    /// The number of the event to come when `available` was so.
    var nextEvent: UInt64 = 0
    /// The number of messages before the archive's counter began, which restarts when the index is rebuilt.
    private var uncounted = 0
    /// What was read of them.
    private(set) var lines: [Int: LogLine] = [:]
    private(set) var loaded = 0..<0
    var isPending = false
    var cursor = 0
    /// The first message in view.
    var top = 0
    /// Whether the newest message stays in view.
    var follows = true
    /// What is wrong with the archive, and with what was read last.
    var archiveProblem: String?
    var readProblem: String?

    init(archive: ArchiveAddress) { self.archive = archive }

    var count: Int { available?.count ?? 0 }
    /// The row under the cursor, from 0.
    var row: Int { max(0, cursor - (available?.lowerBound ?? 0)) }

    /// Takes the archive's figures: which messages there are now.
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
    }
}
