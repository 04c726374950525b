/// Removing an archive: its folder is renamed first to a name that no archive has. So the archive is there completely
/// or not at all, both for a process that opens it and after a crash. OnDiskFormat, "Folders".
extension Store {
    /// Removes an archive with all it holds. Other processes that have it open get `closed` from then on.
    /// - Throws: `readOnly`, `noSuchArchive`, `busy`, `system`.
    public func removeArchive(named name: String) throws(StorageError) {
        guard mode == .readWrite else { throw .readOnly(operation: "remove archive \"\(name)\"") }
        var attempts = 0
        while true {
            do throws(StorageError) {
                return try removeOnce(name)
            } catch {
                attempts += 1
                // Another process has removed it in the meantime, or removed it and created a new one.
                switch error {
                case .closed, .system(_, _, SystemCode.missing):
                    guard try hasArchive(name) else { throw .noSuchArchive(name: name, store: path) }
                    guard attempts < 10 else { throw error }
                default: throw error
                }
            }
        }
    }

    private func removeOnce(_ name: String) throws(StorageError) {
        let archive = try archive(named: name)
        defer { forget(archive) }
        // Keeps this process from creating it again in the meantime.
        try openedHere.value.turn(of: ExactText(name)).withLock { (_) throws(StorageError) in
            // Keeps other processes from opening it, which would then use removed files.
            let folderName = ArchiveName.folder(for: name)
            let turn = try OpeningTurn.take(in: folder.folder(named: folderName), archive: name)
            defer { turn.pass() }
            try archive.destroy { () throws(StorageError) in
                let gone = RemovedFolder.name()
                try folder.rename(folderName, to: gone)
                crashPoint(.archiveRenamed)
                try folder.removeTree(gone)
            }
        }
    }

    /// Bytes on disk of archives whose removal is under way or was cut short. The next process that opens the store for
    /// writing removes the rest. Costs a look at each of their files.
    public func bytesOfRemovedArchives() throws(StorageError) -> UInt64 {
        var bytes: UInt64 = 0
        for name in try folder.names() where RemovedFolder.isOne(name) {
            do throws(StorageError) {
                let removed = try folder.folder(named: name)
                for file in try removed.names() {
                    bytes += UInt64(try removed.status(ofEntry: file)?.allocatedBytes ?? 0)
                }
            } catch {
                // It was removed in the meantime.
                guard case .system(_, _, SystemCode.missing) = error else { throw error }
            }
        }
        return bytes
    }

    /// Removes what a killed removal left behind, as far as possible.
    static func dropRemovedFolders(in folder: FileDescriptor) {
        for name in (try? folder.names()) ?? [] where RemovedFolder.isOne(name) {
            try? folder.removeTree(name)
        }
    }
}

/// The folder of an archive that is being removed.
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
