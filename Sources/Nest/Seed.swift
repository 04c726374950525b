/// An item in memory with its deadline. Guarded by the lock of the nest that it is in, but for what never changes.
final class Seed {
    let key: String
    let item: Any
    /// When it goes from memory, in nanoseconds of ``NestClock``; `Int64.max`: never.
    let deadline: Int64
    /// What it is on disk; `nil`: it is in memory only.
    let stored: StoredMark?
    /// Its time on disk is over, and it went from there by itself. Guarded by the nest's lock.
    var hasLeftDisk = false
    /// Why it is not on disk although that was asked for.
    let problem: String?

    /// The bucket that it waits in, and its neighbours there. The table keeps them alive, and takes a seed out of its bucket
    /// before it lets it go.
    var bucket: Int64?
    unowned(unsafe) var next: Seed?
    unowned(unsafe) var previous: Seed?

    init(key: String, item: Any, deadline: Int64, stored: StoredMark?, problem: String? = nil) {
        self.key = key
        self.item = item
        self.deadline = deadline
        self.stored = stored
        self.problem = problem
    }
}

/// Which entry on disk an item is a copy of.
struct StoredMark {
    /// Number of the operation that stored it.
    let sequence: UInt64
    /// When it goes from disk, in nanoseconds of ``NestClock``; `Int64.max`: never.
    let deadline: Int64
}

/// Nanoseconds since this process began to ask. Goes on while the machine sleeps, and nobody can set it.
enum NestClock {
    private static let start = ContinuousClock.now

    static func now() -> Int64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The moment `seconds` after `now`; never for what is beyond some centuries.
    static func moment(_ seconds: Double, after now: Int64) -> Int64 {
        guard seconds > 0 else { return now }
        guard seconds < 4e9 else { return .max }
        return now + Int64(seconds * 1e9)
    }
}
