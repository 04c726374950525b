import Foundation

/// The monotonic clock of the system, in nanoseconds.
enum Clock {
    @inline(__always)
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    static func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return Double(now() - start)
    }

    /// Processor time of this thread, which excludes the work of other threads and processes.
    static func processorNanoseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = processorNow()
        try body()
        return Double(processorNow() - start)
    }

    /// Processor time of this thread so far.
    static func processorNow() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// The time that a reading of the clock adds to an interval: the median of 100,000.
    static func overhead() -> UInt32 {
        var intervals = Latencies(capacity: 100_000)
        var last = now()
        for _ in 0..<100_000 {
            let time = now()
            intervals.add(time - last)
            last = time
        }
        return intervals.sorted()[50_000]
    }
}

/// Durations of single operations in nanoseconds, recorded without allocating.
struct Latencies {
    private(set) var values: [UInt32] = []

    init(capacity: Int) { values.reserveCapacity(capacity) }

    @inline(__always)
    mutating func add(_ nanoseconds: UInt64) { values.append(UInt32(clamping: nanoseconds)) }

    func sorted() -> [UInt32] { values.sorted() }
}
