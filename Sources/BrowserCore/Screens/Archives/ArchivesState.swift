import StorageEngine
import StoreInspection

/// The screen of archives.
struct ArchivesState: Sendable {
    /// Nil until the store was read.
    var figures: StoreFigures?
    var problem: String?
    /// The name that the cursor holds to.
    var selected: String?
    var top = 0
    var isPending = false
    var histories: [String: ArchiveHistory] = [:]
    var showsEvents = true

    var archives: [ArchiveSample] { figures?.archives ?? [] }
    var cursor: Int { archives.firstIndex { ExactText($0.name) == selected.map(ExactText.init) } ?? 0 }

    func summary(_ name: String) -> ArchiveSample? {
        archives.first { ExactText($0.name) == ExactText(name) }
    }
}

/// What an archive did over the last minutes, from its counters at each refresh.
package struct ArchiveHistory: Sendable {
    private struct Sample: Sendable {
        var time: Timestamp
        var status: ArchiveStatus

        func rates(since start: Sample) -> ArchiveRates {
            ArchiveRates(
                from: start.status, to: status, seconds: max(0.001, time.seconds(since: start.time)))
        }
    }

    /// Seconds that a point of the graphs stands for.
    package static let step = 1.0
    /// Seconds over which rates are averaged, so that they can be read.
    private static let window = 2.0
    private static let maximumPoints = 600

    package private(set) var points: [ArchiveRates] = []
    private var recent: [Sample] = []
    private var pointStart: Sample?

    package init() {}

    package mutating func add(_ status: ArchiveStatus, at time: Timestamp) {
        let sample = Sample(time: time, status: status)
        recent.append(sample)
        // One sample at or beyond the window's edge is kept, so that the window is filled.
        while recent.count > 2, time.seconds(since: recent[1].time) >= ArchiveHistory.window {
            recent.removeFirst()
        }
        guard let start = pointStart, time >= start.time else {
            pointStart = sample
            return
        }
        guard time.seconds(since: start.time) >= ArchiveHistory.step * 0.95 else { return }
        points.append(sample.rates(since: start))
        if points.count > ArchiveHistory.maximumPoints { points.removeFirst() }
        pointStart = sample
    }

    /// Rates over the last seconds; nil until two refreshes were seen.
    package var now: ArchiveRates? {
        guard let first = recent.first, let last = recent.last, last.time > first.time else { return nil }
        return last.rates(since: first)
    }
}
