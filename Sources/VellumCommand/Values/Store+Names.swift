import StorageEngine

extension Store {
    /// Whether there is an archive of that name, byte for byte. Costs a look at the store's folder.
    func hasArchive(named name: String) throws(StorageError) -> Bool {
        let name = ExactText(name)
        return try archiveNames().contains { ExactText($0) == name }
    }
}
