import StorageEngine

extension ArchiveCore {
    func keys(_ prefix: String, _ owner: String?, after: String?, limit: Int) throws -> [String] {
        let query = KeyQuery(
            prefix: prefix, owner: owner, after: after, limit: limit < .max ? max(0, limit) : nil)
        return try archive.keys(query).keys
    }

    func owners() throws -> [ArchiveOwner] { try archive.owners().map { ArchiveOwner($0) } }

    func remainingLifetime(_ name: String) throws -> Duration? {
        guard let expires = try archive.metadata(name)?.expires else { return nil }
        return .microseconds(max(0, expires.microseconds - Timestamp.now().microseconds))
    }

    func touch(_ name: String, lifetime: Duration?) throws -> Bool {
        if let lifetime {
            guard try archive.setLifetime(lifetime, forKey: name) else {
                try withHashed(name) { try archive.countMiss(of: $0) }
                return false
            }
            // Only an access that reads it from disk renews it.
            if let sliding = shared.sliding, lifetime < sliding.least {
                try withHashed(name) { try memory.leave($0, named: name) }
            }
        }
        let isInMemory = try withHashed(name) { try memory.access($0, named: name) != nil }
        guard try isInMemory || archive.touch(name) else { return false }
        if lifetime == nil { try slide(name) }
        return true
    }

    func slide(_ name: String) throws {
        guard let sliding = shared.sliding, let left = try remainingLifetime(name), left < sliding.least
        else { return }
        try archive.setLifetime(sliding.granted, forKey: name)
    }

    /// Like ``slide(_:)``, for objects in memory only. Objects that are also on disk leave memory in time for a renewal.
    func slideOnlyHere(_ name: String) throws {
        guard memory.hasObjectsOnlyHere,
            try withHashed(name, { try memory.peekOnlyHere($0, named: name) }) != nil
        else { return }
        try slide(name)
    }
}

/// A sliding lifetime: an access grants `least` and an eighth more, so accesses within that eighth need no write.
struct SlidingLifetime: Sendable, Hashable {
    let least: Duration

    var granted: Duration { least + least / 8 }
    /// Microseconds for which accesses in memory need no check. `lifetime`: the remaining lifetime; `nil`: ``granted``.
    func pause(of lifetime: Duration?) -> Int64 {
        if let lifetime, lifetime < granted { return 0 }
        let (seconds, attoseconds) = (least / 8).components
        // A negative lifetime has passed: no pause.
        guard seconds >= 0 else { return 0 }
        guard seconds < 1 << 40 else { return .max / 2 }
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

/// The totals of one owner's objects.
public struct ArchiveOwner: Sendable, Hashable {
    /// The owner's name; `nil` for objects without an owner.
    public var name: String?
    /// The number of objects.
    public var objects: Int
    /// Size of the encoded objects, in bytes.
    public var bytes: Int
    /// Accesses of these objects since each was recorded.
    public var hits: Int

    init(_ summary: OwnerSummary) {
        name = summary.owner
        objects = summary.entries
        bytes = Int(clamping: summary.bytes)
        hits = Int(clamping: summary.hits)
    }
}
