/// Detects that an archive's files were removed by other means, for example by `rm -rf`.
extension Archive {
    /// Whether the archive's files were certainly removed; then closes the archive for all processes. Costs one system call. If
    /// only the descriptor is missing, the archive is repairable and stays open.
    package func closeIfRemoved() -> Bool {
        guard !isClosed else { return true }
        guard mode == .readWrite, let engine = try? engine(), engine.hasLostItsFiles else { return false }
        // If the flag can't be set for other processes, each detects the removal itself.
        if !engine.closeForAll() { close() }
        return true
    }
}

extension Store {
    /// Whether a file of this path is in a store's folder or a folder below. Other programs' data must not replace it.
    package static func holdsFile(at path: String) -> Bool {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? "./"
        return [folder, folder + ".."].contains { folder in
            (try? FileDescriptor.folder(at: folder).hasEntry(named: StoreMarker.fileName)) ?? false
        }
    }

    /// Whether the store's marker exists; `true` also if unknown.
    package var isPresent: Bool { (try? folder.hasEntry(named: StoreMarker.fileName)) ?? true }

    /// Like ``isPresent``, and its path still leads to this folder and not to another store.
    package var isInItsPlace: Bool {
        guard isPresent else { return false }
        do throws(StorageError) {
            return try FileDescriptor.folder(at: path).status().number == folder.status().number
        } catch {
            switch error {
            case .system(_, _, SystemCode.missing), .system(_, _, SystemCode.notAFolder): return false
            default: return true
            }
        }
    }
}

extension ArchiveEngine {
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

    fileprivate func closeForAll() -> Bool {
        do throws(StorageError) {
            try acquire().closeForAll(nil)
            return true
        } catch {
            return false
        }
    }

    /// `true` only if certain: no opening finds segments that were created during a removal, without descriptor and index.
    fileprivate var hasLostItsFiles: Bool {
        guard (try? folder.hasEntry(named: Descriptor.fileName)) == false else { return false }
        guard !isGone else { return true }
        guard let names = try? folder.names() else { return false }
        return !names.contains(ArchiveOpening.indexName)
            || !names.contains { SegmentHeader.number(ofFileName: $0) != nil }
    }
}
