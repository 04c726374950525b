/// What nobody tells an archive: that its files were removed by something that is no user of the store.
extension Archive {
    /// Whether the archive's files are gone, as after `rm -rf` of the store: then it is closed for all processes that have it
    /// open, since what they store from now on would be in files that nobody can open. Costs one system call. What can't be
    /// told now counts as there. Without its descriptor alone it can be repaired, and goes on.
    package func closeIfRemoved() -> Bool {
        guard !isClosed else { return true }
        guard mode == .readWrite, let engine = try? engine(), engine.hasLostItsFiles else { return false }
        // Where others can't be told, each finds it out.
        if !engine.closeForAll() { close() }
        return true
    }
}

extension Store {
    /// Whether a file of this path lies in a store's folder, or in one of the folders in it: nothing else belongs there, and
    /// what is there has nothing put in its place.
    package static func holdsFile(at path: String) -> Bool {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? "./"
        return [folder, folder + ".."].contains { folder in
            (try? OpenFile.folder(at: folder).hasEntry(named: StoreMarker.fileName)) ?? false
        }
    }

    /// Whether the store's folder is still there, with its marker. What can't be told now counts as there.
    package var isPresent: Bool { (try? folder.hasEntry(named: StoreMarker.fileName)) ?? true }

    /// The same, and no other store has come to its path.
    package var isInItsPlace: Bool {
        guard isPresent else { return false }
        do throws(StorageError) {
            return try OpenFile.folder(at: path).status().number == folder.status().number
        } catch {
            switch error {
            case .system(_, _, SystemCode.missing), .system(_, _, SystemCode.notAFolder): return false
            default: return true
            }
        }
    }
}

extension ArchiveEngine {
    /// Called now and then by the background thread, for those whose objects are in memory and who ask the files nothing.
    func closeIfRemoved() {
        if !index.isRemoved, hasLostItsFiles { _ = closeForAll() }
    }

    /// What it means that the log can't be appended to: of an archive that somebody has removed, that it is closed.
    func closedIfRemoved(_ error: StorageError) -> StorageError {
        hasLostItsFiles ? .closed(name: name) : error
    }

    /// For whoever misses a file and would call that damage.
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

    /// Only what the system says for certain. New segments may have been made while a removal went through the folder: without
    /// descriptor and index nobody who opens the archive finds what is in them.
    fileprivate var hasLostItsFiles: Bool {
        guard (try? folder.hasEntry(named: Descriptor.fileName)) == false else { return false }
        guard !isGone else { return true }
        guard let names = try? folder.names() else { return false }
        return !names.contains(ArchiveOpening.indexName)
            || !names.contains { SegmentHeader.number(ofFileName: $0) != nil }
    }
}
