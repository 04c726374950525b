import StoreInspection

struct LogSearch: Sendable {
    /// Maximum kept matches; the latest are kept.
    static let most = 20_000

    var text = "" { didSet { take(text) } }
    private(set) var pattern: LogPattern?
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
    /// Whether the last step to a match continued at the other end of the log.
    var hasWrapped = false

    var isActive: Bool { pattern != nil }

    private mutating func take(_ typed: String) {
        restart()
        do throws(SourceError) {
            pattern = try LogPattern(typed)
            problem = nil
        } catch {
            pattern = nil
            problem = error.description
        }
    }

    mutating func restart() {
        (ticket, isPending, isStopped, end, dropped) = (nil, false, false, nil, 0)
        (numbers, lines, hasWrapped) = ([], [:], false)
    }

    mutating func add(_ found: [(number: Int, line: LogLine)], upTo end: Int) {
        self.end = end
        for (number, line) in found {
            numbers.append(number)
            lines[number] = line
        }
        let excess = numbers.count - LogSearch.most
        if excess > 0 { drop(excess) }
    }

    mutating func trim(before first: Int) {
        let gone = numbers.prefix { $0 < first }.count
        if gone > 0 {
            drop(gone)
            dropped -= gone
        }
    }

    private mutating func drop(_ count: Int) {
        for number in numbers.prefix(count) { lines[number] = nil }
        numbers.removeFirst(count)
        dropped += count
    }

    func count(before number: Int) -> Int {
        numbers.indices.partitionPoint { numbers[$0] >= number }
    }
}

/// A case-insensitive regular expression; behind `!` all messages that it doesn't match.
struct LogPattern: Sendable {
    private let text: String
    private let isInverse: Bool
    private let plain: SearchText?

    init?(_ typed: String) throws(SourceError) {
        isInverse = typed.hasPrefix("!")
        text = isInverse ? String(typed.dropFirst()) : typed
        guard !text.isEmpty else { return nil }
        let isPlain = !text.contains { "\\^$.|?*+()[]{}".contains($0) }
        plain = isPlain ? SearchText(text) : nil
        guard !isPlain else { return }
        do { _ = try Regex(text) } catch { throw SourceError("\(error)") }
    }

    /// Returns a function that finds matches in a line, in characters; none behind `!`.
    func finder() -> (String) -> [Range<Int>] {
        if isInverse { return { _ in [] } }
        if let plain {
            return { line in
                var (found, start) = ([Range<Int>](), 0)
                while let next = plain.range(in: String(line.dropFirst(start))), !next.isEmpty {
                    found.append(start + next.lowerBound..<start + next.upperBound)
                    start += next.upperBound
                }
                return found
            }
        }
        guard let expression = try? Regex(text).ignoresCase() else { return { _ in [] } }
        return { line in
            line.matches(of: expression).map { match in
                let start = line.distance(from: line.startIndex, to: match.range.lowerBound)
                return start..<start + line.distance(from: match.range.lowerBound, to: match.range.upperBound)
            }
        }
    }

    func matcher() -> (LogLine) -> Bool {
        if let plain { return { $0.searched.contains(where: plain.matches) != isInverse } }
        guard let expression = try? Regex(text).ignoresCase() else { return { _ in false } }
        return { $0.searched.contains { $0.firstMatch(of: expression) != nil } != isInverse }
    }
}
