import CPlatform

/// Giving the room of an index back that was once larger, where its file can get no holes while others may read it.
extension ArchiveSection {
    /// Puts a copy in the index's place that is as long as is needed now, with its clean mark set; `false` when there is
    /// little to gain. Observers notice and open it. Needs that nobody else has the archive open for writing, and that
    /// nobody is opening it.
    func leaveSmallerIndex() throws(StorageError) -> Bool {
        let needed = index.indexBytes
        guard let status = try index.fileStatus(), needed >= IndexLayout.fileBytes(chunks: 1),
            needed <= status.bytes, status.allocatedBytes > needed + ArchiveEngine.leastSurplus
        else { return false }
        try engine.folder.unlink(ArchiveOpening.newIndexName)
        let file = try engine.folder.newFile(named: ArchiveOpening.newIndexName)
        do throws(StorageError) {
            try file.extend(from: 0, to: needed)
            let memory = try IndexMemory(file, as: .open(file, in: engine.folder), writable: true)
            try memory.takeContent(of: index.memory.memory, bytes: needed)
            // A view takes no hold on it.
            defer { withExtendedLifetime(memory) {} }
            let copy = ChangingIndex(unshared: memory)
            try copy.identify(file)
            if copy.locking == .robustMutex,
                cp_mutex_init(copy.mutex) != 0
            {
                throw .system(operation: "make the lock of", path: file.path, code: 0)
            }
            try copy.cleanMark.set()
            crashPoint(.indexBuilt)
            try engine.folder.rename(ArchiveOpening.newIndexName, to: ArchiveOpening.indexName)
            crashPoint(.indexRenamed)
        } catch {
            try? engine.folder.unlink(ArchiveOpening.newIndexName)
            throw error
        }
        return true
    }
}

extension ArchiveEngine {
    /// Files that are larger than needed by less are not worth a copy.
    fileprivate static let leastSurplus = 256 << 10
}
