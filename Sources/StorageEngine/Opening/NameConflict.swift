/// A folder or link in the place of an engine's file (never followed or removed), or a file that others may change (F9).
struct NameConflict {
    let name: String
    let description: String
    /// The error if a repair can't move the item away: only its owner can make a file private that others may change.
    var refusal: StorageError?
    let effect: String

    /// Files needed for locking and building. Folders or links in place of other files count as damage.
    private static let names = [
        OpenLock.fileName, ArchiveFile.attached, ArchiveFile.index,
        ArchiveFile.newIndex, ArchiveFile.lock, Syncing.lockName, Descriptor.fileName + ".new",
    ]
    /// Files without which an archive can be used.
    private static let traceNames = [ArchiveFile.requests, ArchiveFile.newRequests]

    static func all(in folder: FileDescriptor) throws(StorageError) -> [NameConflict] {
        try found(names + traceNames, in: folder)
    }

    static func ofTrace(in folder: FileDescriptor) throws(StorageError) -> [NameConflict] {
        try found(traceNames, in: folder)
    }

    private static func found(
        _ names: [String], in folder: FileDescriptor
    ) throws(StorageError) -> [NameConflict] {
        var found: [NameConflict] = []
        for name in names where try folder.hasEntry(named: name) {
            do throws(StorageError) {
                _ = try folder.file(named: name, writable: false)
            } catch {
                let effect = try effect(of: name, in: folder)
                switch error {
                case .corrupted:
                    let description = "\(folder.path)/\(name): not a regular file"
                    found.append(NameConflict(name: name, description: description, effect: effect))
                case .notPrivate:
                    let refusal = traceNames.contains(name) ? nil : error
                    found.append(
                        NameConflict(
                            name: name, description: error.description, refusal: refusal, effect: effect))
                // The item was removed since, or its kind is unknown.
                default: break
                }
            }
        }
        return found
    }

    private static func effect(of name: String, in folder: FileDescriptor) throws(StorageError) -> String {
        guard traceNames.contains(name) else { return "the archive can't be opened for writing" }
        let isFolder = try folder.status(ofEntry: name)?.isFolder == true
        return isFolder
            ? "requests are not recorded until a repair renames it"
            : "a process that records requests replaces it"
    }
}
