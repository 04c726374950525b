/// Making an archive, and taking that back.
extension ArchiveOpening {
    /// What making an archive came to.
    enum Creation {
        /// Another made it first.
        case existed
        /// `inNewFolder`: nobody had made it before, or whoever did is still at it; else the folder was there, empty, as what
        /// is left of an archive that lost its files.
        case made(inNewFolder: Bool)
    }

    /// Makes an archive's folder with its descriptor; the index comes with the first opening. When this throws there is
    /// no archive, or one that another made, and nothing is left of what was begun, as far as it can be removed.
    static func create(in store: OpenFile, name: String, configuration: ArchiveConfiguration)
        throws(StorageError) -> Creation
    {
        var attempts = 0
        while true {
            attempts += 1
            do throws(StorageError) {
                return try createOnce(in: store, name: name, configuration: configuration)
            } catch {
                // Whoever failed to make it may have removed the folder just when this one had come into it, or it was an
                // archive that was just removed.
                switch error {
                case .closed, .system(_, _, SystemCode.missing): if attempts >= 100 { throw error }
                default: throw error
                }
            }
        }
    }

    private static func createOnce(
        in store: OpenFile, name: String, configuration: ArchiveConfiguration
    ) throws(StorageError) -> Creation {
        let folderName = ArchiveName.folder(for: name)
        var isNew = try store.makeFolder(named: folderName)
        crashPoint(.archiveFolderMade)
        do throws(StorageError) {
            let folder = try store.folder(named: folderName)
            // One that another is just making. If both fail, the last removes it.
            if !isNew { isNew = try folder.hasEntry(named: OpeningTurn.fileName) }
            let turn = try OpeningTurn.take(in: folder, archive: name)
            defer { turn.pass() }
            if try folder.hasEntry(named: Descriptor.fileName) { return .existed }
            do throws(StorageError) {
                try describe(folder, name, configuration)
            } catch {
                removeUnused(folder)
                throw error
            }
            return .made(inNewFolder: isNew)
        } catch {
            // Not where there is anything in it.
            if isNew { try? store.unlink(folderName, isFolder: true) }
            throw error
        }
    }

    private static func describe(
        _ folder: OpenFile, _ name: String, _ configuration: ArchiveConfiguration
    ) throws(StorageError) {
        let descriptor = Descriptor(
            identity: try RandomSource.bytes(16, for: folder.path),
            hashKey: try RandomSource.bytes(16, for: folder.path),
            created: Clock.wall(),
            name: name, configuration: configuration)
        try replaceDescriptor(descriptor, in: folder)
        if configuration.durability != .process { try synchronizeNames(of: folder) }
    }

    /// Takes back the creation of an archive that could then not be opened (a full disk), unless it is in use. What can't
    /// be removed just now stays: an archive that is empty, or a folder without a descriptor, which is none.
    static func undo(_ creation: Creation, in store: OpenFile, name: String) {
        guard case .made(let isNewFolder) = creation else { return }
        do throws(StorageError) {
            let folderName = ArchiveName.folder(for: name)
            try removeUnlessUsed(store.folder(named: folderName), name)
            // Not where there is anything in it.
            if isNewFolder { try store.unlink(folderName, isFolder: true) }
        } catch {}
    }

    private static func removeUnlessUsed(_ folder: OpenFile, _ name: String) throws(StorageError) {
        let turn = try OpeningTurn.take(in: folder, archive: name, nanoseconds: OpenFile.startNanoseconds)
        defer { turn.pass() }
        guard let attachment = try folder.fileIfPresent(named: attachedName, writable: true) else {
            return removeUnused(folder)
        }
        guard try attachment.lock(.exclusive, within: OpenFile.startNanoseconds) else { return }
        defer { attachment.unlock() }
        removeUnused(folder)
    }

    /// Removes the files of an archive that holds nothing and that nobody has open, the descriptor first: without it
    /// there is no archive. Needs the turn to open, whose file goes last.
    private static func removeUnused(_ folder: OpenFile) {
        do throws(StorageError) {
            let names = try folder.names()
            guard !names.contains(where: { SegmentHeader.number(ofFileName: $0) != nil }) else { return }
            let own = [
                Descriptor.fileName, Descriptor.spareName, indexName, newIndexName, lockName,
                Syncing.lockName,
                attachedName, OpeningTurn.fileName,
            ]
            for name in own { try folder.unlink(name) }
        } catch {}
    }

    /// Returns when an archive's files, its folder and its store can be found after a power loss.
    static func synchronizeNames(of folder: OpenFile) throws(StorageError) {
        for above in try foldersToFind(folder) { try above.synchronizeNames() }
    }

    /// The folders whose names lead to an archive's files: its own, its store's, and the one that the store is in.
    static func foldersToFind(_ folder: OpenFile) throws(StorageError) -> [OpenFile] {
        let store = try folder.parentFolder()
        do throws(StorageError) {
            return try [folder, store, store.parentFolder()]
        } catch {
            // A folder of others that this user may not open; whoever made the store's folder there could.
            guard case .permissionDenied = error else { throw error }
            return [folder, store]
        }
    }
}
