extension ArchiveOpening {
    enum Creation {
        case existed
        /// `inNewFolder`: the folder is new, or its creator is still running. Otherwise an archive in the folder lost its files.
        case made(inNewFolder: Bool)
    }

    /// Creates a folder with a descriptor, without an index. An error reverts it, unless another process created the archive.
    static func create(in store: FileDescriptor, name: String, configuration: ArchiveConfiguration)
        throws(StorageError) -> Creation
    {
        // The folder's failed creator may have removed it after it was opened here, or it belonged to a removed archive.
        try StorageError.retrying(100, while: { $0.isRemoval }) { () throws(StorageError) in
            try createOnce(in: store, name: name, configuration: configuration)
        }
    }

    private static func createOnce(
        in store: FileDescriptor, name: String, configuration: ArchiveConfiguration
    ) throws(StorageError) -> Creation {
        let folderName = ArchiveName.folder(for: name)
        var isNew = try store.makeFolder(named: folderName)
        crashPoint(.archiveFolderMade)
        // Fails if the folder isn't empty, which is intended.
        let removeNew = { if isNew { try? store.unlink(folderName, isFolder: true) } }
        return try StorageError.rethrowing(after: removeNew) { () throws(StorageError) in
            let folder = try store.folder(named: folderName)
            // Another process is creating the archive. If both fail, the last one removes the folder.
            if !isNew { isNew = try folder.hasEntry(named: OpenLock.fileName) }
            let openLock = try OpenLock.take(in: folder, archive: name)
            defer { openLock.release() }
            if try folder.hasEntry(named: Descriptor.fileName) { return .existed }
            try StorageError.rethrowing(after: { removeUnused(folder) }) { () throws(StorageError) in
                try describe(folder, name, configuration)
            }
            return .made(inNewFolder: isNew)
        }
    }

    private static func describe(
        _ folder: FileDescriptor, _ name: String, _ configuration: ArchiveConfiguration
    ) throws(StorageError) {
        let descriptor = Descriptor(
            identity: try RandomSource.bytes(16, for: folder.path),
            hashKey: try RandomSource.bytes(16, for: folder.path), created: Clock.wall(), name: name,
            configuration: configuration)
        try replaceDescriptor(descriptor, in: folder)
        if configuration.durability != .process { try synchronizeNames(of: folder) }
    }

    /// Reverts an archive's creation, unless it is in use. At worst leaves an empty archive, or a folder without a descriptor.
    static func undo(_ creation: Creation, in store: FileDescriptor, name: String) {
        guard case .made(let isNewFolder) = creation else { return }
        do throws(StorageError) {
            let folderName = ArchiveName.folder(for: name)
            try removeUnlessUsed(store.folder(named: folderName), name)
            if isNewFolder { try store.unlink(folderName, isFolder: true) }
        } catch {}
    }

    private static func removeUnlessUsed(_ folder: FileDescriptor, _ name: String) throws(StorageError) {
        let openLock = try OpenLock.take(
            in: folder, archive: name, nanoseconds: FileDescriptor.startNanoseconds)
        defer { openLock.release() }
        guard let attachment = try folder.fileIfPresent(named: ArchiveFile.attached, writable: true) else {
            return removeUnused(folder)
        }
        guard try attachment.lock(.exclusive, within: FileDescriptor.startNanoseconds) else { return }
        defer { attachment.unlock() }
        removeUnused(folder)
    }

    /// Removes the files of an empty, unused archive, first the descriptor, last the file of the required open lock.
    private static func removeUnused(_ folder: FileDescriptor) {
        do throws(StorageError) {
            let names = try folder.names()
            guard !names.contains(where: { SegmentHeader.number(ofFileName: $0) != nil }) else { return }
            let own = [
                Descriptor.fileName, Descriptor.spareName, ArchiveFile.index, ArchiveFile.newIndex,
                ArchiveFile.lock, ArchiveFile.requests, ArchiveFile.newRequests, Syncing.lockName,
                RemovalReserve.fileName, ArchiveFile.attached, OpenLock.fileName,
            ]
            for name in own { try folder.unlink(name) }
        } catch {}
    }

    /// Returns when the names of an archive's files, its folder and its store would survive a power loss.
    static func synchronizeNames(of folder: FileDescriptor) throws(StorageError) {
        for above in try folder.foldersToFind { try above.synchronizeNames() }
    }
}
