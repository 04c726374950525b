/// Looking at many archives, one at a time: however many a store has, a process needs the descriptors and addresses of one.
extension Store {
    /// Calls `body` with an archive that is open while it runs, and may be looked at. If this process has the archive open
    /// already, through this store, that stays open; else it is opened for reading only, leaves no trace, and is closed
    /// again. What `body` gets from it, such as a list of entries, may be used longer and then keeps what it needs.
    ///
    /// - Parameter staysOpen: an archive that is opened stays open for the next call, as long as those that are open take
    ///   no more than a quarter of the descriptors and addresses that this process may have.
    /// - Throws: what ``archive(named:)`` throws, and `body`.
    public func withArchive<Value>(
        named name: String, staysOpen: Bool = false, _ body: (Archive) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        try ArchiveName.validate(name)
        if let archive = openArchive(name) { return try body(archive) }
        if staysOpen, archives.withLock({ $0.count }) < ProcessLimit.comfortableArchives {
            return try body(archive(named: name))
        }
        try requireArchive(name)
        let archive = try opening(name) { () throws(StorageError) in
            try Archive(name: name, store: folder, mode: .readOnly, options: options, following: present())
        }
        defer { archive.close() }
        return try body(archive)
    }

    /// As ``withArchive(named:staysOpen:_:)`` for each of `names`, or for all archives in the order of their names. What
    /// can't be opened or read is given to `unreadable`, and hides nothing of the others; any error of `body` that is no
    /// ``StorageError``, and any of `unreadable`, ends the walk. An archive that is removed meanwhile is passed over
    /// unless it was named.
    public func visitArchives(
        _ names: [String]? = nil, staysOpen: Bool = false, _ body: (Archive) throws -> Void,
        unreadable: (String, StorageError) throws -> Void
    ) throws {
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
