/// Copying one archive under another name.
extension Store {
    /// Writes a copy of an archive, as it is at one moment, into a new archive of this or another store: values, encodings,
    /// deadlines, owners, times, hits, the order of use, kind, limits and type; of a log its messages. Not in it are events,
    /// what can be undone, and what only the memory of a process holds. Others use the archive meanwhile.
    ///
    /// - Parameters:
    ///   - target: a store that is open for writing.
    ///   - progress: called now and then; the copy ends, and goes, when it gives `false`.
    /// - Returns: what was copied, and a line for each entry that was damaged and is left out; `nil` when `progress` ended it.
    /// - Throws: `noSuchArchive`; `invalidArchiveName`, also where the target has an archive of that name.
    public func copyArchive(
        named name: String, to target: Store, as newName: String,
        progress: (BackupProgress) -> Bool = { _ in true }
    ) throws(StorageError) -> BackupReport? {
        try ArchiveName.validate(newName)
        guard try !target.hasArchive(newName) else {
            throw .invalidArchiveName(reason: "there is an archive \"\(newName)\" in \(target.path) already")
        }
        var report = BackupReport()
        let isDone: Bool
        do throws(StorageError) {
            isDone = try withArchive(named: name) { (archive) throws(StorageError) in
                try copy(archive, to: target, as: newName, &report, progress)
            }
        } catch {
            if try target.hasArchive(newName) { try target.removeArchive(named: newName) }
            throw error
        }
        guard isDone else {
            try target.removeArchive(named: newName)
            return nil
        }
        return report
    }
}
