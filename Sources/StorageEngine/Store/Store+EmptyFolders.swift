/// Archives of which only an empty folder is left, by removal or a killed creator. They aren't listed, but reported.
extension Store {
    /// The names of archives with an empty folder, sorted. Costs reading the folder of each archive. Throws `limitReached`,
    /// `system`.
    public func emptyArchiveNames() throws(StorageError) -> [String] {
        var names: [String] = []
        for folderName in try folder.names() {
            guard let name = ArchiveName.name(ofFolder: folderName), try isEmpty(folderName) else { continue }
            names.append(name)
        }
        return names.sorted()
    }

    private func isEmpty(_ folderName: String) throws(StorageError) -> Bool {
        // The item may be no folder, have been removed in the meantime, or not be readable by this user.
        try StorageError.nilIf(
            { $0.isMissingOrCorrupted || $0.isRefused }, folder.folder(named: folderName).names().isEmpty)
            ?? false
    }

    /// Files and folders with names like archives' folders that are no archives of this store: the name is invalid (a control
    /// character, another spelling), or the item is a link or a file. Sorted, and escaped for display. Throws `limitReached`,
    /// `system`.
    public func strayFolderNames() throws(StorageError) -> [String] {
        var names: [String] = []
        for name in try folder.names() {
            var isStray = ArchiveName.isStray(folder: name)
            if !isStray, ArchiveName.name(ofFolder: name) != nil {
                isStray = try folder.status(ofEntry: name)?.isFolder == false
            }
            if isStray { names.append(name.unicodeScalars.map { $0.escaped(asASCII: false) }.joined()) }
        }
        return names.sorted()
    }

    /// One line about a file or folder of ``strayFolderNames()``: the fault and the remedy.
    public func strayFolderProblem(_ name: String) -> String {
        let place = "\(path)/\(name)"
        return ArchiveName.name(ofFolder: name) == nil
            ? "\(place) has a name that no archive can have, and is ignored: rename it, or move it out of the store"
            : "\(place) is a link or a file and isn't opened: put an archive's folder in its place, or "
                + "move it out of the store"
    }

    /// One line about an archive of ``emptyArchiveNames()``: the fault and the remedy.
    public func emptyArchiveProblem(named name: String) -> String {
        "\(path)/\(ArchiveName.folder(for: name)) is empty: its files were removed, or its creator was killed; "
            + "restore the files, store an entry to start again, or let vellum check --repair remove the folder"
    }

    /// Removes the folder of an archive of ``emptyArchiveNames()``.
    /// - Throws: `readOnly`, `permissionDenied`; `system` if the folder is no longer empty.
    public func removeEmptyArchive(named name: String) throws(StorageError) {
        guard mode == .readWrite else { throw .readOnly(operation: "remove archive \"\(name)\"") }
        try folder.unlink(ArchiveName.folder(for: name), isFolder: true)
    }
}
