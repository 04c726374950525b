import CPlatform
import Synchronization

/// The two clocks of the engine. The wall clock dates things for people; deadlines run on the boot clock, which
/// no one can set (S8). Why, and what remains of it after a restart: Durability, "Clocks".
package enum Clock {
    /// Microseconds since 1970, right within a few milliseconds; costs a few nanoseconds.
    @inline(__always)
    static func wall() -> Int64 {
        #if DEBUG
        hand?.wall.load(ordering: .relaxed) ?? cp_coarse_time()
        #else
        cp_coarse_time()
        #endif
    }

    /// Microseconds since the machine was started, suspension included.
    @inline(__always)
    static func boot() -> Int64 {
        #if DEBUG
        hand?.boot.load(ordering: .relaxed) ?? cp_boot_time()
        #else
        cp_boot_time()
        #endif
    }

    #if DEBUG
    /// Takes the clocks' place in a test, and in no other that runs beside it.
    @TaskLocal package static var hand: ClockHand?
    #endif

    struct Reading {
        var wall: Int64
        var boot: Int64
    }

    static func read() -> Reading { Reading(wall: wall(), boot: boot()) }

    /// What the wall clock shows when the boot clock shows `boot`, unless it is set before.
    static func wall(atBoot boot: Int64) -> Int64 { boot.addingSaturating(wallOffset()) }

    /// By how much the wall clock is ahead of the boot clock, in whole milliseconds: the same from call to call and
    /// from process to process until the wall clock is set, so that a deadline is always shown as the same moment.
    /// Costs some hundred nanoseconds.
    static func wallOffset() -> Int64 {
        #if DEBUG
        if let hand {
            return hand.wall.load(ordering: .relaxed) &- hand.boot.load(ordering: .relaxed)
        }
        #endif
        let measured = cp_wall_offset()
        let known = offset.load(ordering: .relaxed)
        // Near the middle between two milliseconds the rounding must not go to and fro.
        if known != 0, abs(measured &- known) <= largestDrift { return known }
        let rounded = (measured &+ 500) / 1000 * 1000
        offset.store(rounded, ordering: .relaxed)
        return rounded
    }

    /// What this process has said last; 0: nothing yet.
    private static let offset = Atomic<Int64>(0)
    /// Microseconds that a measurement may be away from it without the clock having been set.
    private static let largestDrift: Int64 = 1000
}

#if DEBUG
/// Both clocks, standing still unless they are moved; safe from any thread.
package final class ClockHand: Sendable {
    package let wall = Atomic<Int64>(cp_coarse_time())
    package let boot = Atomic<Int64>(cp_boot_time())

    package init() {}

    /// Time passes on both clocks.
    package func pass(_ duration: Duration) {
        wall.add(duration.clampedMicroseconds, ordering: .relaxed)
        boot.add(duration.clampedMicroseconds, ordering: .relaxed)
    }

    /// Someone sets the wall clock.
    package func setWallClock(by microseconds: Int64) { wall.add(microseconds, ordering: .relaxed) }
}
#endif

extension Duration {
    /// Whole microseconds, at least 0 and at most a hundred thousand years: sums of a few never overflow.
    var clampedMicroseconds: Int64 {
        guard self > .zero else { return 0 }
        // Asked for the seconds of more than 64 bits of them it traps.
        guard self < .seconds(Duration.longestSeconds) else { return Duration.longestSeconds * 1_000_000 }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    private static let longestSeconds: Int64 = 3_155_760_000_000
}
