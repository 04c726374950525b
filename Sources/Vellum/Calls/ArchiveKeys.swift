extension ArchiveManager {
    /// The keys in the order of their UTF-8 bytes. Reads no objects, and doesn't count as an access. Visits every entry
    /// of the archive, at some 100 ns each. If an archive has too many keys to hold in memory, read them in pages: pass
    /// the last key of a page as `after` for the next.
    ///
    /// - Parameters:
    ///   - prefix: only keys that begin with these bytes.
    ///   - owner: only keys of this owner's objects; `nil`: all keys.
    ///   - after: only keys after this one.
    ///   - limit: the maximum number of keys; none if it isn't positive.
    public func keys(
        withPrefix prefix: String = "", ofOwner owner: String? = nil, after: String? = nil,
        limitedBy limit: Int = .max
    ) -> [String] {
        attempt("list keys", else: []) { try $0.keys(prefix, owner, after: after, limit: limit) }
    }

    /// The number of objects, in memory or on disk. Very cheap.
    public var count: Int { attempt("count", else: 0) { try $0.archive.entryCount() } }

    /// Whether there is an object with this key that isn't only in another process's memory. Doesn't count as an access.
    public func contains(archiveWithKey key: String) -> Bool {
        attempt("look up", key, else: false) { try $0.contains(key) }
    }

    /// The totals of each owner's objects, and of those without an owner, the largest in bytes first. Doesn't count as
    /// an access. Visits every entry, at some 100 ns each.
    public func owners() -> [ArchiveOwner] { attempt("list owners", else: []) { try $0.owners() } }

    /// The remaining lifetime of the object with this key, to within some milliseconds; `nil` if it has none or is
    /// absent. Doesn't count as an access.
    public func remainingLifetime(for key: String) -> Duration? {
        attempt("look up", key, else: nil) { try $0.remainingLifetime(key) }
    }

    /// Makes the object with this key the most recent in both tiers and counts a hit, without reading it. With a
    /// lifetime, which counts from now, also sets the object's; the object isn't stored again. Returns `false`, counted
    /// as a miss, if absent.
    @discardableResult
    public func touch(archiveWithKey key: String, expiresIn lifetime: Duration? = nil) -> Bool {
        attempt("touch", key, else: false) { try $0.touch(key, lifetime: lifetime) }
    }
}

extension ThrowingArchives {
    /// As ``ArchiveManager/keys(withPrefix:ofOwner:after:limitedBy:)``.
    public func keys(
        withPrefix prefix: String = "", ofOwner owner: String? = nil, after: String? = nil,
        limitedBy limit: Int = .max
    ) throws -> [String] {
        try handle.perform { try $0.keys(prefix, owner, after: after, limit: limit) }
    }

    /// As ``ArchiveManager/count``.
    public func count() throws -> Int { try handle.perform { try $0.archive.entryCount() } }

    /// As ``ArchiveManager/contains(archiveWithKey:)``.
    public func contains(archiveWithKey key: String) throws -> Bool {
        try handle.perform { try $0.contains(key) }
    }

    /// As ``ArchiveManager/owners()``.
    public func owners() throws -> [ArchiveOwner] { try handle.perform { try $0.owners() } }

    /// As ``ArchiveManager/remainingLifetime(for:)``.
    public func remainingLifetime(for key: String) throws -> Duration? {
        try handle.perform { try $0.remainingLifetime(key) }
    }

    /// As ``ArchiveManager/touch(archiveWithKey:expiresIn:)``.
    @discardableResult
    public func touch(archiveWithKey key: String, expiresIn lifetime: Duration? = nil) throws -> Bool {
        try handle.perform { try $0.touch(key, lifetime: lifetime) }
    }
}
