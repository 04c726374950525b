import CPlatform

/// The file of a mapped index: held open by whoever makes or observes it, and otherwise opened anew where it has to
/// grow, so that an archive that is open for writing costs no descriptor for it. Safe from any thread.
enum IndexFile: Sendable {
    case open(OpenFile, in: OpenFile)
    /// The file of that name in the archive's folder, as long as it is the one with that status.
    case named(String, in: OpenFile, OpenFile.Status)

    /// The status, without needing a descriptor; `nil` when the name is no longer that file's: it was removed, or
    /// another has taken its place.
    func status() throws(StorageError) -> OpenFile.Status? {
        switch self {
        case .open(let file, _): return try file.status()
        case .named(let name, let folder, let known):
            guard let status = try folder.status(ofEntry: name), status.number == known.number else {
                return nil
            }
            return status
        }
    }

    /// - Throws: `closed` when the name is no longer that file's.
    func opened(writable: Bool) throws(StorageError) -> OpenFile {
        switch self {
        case .open(let file, _): return file
        case .named(let name, let folder, let known):
            guard let file = try folder.fileIfPresent(named: name, writable: writable),
                try file.status().number == known.number
            else { throw .closed(name: folder.path + "/" + name) }
            return file
        }
    }
    /// The archive's folder.
    var folder: OpenFile {
        switch self {
        case .open(_, let folder), .named(_, let folder, _): folder
        }
    }
}
