import StorageEngine
import StoreInspection

/// What an archive did and held while the browser looked at its store, whichever screen was shown: each second of the last
/// minutes, and the coarser the longer ago, so that hours take no more than some hundred kilobytes. A value.
package struct ArchiveHistory: Sendable {
    /// A while of it.
    package struct Point: Sendable {
        package let start: Timestamp
        package let end: Timestamp
        package let rates: ArchiveRates
        /// The most that it held meanwhile, in bytes.
        package let disk: UInt64
        package let memory: UInt64
    }

    private struct Sample: Sendable {
        var time: Timestamp
        var status: ArchiveStatus

        func rates(since start: Sample) -> ArchiveRates {
            ArchiveRates(
                from: start.status, to: status, seconds: max(0.001, time.seconds(since: start.time)))
        }
    }

    /// Points of one length.
    private struct Level: Sendable {
        /// Seconds that a point stands for.
        let step: Double
        let maximum: Int
        var points: [Point] = []
        private var start: Sample?
        private var disk: UInt64 = 0
        private var memory: UInt64 = 0

        init(step: Double, maximum: Int) { (self.step, self.maximum) = (step, maximum) }

        mutating func add(_ sample: Sample) {
            disk = max(disk, sample.status.diskBytes)
            memory = max(memory, sample.status.memoryBytes)
            guard let start else { return begin(sample) }
            // What is a little early counts, or each point would be a refresh too long.
            guard sample.time.seconds(since: start.time) >= step - 0.05 else { return }
            points.append(
                Point(
                    start: start.time, end: sample.time, rates: sample.rates(since: start), disk: disk,
                    memory: memory))
            if points.count > maximum { points.removeFirst() }
            begin(sample)
        }

        /// Forgets what lies behind a moment.
        mutating func forget(after moment: Timestamp) {
            points.removeAll { $0.end > moment }
            start = nil
            (disk, memory) = (0, 0)
        }

        private mutating func begin(_ sample: Sample) {
            start = sample
            (disk, memory) = (sample.status.diskBytes, sample.status.memoryBytes)
        }
    }

    /// Five minutes, an hour, half a day.
    private var levels = [
        Level(step: 1, maximum: 300), Level(step: 10, maximum: 360), Level(step: 60, maximum: 720),
    ]
    /// Seconds over which rates are averaged, so that they can be read.
    private static let window = 2.0
    private var recent: [Sample] = []

    package init() {}

    package mutating func add(_ status: ArchiveStatus, at time: Timestamp) {
        let sample = Sample(time: time, status: status)
        if let last = recent.last, time < last.time {
            // The clock was set back: what was noted for times to come would be in the way until they come.
            recent = []
            for index in levels.indices { levels[index].forget(after: time) }
        }
        recent.append(sample)
        // One sample at or beyond the window's edge is kept, so that the window is filled.
        while recent.count > 2, time.seconds(since: recent[1].time) >= ArchiveHistory.window {
            recent.removeFirst()
        }
        for index in levels.indices { levels[index].add(sample) }
    }

    /// Rates of each second of the last minutes, the latest last.
    package var points: [ArchiveRates] { levels[0].points.map(\.rates) }

    /// Rates over the last seconds; nil until two refreshes were seen.
    package var now: ArchiveRates? {
        guard let first = recent.first, let last = recent.last, last.time > first.time else { return nil }
        return last.rates(since: first)
    }

    /// The points of so many seconds, oldest first: as fine as that far back is known, and finer at the end, where the
    /// coarse ones have not come to yet.
    package func points(seconds: Double) -> [Point] {
        let base = levels.firstIndex { $0.step * Double($0.maximum) >= seconds } ?? levels.count - 1
        var points = levels[base].points
        for finer in levels[..<base].reversed() {
            let end = points.last?.end
            points += finer.points.filter { end == nil || $0.start >= end! }
        }
        return points
    }

    /// How many points are kept.
    package var count: Int { levels.reduce(0) { $0 + $1.points.count } }
}

/// What archives did and held in the time that a column of a graph stands for. A value; safe to share between threads.
package struct GraphColumn: Sendable, Hashable {
    /// A second.
    package var hits = 0.0
    package var misses = 0.0
    package var operations = 0.0
    package var evictions = 0.0
    package var expiries = 0.0
    /// Bytes.
    package var disk = 0.0
    package var memory = 0.0

    package var hitRatio: Double? { hits + misses > 0 ? hits / (hits + misses) : nil }

    init() {}

    init(_ rates: ArchiveRates, disk: UInt64, memory: UInt64) {
        (hits, misses, operations) = (rates.hits, rates.misses, rates.operations)
        (evictions, expiries) = (rates.evictions, rates.expirations)
        (self.disk, self.memory) = (Double(disk), Double(memory))
    }

    /// Another archive's at the same time.
    static func + (left: GraphColumn, right: GraphColumn) -> GraphColumn {
        var sum = left.adding(right, weight: 1)
        (sum.disk, sum.memory) = (left.disk + right.disk, left.memory + right.memory)
        return sum
    }

    /// Rates are added with a weight; of bytes the larger counts.
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

    /// So many columns over so many seconds until a moment, oldest first; nil where nobody looked.
    package static func columns(
        _ count: Int, seconds: Double, until end: Timestamp, of histories: [ArchiveHistory]
    ) -> [GraphColumn?] {
        var sums = [GraphColumn?](repeating: nil, count: max(0, count))
        guard count > 0 else { return sums }
        let width = seconds / Double(count)
        for history in histories {
            var own = [GraphColumn?](repeating: nil, count: count)
            var weights = [Double](repeating: 0, count: count)
            for point in history.points(seconds: seconds) {
                let from = seconds + point.start.seconds(since: end)
                let to = seconds + point.end.seconds(since: end)
                guard to > 0, from < seconds else { continue }
                let column = GraphColumn(point.rates, disk: point.disk, memory: point.memory)
                let last = min(count - 1, Int((to / width).rounded(.up)) - 1)
                let first = min(count - 1, max(0, Int(from / width)))
                for place in first...max(first, last) {
                    let overlap = min(to, Double(place + 1) * width) - max(from, Double(place) * width)
                    guard overlap > 0 else { continue }
                    own[place] = (own[place] ?? GraphColumn()).adding(column, weight: overlap)
                    weights[place] += overlap
                }
            }
            for place in own.indices {
                guard let sum = own[place] else { continue }
                let average = GraphColumn().adding(sum, weight: 1 / weights[place])
                sums[place] = (sums[place] ?? GraphColumn()) + average
            }
        }
        return sums
    }
}
