/// Something that is no file, such as a folder or a symbolic link, under a name where the engine needs a file of its own:
/// it is never followed or removed (F9), so whoever opens the archive for writing is refused.
enum Obstacle {
    /// What those need who only lock or build; a descriptor or segment that is no file is damage of what it should hold.
    private static let names = [
        OpeningTurn.fileName, ArchiveOpening.attachedName, ArchiveOpening.indexName,
        ArchiveOpening.newIndexName, ArchiveOpening.lockName, Syncing.lockName, Descriptor.fileName + ".new",
    ]

    /// Names of the obstacles in an archive's folder.
    static func all(in folder: OpenFile) throws(StorageError) -> [String] {
        var found: [String] = []
        for name in names where try folder.hasEntry(named: name) {
            do throws(StorageError) {
                _ = try folder.file(named: name, writable: false)
            } catch {
                // Gone meanwhile, or nothing that tells what it is.
                if case .corrupted = error { found.append(name) }
            }
        }
        return found
    }

    static func description(_ name: String, in folder: OpenFile) -> String {
        "\(folder.path)/\(name): not a regular file"
    }
}
