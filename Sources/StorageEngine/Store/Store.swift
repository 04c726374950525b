import Synchronization

/// A folder of archives that any number of processes can open, until ``close()`` or its last reference. Thread-safe.
public final class Store: Sendable {
    /// Path that the store was opened with.
    public let path: String
    /// Whether the store was opened for writing or for reading only.
    public let mode: AccessMode
    let folder: FileDescriptor
    let options: StoreOptions
    private let followingHere = PerProcess { GuardedReference<Following?>(nil) }
    let openedHere = PerProcess { OpenedArchives() }
    var archives: GuardedReference<OrderedTable<ExactText, Archive>> { openedHere.value.archives }

    private init(path: String, mode: AccessMode, folder: FileDescriptor, options: StoreOptions) {
        self.path = path
        self.mode = mode
        self.folder = folder
        self.options = options
    }

    /// Opens the store at `path`. A missing folder is created with mode 0700 if that is allowed. An existing folder
    /// becomes a store only if it is empty.
    /// - Throws: `storeNotFound`, `notAStore`, `permissionDenied`, `ownedByAnotherUser` (for writing), `notPrivate`,
    ///   `unsupportedVersion`, `noSpace`, `system`.
    public static func open(
        at path: String, mode: AccessMode = .readWrite, createIfMissing: Bool = true,
        options: StoreOptions = StoreOptions()
    ) throws(StorageError) -> Store {
        let mayCreate = createIfMissing && mode == .readWrite
        let trust: FileTrust = mode == .readOnly && options.trustsOwner ? .anyone : .ownUser
        let folder = try openFolder(at: path, mayCreate: mayCreate, isOwn: mode == .readWrite, trust)
        switch options.isUnfinishedBackup ? BackupMark.State.none : try BackupMark.state(in: folder) {
        case .none: break
        case .unfinished: throw unfinished(path)
        case .leftBehind:
            // The leftover mark would count again if the folder were renamed back.
            if mode == .readWrite { try folder.unlink(BackupMark.fileName) }
        }
        switch try StoreMarker.state(in: folder) {
        case .right: break
        case .version(let version):
            throw .unsupportedVersion(path: path + "/" + StoreMarker.fileName, found: version, supported: 1)
        case .damaged(let reason):
            throw .notAStore(
                path: path,
                reason: "its marker file \(StoreMarker.fileName) \(reason)"
                    + (try advice(folder)))
        case .missing:
            let names = try folder.names()
            let advice = try advice(folder)
            // The files may be newer than the marker, which may have been created since it was checked.
            guard case .missing = try StoreMarker.state(in: folder) else {
                return try open(at: path, mode: mode, createIfMissing: createIfMissing, options: options)
            }
            // Another process may be about to write the marker, or was killed before it could.
            let isEmpty = names.allSatisfy { $0.hasPrefix(StoreMarker.fileName) }
            guard mayCreate, isEmpty else {
                if isEmpty { throw .storeNotFound(path: path) }
                throw .notAStore(
                    path: path,
                    reason: mayCreate && advice.isEmpty
                        ? "the folder has other files in it; use an empty or a new one"
                        : "the folder has no file \(StoreMarker.fileName)\(advice)")
            }
            try requireOutsideArchives(folder, path)
            try StoreMarker.make(in: folder)
        }
        if mode == .readWrite { dropRemovedFolders(in: folder) }
        return Store(path: path, mode: mode, folder: folder, options: options)
    }

    private static func unfinished(_ path: String) -> StorageError {
        .notAStore(
            path: path, reason: "its backup or restore was not finished; repeat it, or remove the folder")
    }

    /// A store inside an archive's folder would be removed with that archive.
    static func requireOutsideArchives(_ folder: FileDescriptor, _ path: String) throws(StorageError) {
        var place = "."
        // No archive is this deep below a store.
        for _ in 0..<256 {
            let isArchive = (try? folder.status(ofEntry: place + "/" + Descriptor.fileName)) ?? nil != nil
            let above = place + "/.."
            if isArchive, (try? folder.status(ofEntry: above + "/" + StoreMarker.fileName)) ?? nil != nil {
                throw .notAStore(
                    path: path,
                    reason: "it is inside an archive and would be removed with it; use another folder")
            }
            place = above
        }
    }

    static func make(in folder: FileDescriptor) throws(StorageError) -> Store {
        try StoreMarker.make(in: folder)
        return Store(path: folder.path, mode: .readWrite, folder: folder, options: StoreOptions())
    }

    /// The remedy for a store without its marker; empty if the folder holds no archives.
    private static func advice(_ folder: FileDescriptor) throws(StorageError) -> String {
        try archiveNames(in: folder).isEmpty
            ? "" : "; it holds archives, so check --repair rewrites the marker"
    }

    /// Rewrites the marker file of a store that has lost it or whose marker is damaged. A damaged one is kept as
    /// `vellum-store.damaged`. Returns a line about the repair; `nil` if the marker was right. Costs reading the
    /// folders of the archives.
    /// - Throws: `storeNotFound`; `notAStore` for a folder without archives; `unsupportedVersion` for the marker of
    ///   another format, which stays unchanged; `ownedByAnotherUser`, `permissionDenied`, `noSpace`, `system`.
    public static func repairMarker(at path: String) throws(StorageError) -> String? {
        let folder = try openFolder(at: path, mayCreate: false, isOwn: true, .ownUser)
        if try BackupMark.state(in: folder) == .unfinished { throw unfinished(path) }
        let file = path + "/" + StoreMarker.fileName
        let state = try StoreMarker.state(in: folder)
        switch state {
        case .right: return nil
        case .version(let version): throw .unsupportedVersion(path: file, found: version, supported: 1)
        case .missing, .damaged: break
        }
        guard try archiveNames(in: folder).first != nil else {
            throw .notAStore(path: path, reason: "it has no marker file and no archives")
        }
        var line = "\(file): rewritten (it was missing)"
        if case .damaged(let reason) = state {
            let kept = try DamagedFile.quarantine(StoreMarker.fileName, in: folder)
            line = "\(file): rewritten, because it \(reason); the old file is kept as \(kept)"
        }
        try StoreMarker.make(in: folder)
        return line
    }

    /// Like ``open(at:mode:createIfMissing:options:)`` for writing, for a store that is recreated after its removal. If the
    /// removal also removes the new marker but leaves archives, restores the marker and calls `remark`.
    package static func reopen(
        at path: String, createIfMissing: Bool = true, remark: (String) -> Void
    ) throws(StorageError) -> Store {
        do throws(StorageError) {
            return try open(at: path, createIfMissing: createIfMissing)
        } catch {
            guard createIfMissing, case .notAStore = error, let folder = try? FileDescriptor.folder(at: path),
                case .missing? = try? StoreMarker.state(in: folder), let line = try? repairMarker(at: path)
            else { throw error }
            remark(line)
            return try open(at: path)
        }
    }

    package static func isOwn(at path: String) throws(StorageError) -> Bool {
        try FileDescriptor.folder(at: path).status().owner == ProcessIdentity.effectiveUser
    }

    private static func openFolder(
        at path: String, mayCreate: Bool, isOwn: Bool, _ trust: FileTrust
    ) throws(StorageError) -> FileDescriptor {
        do throws(StorageError) {
            if isOwn {
                guard try Store.isOwn(at: path) else { throw .ownedByAnotherUser(path: path) }
            }
            return try FileDescriptor.folder(at: path, trust: trust)
        } catch {
            guard case .system(_, _, let code) = error else { throw error }
            if code == SystemCode.notAFolder {
                throw .notAStore(path: path, reason: "it is a file, not a folder")
            }
            guard code == SystemCode.missing else { throw error }
            guard mayCreate else { throw .storeNotFound(path: path) }
            try FileDescriptor.makeFolders(at: path)
            return try FileDescriptor.folder(at: path, trust: trust)
        }
    }

    /// Whether `path` is a folder that holds a store. `false` also if this user may not read the folder. Throws errors that leave
    /// this undecided, such as `limitReached`.
    public static func isStore(at path: String) throws(StorageError) -> Bool {
        try StorageError.nilIf(
            { $0.isNoFolder || $0.isPermissionDenied },
            FileDescriptor.folder(at: path).hasEntry(named: StoreMarker.fileName)) ?? false
    }

    /// Names of the archives, sorted. Throws `storeNotFound` if the store has been removed since it was opened.
    public func archiveNames() throws(StorageError) -> [String] {
        let names = try Store.archiveNames(in: folder)
        if names.isEmpty { try requireMarker() }
        return names
    }

    /// Distinguishes a store without archives from a folder that was removed: that has no marker either.
    private func requireMarker() throws(StorageError) {
        guard try folder.hasEntry(named: StoreMarker.fileName) == false else { return }
        let advice = try Store.advice(folder)
        guard advice.isEmpty else {
            throw .notAStore(
                path: path, reason: "its marker file \(StoreMarker.fileName) was removed\(advice)")
        }
        throw .storeNotFound(path: path)
    }

    private static func archiveNames(in folder: FileDescriptor) throws(StorageError) -> [String] {
        var names: [String] = []
        for name in try folder.names().compactMap(ArchiveName.name(ofFolder:)) {
            do throws(StorageError) {
                // Links are not followed (F9).
                guard try folder.status(ofEntry: ArchiveName.folder(for: name))?.isFolder == true else {
                    continue
                }
                if try hasArchive(name, in: folder) { names.append(name) }
            } catch {
                guard error.isRefused else { throw error }
                // Opening the archive throws the reason.
                names.append(name)
            }
        }
        return names.sorted()
    }

    /// A folder without a descriptor holds no archive (an unfinished one), unless it has segments: a damaged one, never replaced.
    func hasArchive(_ name: String) throws(StorageError) -> Bool {
        try Store.hasArchive(name, in: folder)
    }

    private static func hasArchive(_ name: String, in folder: FileDescriptor) throws(StorageError) -> Bool {
        let path = ArchiveName.folder(for: name)
        if try folder.hasEntry(named: path + "/" + Descriptor.fileName) { return true }
        return try archiveFolder(path, in: folder) != nil
    }

    private static func archiveFolder(_ path: String, in folder: FileDescriptor) throws(StorageError)
        -> FileDescriptor?
    {
        try StorageError.ignoring(\.isMissingOrCorrupted) { () throws(StorageError) -> FileDescriptor? in
            let inside = try folder.folder(named: path)
            let isArchive = try inside.names().contains {
                $0 == Descriptor.fileName || SegmentHeader.number(ofFileName: $0) != nil
            }
            return isArchive ? inside : nil
        } ?? nil
    }

    /// Opens the existing archive of that name. Returns the same object while it is open.
    /// - Throws: `invalidArchiveName`, `noSuchArchive`, `busy`, `corrupted`, `unsupportedVersion`, `notPrivate`,
    ///   `permissionDenied`, `limitReached`, `noSpace`, `system`.
    public func archive(named name: String) throws(StorageError) -> Archive {
        try ArchiveName.validate(name)
        return try cached(name) { () throws(StorageError) in
            try requireArchive(name)
        }
    }

    func requireArchive(_ name: String) throws(StorageError) {
        guard try hasArchive(name) else { throw try absence(of: name) }
    }

    private func absence(of name: String) throws(StorageError) -> StorageError {
        let maker = try StorageError.nilIf(
            \.isMissingOrCorrupted, OpenLock.holder(in: folder.folder(named: ArchiveName.folder(for: name))))
        guard let maker = maker ?? nil else { return .noSuchArchive(name: name, store: path) }
        return .busy(archive: name, process: maker, reason: "it is being created; try again in a moment")
    }

    /// Opens the archive of that name, or creates it with `configuration`. An existing archive keeps its configuration.
    /// - Throws: what ``archive(named:)`` throws, except that `noSuchArchive` occurs for reading only;
    ///   `invalidConfiguration`.
    public func archive(
        named name: String, orCreate configuration: ArchiveConfiguration
    ) throws(StorageError) -> Archive {
        try archive(named: name, orCreate: configuration, isCopy: false)
    }

    /// - Parameter isCopy: whether an archive of that name exists in another store, so that the name is not a new one.
    package func archive(
        named name: String, orCreate configuration: ArchiveConfiguration, isCopy: Bool
    ) throws(StorageError) -> Archive {
        try ArchiveName.validate(name)
        var attempts = 0
        while true {
            var creation = ArchiveOpening.Creation.existed
            do throws(StorageError) {
                return try cached(name) { () throws(StorageError) in
                    if try hasArchive(name) { return }
                    guard mode == .readWrite else { throw .noSuchArchive(name: name, store: path) }
                    if !isCopy { try ArchiveName.validate(new: name) }
                    try configuration.validate()
                    // Without the marker no other process opens the store, and recorded entries would be lost.
                    try requireMarker()
                    creation = try ArchiveOpening.create(in: folder, name: name, configuration: configuration)
                    try requireMarker()
                }
            } catch {
                ArchiveOpening.undo(creation, in: folder, name: name)
                attempts += 1
                guard case .noSuchArchive = error, mode == .readWrite, attempts < 100 else { throw error }
            }
        }
    }

    private func cached(
        _ name: String, prepare: () throws(StorageError) -> Void
    ) throws(StorageError) -> Archive {
        if let archive = openArchive(name) { return archive }
        return try openedHere.value.openingLock(of: ExactText(name)).withLock { (_) throws(StorageError) in
            if let archive = openArchive(name) { return archive }
            archives.withLock { $0.removeValue(forKey: ExactText(name)) }?.end()
            try prepare()
            let archive = try opening(name) { () throws(StorageError) in
                try Archive(name: name, store: folder, mode: mode, options: options, following: present()) {
                    [weak self] in self?.forget($0)
                }
            }
            archives.withLock { $0[ExactText(name)] = archive }
            return archive
        }
    }

    /// Opens an archive. If it was removed during that, throws `noSuchArchive`, or opens the one created in its place.
    func opening(_ name: String, _ body: () throws(StorageError) -> Archive) throws(StorageError) -> Archive {
        var before: FileDescriptor.FileNumber?
        func isAnother(_ error: StorageError) throws(StorageError) -> Bool {
            guard let now = try presence(of: name) else { throw .noSuchArchive(name: name, store: path) }
            // A missing file means that the folder was replaced, even if the new folder reuses the inode number.
            return now != before || error.isMissing
        }
        return try StorageError.retrying(100, while: isAnother) { () throws(StorageError) in
            before = try presence(of: name)
            return try body()
        }
    }

    /// Identity of that archive's folder; no other folder of the name has the same. `nil`: no archive.
    func presence(of name: String) throws(StorageError) -> FileDescriptor.FileNumber? {
        // Uses one open folder: between two look-ups of the name the folder may be replaced.
        try Store.archiveFolder(ArchiveName.folder(for: name), in: folder)?.status().number
    }

    func openArchive(_ name: String) -> Archive? {
        archives.withLock { archives in
            guard let archive = archives[ExactText(name)], !archive.isClosed else { return nil }
            return archive
        }
    }

    func forget(_ archive: Archive) {
        archives.withLock { archives in
            let name = ExactText(archive.name)
            if archives[name] === archive { archives[name] = nil }
        }
    }

    /// The follower and the doorbell of this store in this process; created by the first call.
    func present() -> Following {
        followingHere.value.withLock { following in
            if let following { return following }
            let doorbell = Doorbell(store: folder)
            let follower = StoreFollower(doorbell: doorbell, mayWrite: mode == .readWrite)
            let new = Following(doorbell: doorbell, follower: follower)
            following = new
            return new
        }
    }

    /// Closes all archives of this store. Using them afterwards throws `closed`.
    public func close() {
        let open = archives.withLock { archives in
            defer { archives.removeAll() }
            return archives.values
        }
        for archive in open { archive.close() }
    }
}

final class OpenedArchives: Sendable {
    let archives = GuardedReference(OrderedTable<ExactText, Archive>(by: ExactText.precedes))
    /// One lock for each archive name; held while the archive opens, which another process may delay.
    private let openingLocks = GuardedReference(
        OrderedTable<ExactText, GuardedReference<Void>>(by: ExactText.precedes))

    func openingLock(of name: ExactText) -> GuardedReference<Void> {
        openingLocks.withLock { locks in
            if let lock = locks[name] { return lock }
            let lock = GuardedReference(())
            locks[name] = lock
            return lock
        }
    }
}
