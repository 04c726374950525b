import StorageEngine
import StoreInspection

/// Activity and size of an archive since the browser opened its store, in bins of time.
///
/// Bins start at multiples of their width since 1970, so that the figures of past bins don't change.
package struct ArchiveHistory: Sendable {
    private struct Sample: Sendable {
        var time: Timestamp
        var status: ArchiveStatus

        func rates(since start: Sample) -> ArchiveRates {
            ArchiveRates(from: start.status, to: status, seconds: max(0.001, time.seconds(since: start.time)))
        }
    }

    /// One bin. It begins after `index` widths and includes its end.
    fileprivate struct Bin: Sendable {
        let index: Int64
        /// Seconds of the bin in which the archive was observed.
        var seconds = 0.0
        /// Rates weighted by seconds; of bytes the maximum.
        var sums = GraphColumn()

        mutating func add(_ column: GraphColumn, seconds: Double) {
            self.seconds += seconds
            sums = sums.adding(column, weight: seconds)
        }

        var mean: GraphColumn { GraphColumn().adding(sums, weight: seconds > 0 ? 1 / seconds : 0) }
    }

    private struct Level: Sendable {
        let step: Int64
        let maximum: Int
        var bins: [Bin] = []

        mutating func add(_ rates: ArchiveRates, from start: Sample, to end: Sample) {
            let last = GraphColumn.index(of: end.time, step: step)
            let first = GraphColumn.floor(start.time.microseconds, step * 1_000_000)
            for index in max(first, last - Int64(maximum))...last {
                let begin = Timestamp(seconds: Double(index * step))
                let from = max(0, start.time.seconds(since: begin))
                let seconds = min(Double(step), end.time.seconds(since: begin)) - from
                // A size read after the bin's end doesn't belong to it.
                let status = index == last ? end.status : start.status
                let column = GraphColumn(rates, disk: status.diskBytes, memory: status.memoryBytes)
                if bins.last?.index != index { bins.append(Bin(index: index)) }
                bins[bins.count - 1].add(column, seconds: seconds)
            }
            if bins.count > maximum { bins.removeFirst(bins.count - maximum) }
        }
    }

    /// 25 minutes, four hours and 15 hours: enough for a wide terminal.
    private var levels = [
        Level(step: 1, maximum: 1500), Level(step: 10, maximum: 1500), Level(step: 60, maximum: 900),
    ]
    /// Seconds over which current rates are averaged.
    static let window = 2.0
    private var recent: [Sample] = []

    package init() {}

    package mutating func add(_ status: ArchiveStatus, at time: Timestamp) {
        let sample = Sample(time: time, status: status)
        if let last = recent.last, time < last.time {
            // The clock was set back.
            recent = []
            for index in levels.indices {
                let present = GraphColumn.index(of: time, step: levels[index].step)
                levels[index].bins.removeAll { $0.index >= present }
            }
        }
        if let last = recent.last, time > last.time {
            let rates = sample.rates(since: last)
            for index in levels.indices { levels[index].add(rates, from: last, to: sample) }
        }
        recent.append(sample)
        // One sample at or before the window's start is kept, so that the window is filled.
        while recent.count > 2, time.seconds(since: recent[1].time) >= ArchiveHistory.window {
            recent.removeFirst()
        }
    }

    /// Rates over the last seconds; nil until two refreshes were seen.
    package var now: ArchiveRates? {
        guard let first = recent.first, let last = recent.last, last.time > first.time else { return nil }
        return last.rates(since: first)
    }

    package var latest: Timestamp? { recent.last?.time }

    fileprivate var lastMinute: Bin {
        var minute = Bin(index: 0)
        guard let end = levels[0].bins.last?.index else { return minute }
        for bin in levels[0].bins.suffix(60) where bin.index > end - 60 {
            minute.add(bin.mean, seconds: bin.seconds)
        }
        return minute
    }

    /// Columns with observations by their index since 1970. `step` in seconds is a multiple of a level's.
    fileprivate func columns(_ range: ClosedRange<Int64>, step: Int64) -> [(
        index: Int64, column: GraphColumn
    )] {
        guard let level = levels.last(where: { step % $0.step == 0 }) else { return [] }
        let ratio = step / level.step
        var columns: [Bin] = []
        let start = level.bins.lastIndex { $0.index < range.lowerBound * ratio }.map { $0 + 1 } ?? 0
        for bin in level.bins[start...] {
            let index = GraphColumn.floor(bin.index, ratio)
            guard range.contains(index) else { break }
            if columns.last?.index != index { columns.append(Bin(index: index)) }
            columns[columns.count - 1].add(bin.mean, seconds: bin.seconds)
        }
        return columns.map { ($0.index, $0.mean) }
    }

    package var count: Int { levels.reduce(0) { $0 + $1.bins.count } }
}

package struct RecentHits: Sendable, Hashable {
    private(set) var seconds = 0.0
    private var hits = 0.0
    private var misses = 0.0

    package init(_ histories: some Sequence<ArchiveHistory>) {
        for history in histories {
            let minute = history.lastMinute
            seconds = max(seconds, minute.seconds)
            hits += minute.sums.hits
            misses += minute.sums.misses
        }
    }

    /// Nil without an access.
    package var ratio: Double? { hits + misses > 0 ? hits / (hits + misses) : nil }

    package var window: String { seconds > 58.5 ? "1m" : "<1m" }

    var words: String { "hit \(window) \(ratio.map(Figures.percent) ?? "-")" }
}

package struct GraphColumn: Sendable, Hashable {
    /// Means per second.
    package var hits = 0.0
    package var misses = 0.0
    package var operations = 0.0
    package var evictions = 0.0
    package var expiries = 0.0
    /// Maxima, in bytes.
    package var disk = 0.0
    package var memory = 0.0

    package var hitRatio: Double? { hits + misses > 0 ? hits / (hits + misses) : nil }

    init() {}

    init(_ rates: ArchiveRates, disk: UInt64, memory: UInt64) {
        (hits, misses, operations) = (rates.hits, rates.misses, rates.operations)
        (evictions, expiries) = (rates.evictions, rates.expirations)
        (self.disk, self.memory) = (Double(disk), Double(memory))
    }

    /// Adds another archive's figures of the same time.
    static func + (left: GraphColumn, right: GraphColumn) -> GraphColumn {
        var sum = left.adding(right, weight: 1)
        (sum.disk, sum.memory) = (left.disk + right.disk, left.memory + right.memory)
        return sum
    }

    /// Adds weighted rates and takes the larger sizes.
    func adding(_ other: GraphColumn, weight: Double) -> GraphColumn {
        var sum = self
        sum.hits += other.hits * weight
        sum.misses += other.misses * weight
        sum.operations += other.operations * weight
        sum.evictions += other.evictions * weight
        sum.expiries += other.expiries * weight
        (sum.disk, sum.memory) = (max(disk, other.disk), max(memory, other.memory))
        return sum
    }

    /// Widths that a column may have, in seconds.
    private static let steps: [Int64] = [
        1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 43_200,
    ]

    /// The smallest column width, in seconds, with which `count` columns cover `seconds`.
    package static func step(_ count: Int, covering seconds: Double) -> Int64 {
        steps.first { Double($0) * Double(max(1, count)) >= seconds } ?? 43_200
    }

    /// The index of a moment's column since 1970. A column includes its end.
    package static func index(of time: Timestamp, step: Int64) -> Int64 {
        floor(time.microseconds &- 1, step * 1_000_000)
    }

    fileprivate static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    /// The `count` columns of `step` seconds that end with the column of a moment, oldest first; nil without observations.
    package static func columns(
        _ count: Int, step: Int64, until end: Timestamp, of histories: [ArchiveHistory]
    ) -> [GraphColumn?] {
        var sums = [GraphColumn?](repeating: nil, count: max(0, count))
        guard count > 0 else { return sums }
        let last = index(of: end, step: step)
        let first = last - Int64(count - 1)
        for history in histories {
            for (index, column) in history.columns(first...last, step: step) {
                let place = Int(index - first)
                sums[place] = sums[place].map { $0 + column } ?? column
            }
        }
        return sums
    }
}
