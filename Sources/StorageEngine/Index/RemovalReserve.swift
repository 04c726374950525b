/// Disk space that a collection keeps for frames of removals, 8 bytes an entry, so that all can be removed batch by batch on a full
/// disk: a file that nothing reads (OnDiskFormat, "A full disk"). Guarded by the archive's lock.
struct RemovalReserve {
    static let fileName = "removals.spare"

    let folder: FileDescriptor

    /// The 8 bytes of each entry, and one for its share of the frames' other bytes. None for the index's first chunk:
    /// the newest segment's reserve covers it.
    static func bytes(forEntries count: Int) -> Int {
        (9 * max(0, count - IndexLayout.chunkEntries) + 4095) & ~4095
    }

    /// Makes the file large enough for this many entries. Costs a system call if it is.
    func extend(forEntries count: Int) throws(StorageError) {
        let bytes = RemovalReserve.bytes(forEntries: count)
        let status = try folder.status(ofEntry: RemovalReserve.fileName)
        let present = status?.bytes ?? 0
        // Anything else under its name counts as no reserve.
        guard present < bytes, status?.isRegular ?? true else { return }
        try folder.fileMakingIfMissing(named: RemovalReserve.fileName).extend(from: present, to: bytes)
    }

    /// Frees the space beyond that of this many entries. A failure leaves it unchanged.
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

    /// Returns the space to the file system; `false`: there was none.
    func giveUp() throws(StorageError) -> Bool {
        guard try folder.status(ofEntry: RemovalReserve.fileName)?.isRegular == true else { return false }
        try folder.unlink(RemovalReserve.fileName)
        return true
    }
}
