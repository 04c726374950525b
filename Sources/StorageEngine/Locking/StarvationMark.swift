import CPlatform

/// Gives priority to a thread that has waited ``waitBeforePriority`` for an archive's lock: the thread that released a lock nearly always
/// gets it again if it asks at once. So the waiting thread marks this word, and new callers wait.
///
/// The word is a monotonic time in nanoseconds, 0 for none. A stale or damaged one counts for at most ``validity`` (F4).
struct StarvationMark: @unchecked Sendable {
    private let word: UnsafeMutableRawPointer

    init(_ index: IndexView) { word = index.starvation }

    /// Waiting time after which other threads defer to this one, in nanoseconds.
    static let waitBeforePriority: Int64 = 100_000_000
    private static let validity: Int64 = 100_000_000
    /// Longest time in nanoseconds for which a thread defers to the waiting one.
    private static let longestDeferral: Int64 = 100_000_000

    /// Whether a thread may be starving. Costs a load from the mutex's cache line.
    @inline(__always) var isSet: Bool { cp_relaxed64(word) != 0 }

    /// Whether the mark is recent. Clears an older mark.
    private var isValid: Bool {
        let time = cp_relaxed64(word)
        guard time != 0 else { return false }
        let age = cp_monotonic_time() &- Int64(bitPattern: time)
        if age >= 0, age < StarvationMark.validity { return true }
        _ = cp_cas64(word, time, 0)
        return false
    }

    var forbids: Bool { isSet && isValid }

    @inline(never) func standBack(nanoseconds: Int64) {
        let start = cp_monotonic_time()
        let most = min(nanoseconds, StarvationMark.longestDeferral)
        while isValid, cp_monotonic_time() &- start < most { cp_sleep(1_000_000) }
    }

    /// Marks the caller as starving; repeat within ``validity``. Returns the argument for ``clear(_:)``.
    func set() -> UInt64 {
        let time = UInt64(bitPattern: cp_monotonic_time())
        cp_relaxed_store64(word, time)
        return time
    }

    func clear(_ own: UInt64) { _ = cp_cas64(word, own, 0) }
}
