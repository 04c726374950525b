/// What became of an archive's values by a migration.
public struct ArchiveMigration: Sendable, Hashable {
    /// Stored anew in the present version.
    public package(set) var migrated = 0
    /// Those that were of the present version.
    public package(set) var present = 0
    /// Those that are of a version which this program doesn't know yet, and stay as they are.
    public package(set) var newer = 0
    /// Those that are no objects any more, or damaged, and stay as they are.
    public package(set) var unreadable = 0
    /// Those that are larger than the disk limit in the present version, and stay as they are.
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
    /// Stores what is of a former version (``ArchiveVersions``) anew in the present one, all over the archive. That is no use of an
    /// object: its place among the most recent, its times, its lifetimes and its owner stay. Nothing has to be migrated to be read;
    /// after this nothing has to be migrated each time that it is read from disk, and a query need not make objects of it.
    ///
    /// Each value is one change of its own, which others may come before. A process that is killed leaves some migrated and others
    /// not, and the next call goes on with these. Programs that don't know the version can't read what is migrated.
    ///
    /// Costs the decoding of all, and what storing costs for those that are migrated.
    /// - Returns: what became of the values; what could not be migrated is logged as well.
    /// - Throws: ``StorageError`` when the archive can't be used; what was migrated by then is.
    @discardableResult
    public func migrateAll() throws -> ArchiveMigration { try throwing.migrateAll() }
}

extension ThrowingArchives {
    /// As ``ArchiveManager/migrateAll()``.
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
    /// As ``ArchiveManager/migrateAll()``, some hundred at a time on a thread of the system's: for a task in the background. Ends
    /// with `CancellationError` when its task is cancelled; what was migrated by then is.
    @discardableResult
    public nonisolated(nonsending) func migrateAll() async throws -> ArchiveMigration {
        var (all, outcome) = try await handle.elsewhere { try $0.beginMigration() }
        var names = all[...]
        while !names.isEmpty {
            try Task.checkCancellation()
            let (next, before) = (names.prefix(ArchiveCore<Archive>.namesAtOnce), outcome)
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
