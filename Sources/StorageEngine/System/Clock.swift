import CPlatform
import Synchronization

/// The two clocks of the engine. The wall clock dates things for people; deadlines run on the boot clock, which
/// no one can set (S8). Why, and what remains of it after a restart: Durability, "Clocks".
package enum Clock {
    /// Microseconds since 1970, right within a few milliseconds; costs a few nanoseconds.
    @inline(__always)
    static func wall() -> Int64 {
        #if DEBUG
        cp_coarse_time() &+ (hand?.wall.load(ordering: .relaxed) ?? 0)
        #else
        cp_coarse_time()
        #endif
    }

    /// Microseconds since the machine was started, suspension included.
    @inline(__always)
    static func boot() -> Int64 {
        #if DEBUG
        cp_boot_time() &+ (hand?.boot.load(ordering: .relaxed) ?? 0)
        #else
        cp_boot_time()
        #endif
    }

    #if DEBUG
    /// Moves the clocks for a test, and for no other that runs beside it.
    @TaskLocal package static var hand: ClockHand?
    #endif

    struct Reading {
        var wall: Int64
        var boot: Int64
    }

    static func read() -> Reading { Reading(wall: wall(), boot: boot()) }
}

#if DEBUG
/// Microseconds by which the clocks are off; safe from any thread.
package final class ClockHand: Sendable {
    package let wall = Atomic<Int64>(0)
    package let boot = Atomic<Int64>(0)

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
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < Duration.longestSeconds else { return Duration.longestSeconds * 1_000_000 }
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    private static let longestSeconds: Int64 = 3_155_760_000_000
}
