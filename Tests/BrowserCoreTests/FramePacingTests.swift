import BrowserCore
import StorageEngine
import Testing

/// When the browser's loop refreshes and draws.
struct FramePacingTests {
    private static let start = Timestamp(microseconds: 1_000_000_000)
    private var pacing = FramePacing(refreshInterval: 0.2, start: start)

    private static func after(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

    /// The moments at which the store is refreshed.
    private mutating func ticks(after moments: Double...) -> [Double] {
        moments.filter { pacing.isTick(at: Self.after($0)) }
    }

    /// The moments at which a frame is drawn.
    private mutating func frames(after moments: Double..., orNow: Bool = false) -> [Double] {
        moments.filter { pacing.isFrameDue(at: Self.after($0), orNow: orNow) }
    }

    private func wait(after seconds: Double) -> Double { pacing.wait(from: Self.after(seconds)) }

    @Test mutating func refreshesOncePerInterval() {
        let asked = ticks(after: 0, 0.1, 0.25, 0.4, 0.46)
        #expect(asked == [0, 0.25, 0.46], "not counted from the last refresh")
    }

    @Test mutating func typingDrawsAtOnce() {
        pacing.noteInput(at: Self.after(10))
        let attention = FramePacing.attention
        let drawn = frames(after: 10, 10 + 0.9 * attention, 10 + 1.1 * attention)
        #expect(drawn == [10, 10 + 0.9 * attention])
    }

    @Test mutating func framesGatherResults() {
        _ = ticks(after: 10)
        var drawn = frames(after: 10)
        #expect(drawn.isEmpty && abs(wait(after: 10) - FramePacing.gathering) < 1e-5)
        // More results don't delay it.
        drawn = frames(after: 10.02)
        #expect(drawn.isEmpty && wait(after: 10.02) < 0.011)
        drawn = frames(after: 10.04)
        #expect(drawn == [10.04] && abs(wait(after: 10.04) - 0.16) < 1e-5, "more than the refresh is due")
    }

    @Test mutating func urgentFramesAreDrawnAtOnce() {
        let waiting = frames(after: 10)
        let drawn = frames(after: 10.01, orNow: true)
        let next = frames(after: 10.035)
        #expect(waiting.isEmpty && drawn == [10.01] && next.isEmpty, "the next frame did not gather results")
    }

    @Test mutating func clockSetBackDelaysNothing() {
        _ = ticks(after: 3600)
        let waiting = frames(after: 3600)
        let early = ticks(after: 0)
        let drawn = frames(after: 1)
        let late = ticks(after: 1.2)
        #expect(waiting.isEmpty && early.isEmpty && drawn == [1] && late == [1.2])
        #expect(wait(after: 1.2) <= 0.2001)
    }
}
