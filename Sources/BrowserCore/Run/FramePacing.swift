import StorageEngine

/// Schedules refreshes and frames. Frames are drawn at once during typing, otherwise a moment after the first result, so that a refresh
/// with several results is drawn once. A clock set back delays neither.
package struct FramePacing: Sendable {
    /// Seconds after the last key during which results are drawn at once.
    package static let attention = 0.5
    package static let gathering = 0.03

    private let refreshInterval: Double
    private var nextTick: Timestamp
    private var lastInput: Timestamp
    private var drawAt: Timestamp?

    package init(refreshInterval: Double, start: Timestamp) {
        self.refreshInterval = refreshInterval
        (nextTick, lastInput) = (start, start)
    }

    /// Whether a refresh is due; if so, schedules the next one from `now`.
    package mutating func isTick(at now: Timestamp) -> Bool {
        let isDue = now >= nextTick
        if isDue || nextTick.seconds(since: now) > refreshInterval {
            nextTick = now.adding(seconds: refreshInterval)
        }
        return isDue
    }

    package mutating func noteInput(at now: Timestamp) { lastInput = now }

    package mutating func isFrameDue(at now: Timestamp, orNow mustNotWait: Bool) -> Bool {
        let isWatched = now.seconds(since: lastInput) < FramePacing.attention
        let hasWaited = drawAt.map { $0 <= now || $0.seconds(since: now) > FramePacing.gathering } ?? false
        let isDue = mustNotWait || isWatched || hasWaited
        drawAt = isDue ? nil : drawAt ?? now.adding(seconds: FramePacing.gathering)
        return isDue
    }

    package func wait(from now: Timestamp) -> Double {
        max(0, min(nextTick, drawAt ?? nextTick).seconds(since: now))
    }
}
