/// Visits archives one at a time, so a process needs descriptors and addresses for only one.
extension Store {
    /// Calls `body` with an archive that is open while `body` runs. If this process already has it open through this store, it
    /// stays open. Otherwise it is opened for reading only, and is closed afterwards; this writes nothing. Results such as a list
    /// of entries may be used longer; they retain the archive.
    ///
    /// - Parameters:
    ///   - name: of the archive.
    ///   - staysOpen: keeps the archive open for the next call, as long as all open archives together take no more than
    ///     a quarter of the descriptors and addresses that this process may use.
    ///   - body: gets the open archive.
    /// - Throws: what ``archive(named:)`` throws, and `body`.
    public func withArchive<Value>(
        named name: String, staysOpen: Bool = false, _ body: (Archive) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try ArchiveName.validate(name)
        if let archive = openArchive(name) { return try body(archive) }
        if staysOpen, archives.withLock({ $0.count }) < ProcessLimit.mostOpenArchives {
            return try body(archive(named: name))
        }
        try requireArchive(name)
        let archive = try opening(name) { () throws(StorageError) in
            try Archive(name: name, store: folder, mode: .readOnly, options: options, following: present())
        }
        defer { archive.close() }
        return try body(archive)
    }

    /// Closes archives that were removed or replaced, which releases the disk space of their files.
    package func closeRemovedArchives() {
        for archive in archives.withLock({ $0.values }) {
            do throws(StorageError) {
                _ = try archive.engine()
            } catch {
                if case .closed = error { archive.close() }
            }
        }
    }

    /// Calls ``withArchive(named:staysOpen:_:)`` for each of `names`, or for all archives in the order of their names. If an
    /// archive is unreadable, passes the error to `unreadable` and continues. Any other error of `body`, and any error of
    /// `unreadable`, ends the walk. An archive that is removed during the walk is skipped unless it was named.
    public func visitArchives(
        _ names: [String]? = nil, staysOpen: Bool = false, _ body: (Archive) throws -> Void,
        unreadable: (String, StorageError) throws -> Void
    ) throws {
        if staysOpen { closeRemovedArchives() }
        for name in try names ?? archiveNames() {
            let result: Result<Void, any Error>
            do throws(StorageError) {
                result = try withArchive(named: name, staysOpen: staysOpen) { archive in
                    Result { try body(archive) }
                }
            } catch {
                if names == nil, case .noSuchArchive = error { continue }
                try unreadable(name, error)
                continue
            }
            do {
                try result.get()
            } catch let error as StorageError {
                try unreadable(name, error)
            }
        }
    }
}
