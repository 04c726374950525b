/// Copies one archive under another name: first into a separate store inside the target, then by a rename. So a copy is complete
/// or absent, and of two copies under one name the second is refused. OnDiskFormat, "Folders".
extension Store {
    /// Copies an archive, as of one moment, to a new archive of this or another store: values, encodings, expiry times, owners,
    /// times, hits, recency, kind, limits and type, or the messages of a log. Doesn't copy events, actions that can be undone,
    /// and memory-only entries. Other processes can use the archive at the same time.
    ///
    /// - Parameters:
    ///   - name: of the archive to copy.
    ///   - target: a store that is open for writing.
    ///   - newName: of the copy.
    ///   - progress: called now and then; return `false` to stop, which removes the copy.
    /// - Returns: a report that names damaged entries, which were left out; `nil` if `progress` stopped it.
    /// - Throws: `noSuchArchive`; `invalidArchiveName`, also if the target has an archive with this name; `readOnly`,
    ///   `noSpace` and what reading throws.
    public func copyArchive(
        named name: String, to target: Store, as newName: String,
        progress: (BackupProgress) -> Bool = { _ in true }
    ) throws(StorageError) -> BackupReport? {
        try copyVersion(ofArchive: name, to: target, as: newName, progress: progress)?.report
    }

    /// Like ``copyArchive(named:to:as:progress:)``, with the version that ``removeArchive(named:ifStill:)`` needs for a move.
    package func copyVersion(
        ofArchive name: String, to target: Store, as newName: String, progress: (BackupProgress) -> Bool
    ) throws(StorageError) -> (report: BackupReport, version: ArchiveVersion)? {
        try ArchiveName.validate(new: newName)
        guard target.mode == .readWrite else { throw .readOnly(operation: "copy to \"\(newName)\"") }
        let isTaken = try target.hasArchive(newName)
        guard !isTaken else { throw target.isTaken(newName) }
        try target.requireFree(ArchiveName.folder(for: newName))
        let place = try ScratchFolder(in: target.folder)
        defer { place.remove() }
        var report = BackupReport()
        // Identifies the folder by its open descriptor: another store may have taken the path since.
        let copies = try Store.make(in: place.folder)
        let version: ArchiveVersion?
        do {
            defer { copies.close() }
            version = try withArchive(named: name) { (archive) throws(StorageError) in
                let version = try archive.version()
                return try copy(archive, to: copies, as: newName, &report, progress) ? version : nil
            }
        }
        guard let version else { return nil }
        let folderName = ArchiveName.folder(for: newName)
        guard try place.moveOut(folderName) else { throw target.isTaken(newName) }
        return (report, version)
    }

    private func requireFree(_ folderName: String) throws(StorageError) {
        guard let status = try folder.status(ofEntry: folderName) else { return }
        if status.isFolder, try folder.folder(named: folderName).names().isEmpty { return }
        throw .corrupted(
            path: path + "/" + folderName, offset: 0,
            reason: "it isn't an archive; run check --repair, or remove it")
    }

    private func isTaken(_ name: String) -> StorageError {
        .invalidArchiveName(reason: "archive \"\(name)\" already exists in \(path)")
    }
}

/// A folder named like a removed archive: the next process that opens the store removes it, unless this object holds its lock.
private struct ScratchFolder {
    let folder: FileDescriptor
    private let store: FileDescriptor
    private let name: String

    init(in store: FileDescriptor) throws(StorageError) {
        while true {
            let name = RemovedFolder.name()
            guard try store.makeFolder(named: name) else { continue }
            let folder = try store.folder(named: name)
            // Another process may have removed the folder before it was locked.
            guard try folder.lock(.exclusive, wait: false),
                try store.status(ofEntry: name)?.number == folder.status().number
            else { continue }
            (self.folder, self.store, self.name) = (folder, store, name)
            return
        }
    }

    /// Moves a folder from this scratch folder to the store. Returns `false` if the store has a non-empty folder of that name.
    func moveOut(_ inside: String) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try store.rename(name + "/" + inside, to: inside)
        } catch {
            switch error {
            case .system(_, _, SystemCode.notEmpty), .system(_, _, SystemCode.exists): return false
            default: throw error
            }
        }
        try store.synchronizeNames()
        return true
    }

    func remove() { try? store.removeTree(name) }
}
