import StorageEngine

/// Keys, owners and lifetimes, without any object being made.
extension ArchiveManager {
    /// Keys in the order of their UTF-8 bytes, without reading any object and without a trace.
    ///
    /// Costs a look at every entry of the archive, some 100 ns each. Of an archive with more keys than should be in memory at
    /// once they come page by page: `after` is the last of the page before.
    ///
    /// - Parameters:
    ///   - prefix: what the keys begin with, byte by byte.
    ///   - owner: only of objects of this owner; `nil`: of any, and of none.
    ///   - after: only keys behind this one.
    ///   - limit: most keys to return; 0 and less: none.
    public func keys(
        withPrefix prefix: String = "", ofOwner owner: String? = nil, after: String? = nil,
        limitedBy limit: Int = .max
    ) -> [String] {
        attempt("list keys", else: []) { try $0.keys(prefix, owner, after: after, limit: limit) }
    }

    /// How many objects there are, in memory or on disk. Costs nothing to speak of.
    public var count: Int { attempt("count", else: 0) { try $0.archive.entryCount() } }

    /// Whether there is an object of this key. Leaves no trace. What only another process has in its memory is none.
    public func contains(archiveWithKey key: String) -> Bool {
        attempt("look up", key, else: false) { try $0.contains(key) }
    }

    /// What the objects of each owner come to, those without one included, most bytes first. Leaves no trace. Costs a look at every
    /// entry, some 100 ns each.
    public func owners() -> [ArchiveOwner] { attempt("list owners", else: []) { try $0.owners() } }

    /// How long the object of this key has still to live, right within some milliseconds; `nil` if it lives on, or isn't there. Leaves no trace.
    public func remainingLifetime(for key: String) -> Duration? {
        attempt("look up", key, else: nil) { try $0.remainingLifetime(key) }
    }

    /// Makes the object of this key the most recent in both tiers and counts a hit, without reading it; `false`, counted as a miss,
    /// if there is none.
    @discardableResult
    public func touch(archiveWithKey key: String) -> Bool {
        attempt("touch", key, else: false) { try $0.touch(key, lifetime: nil) }
    }

    /// As ``touch(archiveWithKey:)``, and the object lives as long as this from now on. It isn't stored anew for it.
    @discardableResult
    public func touch(archiveWithKey key: String, expiresIn lifetime: Duration) -> Bool {
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

    /// As ``ArchiveManager/touch(archiveWithKey:)``, or with a lifetime as ``ArchiveManager/touch(archiveWithKey:expiresIn:)``.
    @discardableResult
    public func touch(archiveWithKey key: String, expiresIn lifetime: Duration? = nil) throws -> Bool {
        try handle.perform { try $0.touch(key, lifetime: lifetime) }
    }
}

extension AsynchronousArchives {
    /// As ``ArchiveManager/keys(withPrefix:ofOwner:after:limitedBy:)``.
    public nonisolated(nonsending) func keys(
        withPrefix prefix: String = "", ofOwner owner: String? = nil, after: String? = nil,
        limitedBy limit: Int = .max
    ) async throws -> [String] {
        try await handle.elsewhere { try $0.keys(prefix, owner, after: after, limit: limit) }
    }

    /// As ``ArchiveManager/count``.
    public nonisolated(nonsending) func count() async throws -> Int {
        try await handle.elsewhere { try $0.archive.entryCount() }
    }

    /// As ``ArchiveManager/contains(archiveWithKey:)``.
    public nonisolated(nonsending) func contains(archiveWithKey key: String) async throws -> Bool {
        try await handle.elsewhere { try $0.contains(key) }
    }

    /// As ``ArchiveManager/owners()``.
    public nonisolated(nonsending) func owners() async throws -> [ArchiveOwner] {
        try await handle.elsewhere { try $0.owners() }
    }

    /// As ``ArchiveManager/remainingLifetime(for:)``.
    public nonisolated(nonsending) func remainingLifetime(for key: String) async throws -> Duration? {
        try await handle.elsewhere { try $0.remainingLifetime(key) }
    }

    /// As ``ThrowingArchives/touch(archiveWithKey:expiresIn:)``.
    @discardableResult
    public nonisolated(nonsending) func touch(
        archiveWithKey key: String, expiresIn lifetime: Duration? = nil
    ) async throws -> Bool {
        try await handle.elsewhere { try $0.touch(key, lifetime: lifetime) }
    }
}
