/// The file of a mapped index, held open by creators and observers; writers open it to grow it.
struct IndexFile: Sendable {
    let folder: FileDescriptor
    let number: FileDescriptor.FileNumber
    /// The open file; `nil`: opened by its name when needed.
    let open: FileDescriptor?

    /// The file's status, without a descriptor. `nil` if the name no longer leads to that file.
    func status() throws(StorageError) -> FileDescriptor.Status? {
        if let open { return try open.status() }
        let status = try folder.status(ofEntry: ArchiveFile.index)
        return status?.number == number ? status : nil
    }

    /// - Throws: `closed` if the name no longer leads to that file.
    func opened(writable: Bool) throws(StorageError) -> FileDescriptor {
        if let open { return open }
        guard let file = try folder.fileIfPresent(named: ArchiveFile.index, writable: writable),
            try file.status().number == number
        else { throw .closed(name: folder.path + "/" + ArchiveFile.index) }
        return file
    }
}
