/// Why whoever opens an archive for writing is refused: something that is no file, such as a folder or a symbolic link, under
/// a name where the engine needs a file of its own, which is never followed or removed; or a file that others may change (F9).
struct Obstacle {
    let name: String
    /// What is wrong with it, with its path.
    let description: String
    /// Why no repair puts it out of the way: a file that others may change is for its owner to make private.
    let refusal: StorageError?

    /// What those need who only lock or build; a descriptor or segment that is no file is damage of what it should hold.
    private static let names = [
        OpeningTurn.fileName, ArchiveOpening.attachedName, ArchiveOpening.indexName,
        ArchiveOpening.newIndexName, ArchiveOpening.lockName, Syncing.lockName, Descriptor.fileName + ".new",
    ]

    /// The obstacles in an archive's folder.
    static func all(in folder: OpenFile) throws(StorageError) -> [Obstacle] {
        var found: [Obstacle] = []
        for name in names where try folder.hasEntry(named: name) {
            do throws(StorageError) {
                _ = try folder.file(named: name, writable: false)
            } catch {
                switch error {
                case .corrupted:
                    let description = "\(folder.path)/\(name): not a regular file"
                    found.append(Obstacle(name: name, description: description, refusal: nil))
                case .notPrivate:
                    found.append(Obstacle(name: name, description: error.description, refusal: error))
                // Gone meanwhile, or nothing that tells what it is.
                default: break
                }
            }
        }
        return found
    }
}
