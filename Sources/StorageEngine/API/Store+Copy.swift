/// Copying one archive under another name.
extension Store {
    /// Copies an archive, as of one moment, to a new archive of this or another store: values, encodings, deadlines, owners,
    /// times, hits, the order of use, kind, limits and type, or the messages of a log. Doesn't copy events, actions that can
    /// be undone, and entries that only a process' memory holds. Other processes can use the archive in the meantime.
    ///
    /// - Parameters:
    ///   - target: a store that is open for writing.
    ///   - progress: called now and then; return `false` to stop, which removes the copy.
    /// - Returns: what was copied, and a line for each damaged entry that was left out; `nil` if `progress` stopped it.
    /// - Throws: `noSuchArchive`; `invalidArchiveName`, also if the target has an archive with this name.
    public func copyArchive(
        named name: String, to target: Store, as newName: String,
        progress: (BackupProgress) -> Bool = { _ in true }
    ) throws(StorageError) -> BackupReport? {
        try ArchiveName.validate(newName)
        let isTaken = try target.hasArchive(newName)
        guard !isTaken else {
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
