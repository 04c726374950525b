/// The file of a mapped index, held open by creators and observers; writers open it to grow it.
enum IndexFile: Sendable {
    case open(FileDescriptor, in: FileDescriptor)
    case named(String, in: FileDescriptor, FileDescriptor.Status)

    /// The file's status, without a descriptor. `nil` if the name no longer leads to that file.
    func status() throws(StorageError) -> FileDescriptor.Status? {
        switch self {
        case .open(let file, _): return try file.status()
        case .named(let name, let folder, let known):
            guard let status = try folder.status(ofEntry: name), status.number == known.number else {
                return nil
            }
            return status
        }
    }

    /// - Throws: `closed` if the name no longer leads to that file.
    func opened(writable: Bool) throws(StorageError) -> FileDescriptor {
        switch self {
        case .open(let file, _): return file
        case .named(let name, let folder, let known):
            guard let file = try folder.fileIfPresent(named: name, writable: writable),
                try file.status().number == known.number
            else { throw .closed(name: folder.path + "/" + name) }
            return file
        }
    }
    var folder: FileDescriptor {
        switch self {
        case .open(_, let folder), .named(_, let folder, _): folder
        }
    }
}
