/// The result of migrating an archive's values.
public struct ArchiveMigration: Sendable, Hashable {
    /// Values stored again in the present version.
    public package(set) var migrated = 0
    /// Values that had the present version already.
    public package(set) var present = 0
    /// Values of a newer version than this program knows. They stay unchanged.
    public package(set) var newer = 0
    /// Values that can't be decoded, or are damaged. They stay unchanged.
    public package(set) var unreadable = 0
    /// Values that would exceed the disk limit in the present version. They stay unchanged.
    public package(set) var tooLarge = 0

    package init(migrated: Int = 0, present: Int = 0, newer: Int = 0, unreadable: Int = 0, tooLarge: Int = 0)
    {
        self.migrated = migrated
        self.present = present
        self.newer = newer
        self.unreadable = unreadable
        self.tooLarge = tooLarge
    }
}

extension ArchiveManager {
    /// Stores all values of former versions (``ArchiveVersions``) again in the present one. This doesn't count as a
    /// use: recency, times, lifetimes and owners stay. Values of former versions can always be read without this.
    /// Afterwards, reads need no migration, and queries need not decode such values.
    ///
    /// Each value is a separate change, and other changes may happen in between. If the process is killed, some values
    /// are migrated and others are not; the next call continues. Programs that don't know the version can't read
    /// migrated values.
    ///
    /// Costs the decoding of all values, and the storing of those that are migrated.
    /// - Returns: the number of migrated values, and of others by reason. Failures are also logged.
    /// - Throws: ``StorageError`` if the archive can't be used. Values that were migrated before stay migrated.
    @discardableResult
    public func migrateAll() throws -> ArchiveMigration {
        try handle.perform { core in
            var (names, outcome) = try core.beginMigration()
            try core.migrate(names[...], &outcome)
            return outcome
        }
    }
}

extension AsynchronousArchives {
    /// As ``ArchiveManager/migrateAll()``, for a background task: processes some hundred values at a time on a system
    /// thread. Throws `CancellationError` when its task is cancelled; values that were migrated before stay migrated.
    @discardableResult
    public nonisolated(nonsending) func migrateAll() async throws -> ArchiveMigration {
        var (all, outcome) = try await handle.elsewhere { try $0.beginMigration() }
        var names = all[...]
        while !names.isEmpty {
            try Task.checkCancellation()
            let (next, before) = (names.prefix(ArchiveCore<Object>.namesAtOnce), outcome)
            outcome = try await handle.elsewhere { core in
                var outcome = before
                try core.migrate(next, &outcome)
                return outcome
            }
            names = names.dropFirst(next.count)
        }
        return outcome
    }
}
