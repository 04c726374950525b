/// Disk space that a collection keeps for frames of removals, 8 bytes an entry, so that batches can remove all entries on a full
/// disk: a file that is never read (OnDiskFormat, "A full disk"). Guarded by the archive's lock.
struct RemovalReserve {
    static let fileName = "removals.spare"

    let folder: FileDescriptor

    /// 8 bytes for each entry, and one for its share of the frames' other bytes. None for the index's first chunk: the newest
    /// segment's reserve covers it.
    static func bytes(forEntries count: Int) -> Int {
        (9 * max(0, count - IndexLayout.chunkEntries) + 4095) & ~4095
    }

    /// Extends the file for this number of entries. On a full disk throws `noSpace` or, with `partly`, reserves all free space.
    /// An unusable file is no error, but reserves nothing. Costs a system call if the file is long enough.
    func extend(forEntries count: Int, partly: Bool = false) throws(StorageError) {
        let bytes = RemovalReserve.bytes(forEntries: count)
        do throws(StorageError) {
            guard var present = try cut(to: bytes), present < bytes else { return }
            let file = try folder.fileMakingIfMissing(named: RemovalReserve.fileName)
            var step = bytes - present
            while step > 0 {
                do throws(StorageError) {
                    try file.reserveBlocks(present + step)
                    present += step
                    step = min(step, bytes - present)
                } catch {
                    guard partly, case .noSpace = error else { throw error }
                    // Some file systems grant all or nothing.
                    step = step / 2 & ~4095
                }
            }
        } catch {
            if case .noSpace = error { throw error }
        }
    }

    /// Frees the space that this number of entries doesn't need. A failure leaves it unchanged.
    func shrink(forEntries count: Int) { _ = try? cut(to: RemovalReserve.bytes(forEntries: count)) }

    /// Truncates a longer file. Returns the reserved bytes: 0 for a file with holes; `nil` if another item has its name.
    private func cut(to bytes: Int) throws(StorageError) -> Int? {
        guard let status = try folder.status(ofEntry: RemovalReserve.fileName) else { return 0 }
        guard status.isRegular else { return nil }
        // Removing a file with other names doesn't free its blocks.
        if bytes == 0 || status.links > 1 {
            try folder.unlink(RemovalReserve.fileName)
            return 0
        }
        if status.bytes > bytes {
            try folder.file(named: RemovalReserve.fileName, writable: true).truncate(to: bytes)
        }
        return status.allocatedBytes < status.bytes ? 0 : min(status.bytes, bytes)
    }

    /// Returns the space to the file system; `false` if nothing was reserved.
    func release() -> Bool {
        guard let status = try? folder.status(ofEntry: RemovalReserve.fileName), status.isRegular,
            status.bytes > 0
        else { return false }
        return (try? folder.unlink(RemovalReserve.fileName)) != nil
    }
}
