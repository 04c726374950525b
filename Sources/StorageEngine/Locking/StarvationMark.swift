import CPlatform

/// Lets a thread that has waited ``patience`` for an archive's lock go first: a released lock nearly always goes to the thread that
/// released it, if it asks again at once. So a waiting thread marks this word of the index, and new callers stand back.
///
/// The word is a monotonic time in nanoseconds, 0 for none. A left or damaged one counts for at most ``validity`` (F4).
struct StarvationMark: @unchecked Sendable {
    private let word: UnsafeMutableRawPointer

    init(_ index: IndexView) { word = index.starvation }

    /// How long a thread waits before others stand back, in nanoseconds.
    static let patience: Int64 = 100_000_000
    private static let validity: Int64 = 100_000_000
    /// Those that stand back wait as well, so no longer than this.
    private static let longestStandBack: Int64 = 100_000_000

    /// Whether it may be that somebody starves. Costs a load, in the line of the mutex.
    @inline(__always) var isSet: Bool { cp_relaxed64(word) != 0 }

    /// Whether somebody said so just now. Removes what is older.
    private var isValid: Bool {
        let time = cp_relaxed64(word)
        guard time != 0 else { return false }
        let age = cp_monotonic_time() &- Int64(bitPattern: time)
        if age >= 0, age < StarvationMark.validity { return true }
        _ = cp_cas64(word, time, 0)
        return false
    }

    /// For work that can wait.
    var forbids: Bool { isSet && isValid }

    /// Sleeps while somebody starves, at most `nanoseconds`.
    @inline(never)
    func standBack(nanoseconds: Int64) {
        let start = cp_monotonic_time()
        let most = min(nanoseconds, StarvationMark.longestStandBack)
        while isValid, cp_monotonic_time() &- start < most { cp_sleep(1_000_000) }
    }

    /// Says that the caller starves; do so again within ``validity``. Returns what ``clear(_:)`` takes.
    func set() -> UInt64 {
        let time = UInt64(bitPattern: cp_monotonic_time())
        cp_relaxed_store64(word, time)
        return time
    }

    /// Leaves the mark of another thread.
    func clear(_ own: UInt64) { _ = cp_cas64(word, own, 0) }
}
