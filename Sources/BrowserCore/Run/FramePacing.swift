import StorageEngine

/// When the store is asked anew, and when the screen is drawn: at once while a person types, and otherwise a moment after the
/// first result, so that a refresh with several is drawn once. A value. A clock that jumps back delays neither.
package struct FramePacing: Sendable {
    /// Seconds after the last key in which every result is drawn at once.
    package static let attention = 0.5
    /// Seconds that a frame waits otherwise.
    package static let gathering = 0.03

    private let refreshInterval: Double
    private var nextTick: Timestamp
    private var lastInput: Timestamp
    private var drawAt: Timestamp?

    package init(refreshInterval: Double, start: Timestamp) {
        self.refreshInterval = refreshInterval
        (nextTick, lastInput) = (start, start)
    }

    /// Whether the store is to be asked anew; the next time is counted from `now` then.
    package mutating func isTick(at now: Timestamp) -> Bool {
        let isDue = now >= nextTick
        if isDue || nextTick.seconds(since: now) > refreshInterval {
            nextTick = now.adding(seconds: refreshInterval)
        }
        return isDue
    }

    package mutating func noteInput(at now: Timestamp) { lastInput = now }

    /// Whether a frame is to be drawn that may differ from what is shown; if not, it waits. `mustNotWait`: it can't.
    package mutating func isFrameDue(at now: Timestamp, orNow mustNotWait: Bool) -> Bool {
        let isWatched = now.seconds(since: lastInput) < FramePacing.attention
        let hasWaited = drawAt.map { $0 <= now || $0.seconds(since: now) > FramePacing.gathering } ?? false
        let isDue = mustNotWait || isWatched || hasWaited
        drawAt = isDue ? nil : drawAt ?? now.adding(seconds: FramePacing.gathering)
        return isDue
    }

    /// Seconds until something is due; 0: it is.
    package func wait(from now: Timestamp) -> Double {
        max(0, min(nextTick, drawAt ?? nextTick).seconds(since: now))
    }
}
