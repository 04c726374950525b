/// An exclusive, machine-wide claim on a key. Released with its last reference or when the process ends.
package final class KeyClaim: Sendable {
    private let file: FileDescriptor

    fileprivate init(_ file: FileDescriptor) { self.file = file }
}

extension Archive {
    /// Claims the key's hash; `nil` if another has claimed it. Costs two system calls, a descriptor. Succeeds without file locks.
    package func claim(_ key: String) throws(StorageError) -> KeyClaim? {
        let engine = try engine()
        let file = try engine.folder.file(named: ArchiveFile.attached, writable: true)
        let hash = try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            return engine.hash(key)
        }
        return try file.lockByte(Archive.firstClaim + Int(hash >> 2)) ? KeyClaim(file) : nil
    }

    /// The first offset of the claims' bytes. The process table's locks use lower offsets (OnDiskFormat, "Folders").
    private static var firstClaim: Int { 1 << 32 }
}
