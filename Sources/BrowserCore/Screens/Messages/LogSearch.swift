import StorageEngine
import StoreInspection

struct LogSearch: Sendable {
    /// Maximum kept matches; the latest are kept.
    static let maximum = 20_000

    var text = "" { didSet { take(text) } }
    private(set) var pattern: FilterPattern?
    private(set) var problem: String?
    /// The job of the first search; searches of new messages have none.
    var ticket: Int?
    var isPending = false
    var isStopped = false
    private(set) var numbers: [Int] = []
    private(set) var lines: [Int: LogLine] = [:]
    /// The first message that wasn't searched; nil before the first search.
    private(set) var end: Int?
    private(set) var dropped = 0
    /// Messages for which the regular expression takes too long.
    private(set) var untested = 0
    /// Whether the last step to a match continued at the other end of the log.
    var hasWrapped = false

    var isActive: Bool { pattern != nil }

    private mutating func take(_ typed: String) {
        restart()
        pattern = FilterPattern(typed)
        problem = pattern?.problem
        if problem != nil { pattern = nil }
    }

    mutating func restart() {
        (ticket, isPending, isStopped, end, dropped, untested) = (nil, false, false, nil, 0, 0)
        (numbers, lines, hasWrapped) = ([], [:], false)
    }

    /// The result of a search. Messages before `firstExisting` no longer existed.
    typealias Found = (
        messages: [(number: Int, line: LogLine)], untested: Int, damaged: [Int], firstExisting: Int
    )

    mutating func add(_ new: Found, upTo end: Int) {
        self.end = end
        untested += new.untested
        for (number, line) in new.messages {
            numbers.append(number)
            lines[number] = line
        }
        let excess = numbers.count - LogSearch.maximum
        if excess > 0 { drop(excess) }
    }

    mutating func trim(before first: Int) {
        let removed = numbers.prefix { $0 < first }.count
        if removed > 0 {
            drop(removed)
            dropped -= removed
        }
    }

    private mutating func drop(_ count: Int) {
        for number in numbers.prefix(count) { lines[number] = nil }
        numbers.removeFirst(count)
        dropped += count
    }

    func count(before number: Int) -> Int { numbers.partitioningIndex { $0 >= number } }
}
