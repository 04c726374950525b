/// A folder or link in the place of an engine's file (never followed or removed), or a file that others may change (F9).
struct NameConflict {
    let name: String
    let description: String
    /// The error if a repair can't move the item away: only its owner can make a file private that others may change.
    let refusal: StorageError?

    /// Files needed for locking and building. Folders or links in place of other files count as damage.
    private static let names = [
        OpenLock.fileName, ArchiveFile.attached, ArchiveFile.index,
        ArchiveFile.newIndex, ArchiveFile.lock, Syncing.lockName, Descriptor.fileName + ".new",
        ArchiveFile.requests, ArchiveFile.newRequests,
    ]

    static func all(in folder: FileDescriptor) throws(StorageError) -> [NameConflict] {
        var found: [NameConflict] = []
        for name in names where try folder.hasEntry(named: name) {
            do throws(StorageError) {
                _ = try folder.file(named: name, writable: false)
            } catch {
                switch error {
                case .corrupted:
                    let description = "\(folder.path)/\(name): not a regular file"
                    found.append(NameConflict(name: name, description: description, refusal: nil))
                case .notPrivate:
                    found.append(NameConflict(name: name, description: error.description, refusal: error))
                // The item was removed since, or its kind is unknown.
                default: break
                }
            }
        }
        return found
    }
}
