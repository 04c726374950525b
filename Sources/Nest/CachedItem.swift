/// An item in memory with its expiry time. Mutable state is guarded by the lock of its nest.
final class CachedItem {
    let key: String
    let item: Any
    /// When the item leaves memory, in nanoseconds of ``NestClock``; `Int64.max` for never.
    let expiry: Int64
    /// The item's entry on disk; `nil` if the item is in memory only.
    let stored: StoredMark?
    /// If the entry on disk expired: no event before this number replaced it. Guarded by the nest's lock.
    var leftDiskBefore: UInt64?
    /// Why the item isn't on disk although that was requested.
    let problem: String?

    /// The item's bucket, and its neighbors in the bucket. The table keeps items alive, and unlinks an item before it releases it.
    var bucket: Int64?
    unowned(unsafe) var next: CachedItem?
    unowned(unsafe) var previous: CachedItem?

    init(key: String, item: Any, expiry: Int64, stored: StoredMark?, problem: String? = nil) {
        self.key = key
        self.item = item
        self.expiry = expiry
        self.stored = stored
        self.problem = problem
    }
}

struct StoredMark {
    let sequence: UInt64
    /// When the entry expires, in nanoseconds of ``NestClock``; `Int64.max` for never.
    let expiry: Int64
    /// The number that the archive's next event had before the entry was stored or found.
    let firstEvent: UInt64
    /// Whether this nest stored the entry: then the key's first event from `firstEvent` on reports it.
    let isOwn: Bool
}

/// Nanoseconds since the first use in this process. The clock continues while the machine sleeps, and can't be set.
enum NestClock {
    private static let start = ContinuousClock.now

    static func now() -> Int64 {
        let (seconds, attoseconds) = start.duration(to: .now).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// The moment `seconds` after `now`; `Int64.max` for more than a century.
    static func moment(_ seconds: Double, after now: Int64) -> Int64 {
        guard seconds > 0 else { return now }
        guard seconds < 4e9 else { return .max }
        return now + Int64(seconds * 1e9)
    }
}
