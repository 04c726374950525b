extension ArchiveManager {
    /// Stores all values of former versions (``ArchiveVersions``) again in the present one. This doesn't count as an
    /// access: recency, times, lifetimes and owners stay. Values of former versions can always be read without this.
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
        var (all, outcome) = try await handle.blocking { try $0.beginMigration() }
        var names = all[...]
        while !names.isEmpty {
            try Task.checkCancellation()
            let (next, before) = (names.prefix(ArchiveCore<Object>.namesAtOnce), outcome)
            outcome = try await handle.blocking { core in
                var outcome = before
                try core.migrate(next, &outcome)
                return outcome
            }
            names = names.dropFirst(next.count)
        }
        return outcome
    }
}
