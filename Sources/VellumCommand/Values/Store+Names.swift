extension Store {
    /// Whether an archive has this name, byte for byte. Lists the store's folder.
    func hasArchive(named name: String) throws(StorageError) -> Bool {
        let name = ExactText(name)
        return try archiveNames().contains { ExactText($0) == name }
    }

    /// A remark on disk space that removed archives and unfinished copies still use; nil if all is freed.
    func removalRemark() throws(StorageError) -> String? {
        let bytes = try bytesOfRemovedArchives()
        return bytes == 0
            ? nil : "removed archives and unfinished copies still use \(Figures.bytes(bytes))"
    }
}
