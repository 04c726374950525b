import CPlatform

/// Shrinking the file of an index that was once larger, where holes can't be punched while others may read it.
extension ArchiveSection {
    /// Replaces the index by a shorter copy with a clean mark, which observers open; `false` if that saves little. Requires that
    /// no other process has the archive open for writing or is opening it.
    func leaveSmallerIndex() throws(StorageError) -> Bool {
        let needed = index.indexBytes
        guard let status = try index.fileStatus(), needed >= IndexLayout.fileBytes(chunks: 1),
            needed <= status.bytes, status.allocatedBytes > needed + ArchiveEngine.leastSurplus
        else { return false }
        try engine.folder.unlink(ArchiveFile.newIndex)
        let file = try engine.folder.newFile(named: ArchiveFile.newIndex)
        do throws(StorageError) {
            try file.extend(from: 0, to: needed)
            let memory = try IndexMemory(file, as: .open(file, in: engine.folder), writable: true)
            try memory.takeContent(of: index.memory.memory, bytes: needed)
            defer { withExtendedLifetime(memory) {} }
            let copy = ChangingIndex(unshared: memory)
            try copy.identify(file)
            if copy.locking == .robustMutex,
                cp_mutex_init(copy.mutex) != 0
            {
                throw .system(operation: "create the lock of", path: file.path, code: 0)
            }
            try copy.cleanMark.set()
            crashPoint(.indexBuilt)
            try engine.folder.rename(ArchiveFile.newIndex, to: ArchiveFile.index)
            crashPoint(.indexRenamed)
        } catch {
            try? engine.folder.unlink(ArchiveFile.newIndex)
            throw error
        }
        return true
    }
}

extension ArchiveEngine {
    fileprivate static let leastSurplus = 256 << 10
}
