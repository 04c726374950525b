/// Disk space that a collection keeps for frames of removals, 8 bytes an entry, so that all can be removed batch by batch on a full
/// disk: a file that nothing reads (OnDiskFormat, "A full disk"). Guarded by the archive's lock.
struct RemovalReserve {
    static let fileName = "removals.spare"

    let folder: FileDescriptor

    /// The 8 bytes of each entry, and one for its share of the frames' other bytes. None for the entries of the index's first chunk:
    /// the reserve of the newest segment is for these.
    static func bytes(forEntries count: Int) -> Int {
        (9 * max(0, count - IndexLayout.chunkEntries) + 4095) & ~4095
    }

    /// Makes the file large enough for this many entries. Costs a system call if it is.
    func extend(forEntries count: Int) throws(StorageError) {
        let bytes = RemovalReserve.bytes(forEntries: count)
        let status = try folder.status(ofEntry: RemovalReserve.fileName)
        let present = status?.bytes ?? 0
        // Anything else in its place counts as no reserve.
        guard present < bytes, status?.isRegular ?? true else { return }
        try folder.fileMakingIfMissing(named: RemovalReserve.fileName).extend(from: present, to: bytes)
    }

    /// Gives back what this many entries don't need. A failure leaves it as it is.
    func shrink(forEntries count: Int) {
        let bytes = RemovalReserve.bytes(forEntries: count)
        guard let present = try? folder.status(ofEntry: RemovalReserve.fileName)?.bytes, present > bytes
        else {
            return
        }
        if bytes == 0 {
            try? folder.unlink(RemovalReserve.fileName)
        } else {
            try? folder.fileIfPresent(named: RemovalReserve.fileName, writable: true)?.truncate(to: bytes)
        }
    }

    /// Gives the space back to the file system. Returns `false` if there is none.
    func giveUp() throws(StorageError) -> Bool {
        guard try folder.status(ofEntry: RemovalReserve.fileName)?.isRegular == true else { return false }
        try folder.unlink(RemovalReserve.fileName)
        return true
    }
}
