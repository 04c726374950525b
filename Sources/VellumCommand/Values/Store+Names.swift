import StorageEngine

extension Store {
    /// Compares bytes. Costs a read of the store's folder.
    func hasArchive(named name: String) throws(StorageError) -> Bool {
        let name = ExactText(name)
        return try archiveNames().contains { ExactText($0) == name }
    }
}
