/// Detects that the archive's files were removed by other means, and closes it for all processes.
extension ArchiveEngine {
    var isGone: Bool { (try? folder.status().links) == 0 }

    func closeIfRemoved() {
        if !index.isRemoved, hasLostItsFiles { _ = closeForAll() }
    }

    func closedIfRemoved(_ error: StorageError) -> StorageError {
        hasLostItsFiles ? .closed(name: name) : error
    }

    /// Called when a file is missing, before damage is reported: throws `closed` if the archive's files were removed.
    func throwIfRemoved() throws(StorageError) {
        if hasLostItsFiles { throw .closed(name: name) }
    }

    func closeForAll() -> Bool {
        do throws(StorageError) {
            try acquire().closeForAll(nil)
            return true
        } catch {
            return false
        }
    }

    /// `true` only if certain: no opening finds segments that were created during a removal, without descriptor and index.
    var hasLostItsFiles: Bool {
        guard (try? folder.hasEntry(named: Descriptor.fileName)) == false else { return false }
        guard !isGone else { return true }
        guard let names = try? folder.names() else { return false }
        return !names.contains(ArchiveFile.index)
            || !names.contains { SegmentHeader.number(ofFileName: $0) != nil }
    }
}

extension ArchiveSection {
    /// Marks the index as removed for all processes, and wakes followers.
    func closeForAll(_ doorbell: Doorbell?) {
        index.state = .building
        index.events.callWaiters(doorbell)
    }
}
