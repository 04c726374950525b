import CPlatform
import Synchronization

/// The wall clock, for dates, and the boot clock, which can't be set, for expiry times (S8): Durability, "Clocks".
package enum Clock {
    /// Microseconds since 1970, accurate to a few milliseconds; costs a few nanoseconds.
    @inline(__always) static func wall() -> Int64 {
        #if DEBUG
        hand?.wall.load(ordering: .relaxed) ?? cp_coarse_time()
        #else
        cp_coarse_time()
        #endif
    }

    /// Microseconds since the machine was started, including sleep.
    @inline(__always) static func boot() -> Int64 {
        #if DEBUG
        hand?.boot.load(ordering: .relaxed) ?? cp_boot_time()
        #else
        cp_boot_time()
        #endif
    }

    #if DEBUG
    /// Replaces the clocks in a test, without affecting tests that run at the same time.
    @TaskLocal package static var hand: ClockHand?
    #endif

    struct Reading {
        var wall: Int64
        var boot: Int64
    }

    /// The wall clock's time to the microsecond, unlike ``wall()``, which advances in steps of some ms. Takes some hundred ns.
    package static func preciseWall() -> Int64 { wall(atBoot: boot()) }

    static func read() -> Reading { Reading(wall: wall(), boot: boot()) }

    /// The wall clock's time when the boot clock shows `boot`, unless it is set in between.
    static func wall(atBoot boot: Int64) -> Int64 { boot.addingSaturating(wallOffset()) }

    /// The wall clock's lead in whole ms, constant until it is set, so an expiry time always has the same date. Some hundred ns.
    static func wallOffset() -> Int64 {
        #if DEBUG
        if let hand { return hand.wall.load(ordering: .relaxed) &- hand.boot.load(ordering: .relaxed) }
        #endif
        let measured = cp_wall_offset()
        let known = offset.load(ordering: .relaxed)
        // Rounding a new measurement could alternate near the middle between two milliseconds.
        if known != 0, abs(measured &- known) <= largestDrift { return known }
        let rounded = (measured &+ 500) / 1000 * 1000
        offset.store(rounded, ordering: .relaxed)
        return rounded
    }

    /// The result of the last call in this process; 0: none.
    private static let offset = Atomic<Int64>(0)
    /// Largest difference in microseconds of a measurement from `offset` without the clock having been set.
    private static let largestDrift: Int64 = 1000
}

#if DEBUG
/// Both clocks; they stand still unless they are moved.
package final class ClockHand: Sendable {
    package let wall = Atomic<Int64>(cp_coarse_time())
    package let boot = Atomic<Int64>(cp_boot_time())

    package init() {}

    package func pass(_ duration: Duration) {
        wall.add(duration.clampedMicroseconds, ordering: .relaxed)
        boot.add(duration.clampedMicroseconds, ordering: .relaxed)
    }

    package func setWallClock(by microseconds: Int64) { wall.add(microseconds, ordering: .relaxed) }
}
#endif

extension Duration {
    /// Whole microseconds, clamped to 0 and to a hundred thousand years, so that sums of a few never overflow.
    package var clampedMicroseconds: Int64 {
        guard self > .zero else { return 0 }
        // `components` traps if the seconds exceed 64 bits.
        guard self < .seconds(Duration.longestSeconds) else { return Duration.longestSeconds * 1_000_000 }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    private static let longestSeconds: Int64 = 3_155_760_000_000
}

extension Timestamp {
    /// The wall clock, accurate to a few milliseconds. Costs a few nanoseconds.
    public static func now() -> Timestamp { Timestamp(microseconds: Clock.wall()) }
}

extension Int64 {
    func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
