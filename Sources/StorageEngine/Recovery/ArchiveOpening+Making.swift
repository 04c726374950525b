/// Making an archive, and taking that back.
extension ArchiveOpening {
    /// Makes an archive's folder with its descriptor; the index comes with the first opening. `false` when
    /// another made it first. When this throws there is no archive, or one that another made.
    static func create(in store: OpenFile, name: String, configuration: ArchiveConfiguration)
        throws(StorageError) -> Bool
    {
        let folderName = ArchiveName.folder(for: name)
        try store.makeFolder(named: folderName)
        crashPoint(.archiveFolderMade)
        let folder = try store.folder(named: folderName)
        let turn = try OpeningTurn.take(in: folder, archive: name)
        defer { turn.pass() }
        if try folder.hasEntry(named: Descriptor.fileName) { return false }
        let descriptor = Descriptor(
            identity: try RandomSource.bytes(16, for: folder.path),
            hashKey: try RandomSource.bytes(16, for: folder.path),
            created: Clock.wall(),
            name: name, configuration: configuration)
        do throws(StorageError) {
            try replaceDescriptor(descriptor, in: folder)
            if configuration.durability != .process { try synchronizeNames(of: folder) }
        } catch {
            removeUnused(folder)
            throw error
        }
        return true
    }

    /// Takes back the creation of an archive that could then not be opened (a full disk), unless it is in use:
    /// what stays is a folder without a descriptor, which is no archive and is used when one is made.
    static func undoCreation(in store: OpenFile, name: String) {
        guard let folder = try? store.folder(named: ArchiveName.folder(for: name)),
            let turn = try? OpeningTurn.take(in: folder, archive: name, nanoseconds: 0)
        else { return }
        defer { turn.pass() }
        if let attachment = try? folder.file(named: attachedName, writable: true) {
            guard let isFree = try? attachment.lock(.exclusive, wait: false), isFree else { return }
            defer { attachment.unlock() }
            removeUnused(folder)
        } else {
            removeUnused(folder)
        }
    }

    /// Removes descriptor and index of an archive that holds nothing and that nobody has open.
    private static func removeUnused(_ folder: OpenFile) {
        guard let names = try? folder.names(),
            !names.contains(where: { SegmentHeader.number(ofFileName: $0) != nil })
        else { return }
        for name in [Descriptor.fileName, Descriptor.spareName, indexName, newIndexName] {
            try? folder.unlink(name)
        }
    }

    /// Returns when an archive's files, its folder and its store can be found after a power loss.
    static func synchronizeNames(of folder: OpenFile) throws(StorageError) {
        try folder.synchronizeNames()
        let store = try folder.parentFolder()
        try store.synchronizeNames()
        do throws(StorageError) {
            try store.parentFolder().synchronizeNames()
        } catch {
            // A folder of others that this user may not open; whoever made the store's folder there could.
            guard case .permissionDenied = error else { throw error }
        }
    }
}
