import StorageEngine

/// What can be known of objects without making them.
extension ArchiveCore {
    func keys(_ prefix: String, _ owner: String?, after: String?, limit: Int) throws -> [String] {
        let query = KeyQuery(
            prefix: prefix, owner: owner, after: after, limit: limit < .max ? max(0, limit) : nil)
        return try archive.keys(query).keys
    }

    func owners() throws -> [ArchiveOwner] { try archive.owners().map { ArchiveOwner($0) } }

    /// How long the object of a key has still to live.
    func remainingLifetime(_ name: String) throws -> Duration? {
        guard let expires = try archive.metadata(name)?.expires else { return nil }
        return .microseconds(max(0, expires.microseconds - Timestamp.now().microseconds))
    }

    func touch(_ name: String, lifetime: Duration?) throws -> Bool {
        if let lifetime {
            guard try archive.setLifetime(lifetime, forKey: name) else {
                try archive.countMiss()
                return false
            }
        }
        let isInMemory = try withHashed(name) { try memory.access($0, named: name) != nil }
        guard try isInMemory || archive.touch(name) else { return false }
        if lifetime == nil { try slide(name) }
        return true
    }

    /// In an archive whose lifetimes slide, lets an object that was just used live on.
    func slide(_ name: String) throws {
        guard let sliding = shared.sliding, let left = try remainingLifetime(name), left < sliding.least
        else { return }
        try archive.setLifetime(sliding.granted, forKey: name)
    }
}

/// How lifetimes slide: what was used lives at least `least` from then on. Not every use is written down, so it is granted an
/// eighth more, and uses within that eighth count for nothing.
struct SlidingLifetime: Sendable, Hashable {
    let least: Duration

    var granted: Duration { least + least / 8 }
    /// Microseconds for which an object in memory need not be looked at.
    var pause: Int64 {
        let (seconds, attoseconds) = (least / 8).components
        guard seconds < 1 << 40 else { return .max / 2 }
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

/// What the objects of one owner come to.
public struct ArchiveOwner: Sendable, Hashable {
    /// `nil`: of those that have none.
    public var name: String?
    /// How many there are.
    public var objects: Int
    /// Bytes of the encoded objects.
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
