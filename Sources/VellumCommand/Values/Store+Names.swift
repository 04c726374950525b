extension Store {
    /// Compares bytes. Costs a read of the store's folder.
    func hasArchive(named name: String) throws(StorageError) -> Bool {
        let name = ExactText(name)
        return try archiveNames().contains { ExactText($0) == name }
    }

    /// Reports space that isn't freed yet; nil if there is none.
    func removalRemark() throws(StorageError) -> String? {
        let bytes = try bytesOfRemovedArchives()
        return bytes == 0
            ? nil : "removed archives and unfinished copies still use \(Figures.bytes(bytes))"
    }
}
