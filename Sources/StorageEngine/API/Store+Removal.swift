/// Removing an archive: its folder first gets a name that is no archive's, so that it is there as a whole or not at all, for
/// who opens it as for who comes after a crash. OnDiskFormat, "Folders".
extension Store {
    /// Removes an archive with all it holds. Other processes that have it open get `closed` from then on.
    public func removeArchive(named name: String) throws(StorageError) {
        guard mode == .readWrite else { throw .readOnly(operation: "remove archive \"\(name)\"") }
        var attempts = 0
        while true {
            do throws(StorageError) {
                return try removeOnce(name)
            } catch {
                attempts += 1
                // Another has removed it meanwhile, or has made it anew since.
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
        // Nobody makes it anew meanwhile.
        try openedHere.value.turn(of: ExactText(name)).withLock { (_) throws(StorageError) in
            // And nobody opens it, who would go on in what is removed.
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

    /// Bytes on disk of archives whose removal is under way, or was cut short: whoever opens the store for writing removes
    /// the rest. Costs looking at each file of these.
    public func bytesOfRemovedArchives() throws(StorageError) -> UInt64 {
        var bytes: UInt64 = 0
        for name in try folder.names() where RemovedFolder.isOne(name) {
            do throws(StorageError) {
                let removed = try folder.folder(named: name)
                for file in try removed.names() {
                    bytes += UInt64(try removed.status(ofEntry: file)?.allocatedBytes ?? 0)
                }
            } catch {
                // It has gone by now.
                guard case .system(_, _, SystemCode.missing) = error else { throw error }
            }
        }
        return bytes
    }

    /// Removes what a killed removal left behind, as far as that can be done now.
    static func dropRemovedFolders(in folder: OpenFile) {
        for name in (try? folder.names()) ?? [] where RemovedFolder.isOne(name) {
            try? folder.removeTree(name)
        }
    }
}

/// The folder of an archive that is just being removed.
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
