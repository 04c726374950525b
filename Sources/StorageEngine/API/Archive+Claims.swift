/// The right of one caller among all processes of the machine to do something about a key, such as computing what belongs there.
/// It goes with its last reference, or with the process.
package final class KeyClaim: Sendable {
    private let file: OpenFile

    fileprivate init(_ file: OpenFile) { self.file = file }
}

extension Archive {
    /// Claims a key, or rather its hash: another key with the same one waits without need. `nil`: somebody else has it. Costs two
    /// system calls, and a descriptor as long as it lasts. Where the system has no such locks, which a process frees when it ends,
    /// everybody gets it.
    package func claim(_ key: String) throws(StorageError) -> KeyClaim? {
        let engine = try engine()
        let file = try engine.folder.file(named: ArchiveOpening.attachedName, writable: true)
        let hash = try withBytes(of: key) { (key) throws(StorageError) in
            try ArchiveEngine.validate(key: key)
            return engine.hash(key)
        }
        return try file.lockByte(Archive.firstClaim + Int(hash >> 2)) ? KeyClaim(file) : nil
    }

    /// Offsets below are of the lines of the process table (OnDiskFormat, "Folders").
    private static var firstClaim: Int { 1 << 32 }
}
