/// Removal first renames the folder to a name that no archive has: all or nothing, also after a crash. OnDiskFormat, "Folders".
extension Store {
    /// Removes an archive with its content. Other processes that have it open get `closed` from then on.
    /// - Throws: `readOnly`, `noSuchArchive`, `busy`, `system`.
    public func removeArchive(named name: String) throws(StorageError) {
        _ = try removeArchive(named: name, ifStill: nil)
    }

    package func removeArchive(named name: String, ifStill old: ArchiveVersion?) throws(StorageError) -> Bool
    {
        guard mode == .readWrite else { throw .readOnly(operation: "remove archive \"\(name)\"") }
        func isAnother(_ error: StorageError) throws(StorageError) -> Bool {
            // Another process has removed the archive in the meantime, or removed it and created a new one.
            guard error.isRemoval else { return false }
            guard try hasArchive(name) else { throw .noSuchArchive(name: name, store: path) }
            return true
        }
        return try StorageError.retrying(10, while: isAnother) { () throws(StorageError) in
            try removeOnce(name, ifStill: old)
        }
    }

    private func removeOnce(_ name: String, ifStill old: ArchiveVersion?) throws(StorageError) -> Bool {
        let archive = try archive(named: name)
        var isRemoved = true
        // Runs also if the removal failed halfway.
        defer { if isRemoved { forget(archive) } }
        // Keeps this process from creating the archive again in the meantime.
        isRemoved = try openedHere.value.openingLock(of: ExactText(name)).withLock {
            (_) throws(StorageError) in
            // Keeps other processes from opening the archive: they would use removed files.
            let folderName = ArchiveName.folder(for: name)
            let openLock = try OpenLock.take(in: folder.folder(named: folderName), archive: name)
            defer { openLock.release() }
            return try archive.destroy(ifStill: old) { () throws(StorageError) in
                let scratchName = RemovedFolder.name()
                try folder.rename(folderName, to: scratchName)
                crashPoint(.archiveRenamed)
                try folder.removeTree(scratchName)
            }
        }
        return isRemoved
    }

    /// Disk usage in bytes of archives whose removal, and of copies whose creation, was interrupted or is in progress. The next
    /// process that opens the store for writing removes the rest. Reads the status of each of their files.
    public func bytesOfRemovedArchives() throws(StorageError) -> UInt64 {
        var bytes: UInt64 = 0
        for name in try folder.names() where RemovedFolder.isOne(name) {
            bytes += try bytesOnDisk(in: folder, name)
        }
        return bytes
    }

    private func bytesOnDisk(in above: FileDescriptor, _ name: String) throws(StorageError) -> UInt64 {
        try StorageError.ignoring(\.isMissing) { () throws(StorageError) in
            guard let status = try above.status(ofEntry: name) else { return 0 }
            guard status.isFolder else { return UInt64(status.allocatedBytes) }
            let inside = try above.folder(named: name)
            var bytes: UInt64 = 0
            for file in try inside.names() { bytes += try bytesOnDisk(in: inside, file) }
            return bytes
        } ?? 0
    }

    static func dropRemovedFolders(in folder: FileDescriptor) {
        for name in (try? folder.names()) ?? [] where RemovedFolder.isOne(name) {
            // A copy that is being created holds the lock.
            guard let left = try? folder.folder(named: name),
                (try? left.lock(.exclusive, wait: false)) == true
            else { continue }
            try? folder.removeTree(name)
        }
    }
}

/// The folder of an archive that is being removed, or in which one is being created.
enum RemovedFolder {
    private static let suffix = ".removed"
    private static let digits = 16

    static func name() -> String { UInt64.random(in: .min ... .max).hexadecimal + suffix }

    static func isOne(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count == digits + suffix.utf8.count && name.hasSuffix(suffix)
            && bytes.prefix(digits).allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }
}
