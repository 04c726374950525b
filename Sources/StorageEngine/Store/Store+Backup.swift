import SystemC

/// The progress of a backup.
public struct BackupProgress: Sendable, Hashable {
    /// The archive that is being copied.
    public var archive: String
    /// Entries or messages of this archive that have been copied.
    public var done: Int
    /// Entries or messages of this archive in all.
    public var total: Int
}

/// The content of a backup.
public struct BackupReport: Sendable, Hashable {
    /// One archive in a backup.
    public struct ArchiveCopy: Sendable, Hashable {
        /// Name of the archive.
        public var name: String
        /// The moment that the copy shows.
        public var time: Timestamp
        /// Entries, or messages of a log.
        public var entries: Int
        /// Sum of the sizes of their values in bytes.
        public var bytes: UInt64
    }

    /// The copies, in the order in which they were made.
    public var archives: [ArchiveCopy] = []
    /// One line for each entry, and each place of a log archive, that failed its checksum and is not in the backup. After 20 lines
    /// for an archive, one counts its others. Also one line for each archive whose log is damaged or known to be cut off, so that it
    /// may have lost entries before.
    public var damaged: [String] = []

    /// Maximum number of damaged entries or places of an archive that are named.
    package static let mostDamaged = 20
}

extension Store {
    /// Writes a copy of this store, or of some of its archives, to the new folder `path`, while others use the store. The copy
    /// has separate logs. It has each archive as of one moment: keys, values, encodings, expiry times, owners, times of creation
    /// and last access, hits, recency, messages of logs, kind, limits, type and durability. Archives are copied one after
    /// another, so their moments differ. It has no undo, no events, and no memory-only entries.
    ///
    /// The backup is written to `path.partial`, synced and then renamed, so `path` holds a complete backup or nothing, even after
    /// a crash. The next backup removes the remains of a killed one; any other item at that path is an error. An incomplete
    /// backup can't be opened as a store. Needs disk space for the values and some 100 bytes for each, and reads them all. Needs
    /// descriptors and addresses for one archive at a time.
    ///
    /// - Parameters:
    ///   - names: the archives to copy, each copied once; `nil`: all, except those that are removed during the copy.
    ///   - path: of the new folder.
    ///   - progress: called repeatedly; return `false` to stop the backup and remove its files.
    /// - Returns: a report of the copies; `nil` if `progress` stopped it.
    /// - Throws: `backupExists` if `path` exists, or `path.partial` exists and isn't from a backup;
    ///   `backupInsideStore`; `noSuchArchive`, `noSpace` and what reading throws.
    public func backUp(
        archives names: [String]? = nil, to path: String, progress: (BackupProgress) -> Bool = { _ in true }
    ) throws(StorageError) -> BackupReport? {
        let place = try BackupPlace(path, outside: folder)
        let report: BackupReport?
        do throws(StorageError) {
            var known: Set<ExactText> = []
            let wanted = if let names { names } else { try archiveNames() }
            // Compares bytes: names of different archives may be equal for Swift's `==`.
            let chosen = wanted.filter { known.insert(ExactText($0)).inserted }
            report = try fill(place, chosen, passingOverRemoved: names == nil, progress)
            if report != nil { try place.takeName() }
        } catch {
            place.remove()
            throw error
        }
        if report != nil { try place.finish() } else { place.remove() }
        return report
    }

    private func fill(
        _ place: BackupPlace, _ names: [String], passingOverRemoved takesAll: Bool,
        _ progress: (BackupProgress) -> Bool
    ) throws(StorageError) -> BackupReport? {
        let target = try Store.open(at: place.partialPath, options: .forUnfinishedBackup)
        defer { target.close() }
        var report = BackupReport()
        for name in names {
            guard try fill(target, name, passingOverRemoved: takesAll, &report, progress) else { return nil }
        }
        // If the store was removed in the meantime, the copy may be incomplete.
        guard try folder.hasEntry(named: StoreMarker.fileName) else { throw .storeNotFound(path: path) }
        return report
    }

    private func fill(
        _ target: Store, _ name: String, passingOverRemoved: Bool, _ report: inout BackupReport,
        _ progress: (BackupProgress) -> Bool
    ) throws(StorageError) -> Bool {
        let reportBefore = report
        var attempts = 0
        while true {
            let before = try presence(of: name)
            do throws(StorageError) {
                return try withArchive(named: name) { (archive) throws(StorageError) in
                    try copy(archive, to: target, as: name, &report, progress)
                }
            } catch {
                attempts += 1
                let now = try presence(of: name)
                guard passingOverRemoved, now == nil || now != before && attempts < 10 else { throw error }
                report = reportBefore
                if try target.hasArchive(name) { try target.removeArchive(named: name) }
                if now == nil { return true }
            }
        }
    }

    func copy(
        _ archive: Archive, to target: Store, as name: String, _ report: inout BackupReport,
        _ progress: (BackupProgress) -> Bool
    ) throws(StorageError) -> Bool {
        let snapshot = try archive.snapshot()
        var configuration = try archive.configuration()
        // Another process may have lowered the limit since.
        configuration.diskLimit = configuration.diskLimit.map { max($0, snapshot.valueBytes) }
        if let problem = try archive.problem() { report.damaged.append("\(archive.name): \(problem)") }
        var making = configuration
        // Copies without syncs, and syncs once at the end.
        making.durability = .process
        making.evictionPolicy = .lru
        let copy = try target.archive(named: name, orCreate: making, isCopy: true)
        defer { copy.close() }
        let engine = try copy.engine()
        var damaged = RepeatedLines(snapshot.damagedPlaces.map(\.description))
        let isDone = try SnapshotCopier(engine).copy(snapshot) {
            damaged.add($0.description)
        } progress: { done in
            progress(BackupProgress(archive: archive.name, done: done, total: snapshot.count))
        }
        guard isDone else { return false }
        try copy.synchronize()
        if configuration.durability != .process { try copy.setDurability(configuration.durability) }
        // Last, so that all entries begin in the main queue.
        if configuration.evictionPolicy != .lru { try copy.setEvictionPolicy(configuration.evictionPolicy) }
        report.damaged += damaged.lines(of: "entries").map { "\(archive.name): \($0)" }
        report.archives.append(
            BackupReport.ArchiveCopy(
                name: archive.name, time: snapshot.time, entries: engine.index.entryCount,
                bytes: engine.index.valueBytes)
        )
        return true
    }

    /// Like a backup, creates a store in the new or empty folder `path`, completely or not at all: `fill` writes its files. If
    /// `verify` throws for the store, no store is created. Throws also `backupExists`.
    package static func assemble<Report>(
        at path: String, fill: (_ folder: String) throws -> Void, verify: (Store) throws -> Report
    ) throws -> Report {
        let place = try BackupPlace(path, takesEmptyFolder: true)
        let report: Report
        do {
            try fill(place.partialPath)
            let store = try open(at: place.partialPath, createIfMissing: false, options: .forUnfinishedBackup)
            defer { store.close() }
            report = try verify(store)
            try place.takeName()
        } catch {
            place.remove()
            throw error
        }
        try place.finish()
        return report
    }
}

/// Marks an unfinished backup by its folder's inode number; removed after the rename (OnDiskFormat, "Backups").
enum BackupMark {
    static let fileName = StoreMarker.fileName + ".backup"
    static let suffix = ".partial"

    enum State {
        case none, unfinished
        /// The mark is valid, but the folder already has its final name: the process was killed in between.
        case leftBehind
    }

    private static func text(of folder: FileDescriptor) throws(StorageError) -> [UInt8] {
        Array("A backup is being made in folder \(try folder.status().number.inode)\n".utf8)
    }

    static func make(in folder: FileDescriptor) throws(StorageError) {
        try folder.unlink(fileName)
        let file = try folder.newFile(named: fileName)
        try file.write(text(of: folder))
        try file.synchronize()
    }

    static func state(in folder: FileDescriptor) throws(StorageError) -> State {
        guard let file = try folder.fileIfPresent(named: fileName, writable: false),
            try file.read(atMost: 100) == text(of: folder)
        else { return .none }
        // The real name, regardless of the caller's spelling of the path.
        let resolved = realpath(folder.path, nil)
        defer { free(resolved) }
        let path = resolved.map { String(cString: $0) } ?? folder.path
        return path.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) ? .unfinished : .leftBehind
    }
}

private struct BackupPlace {
    let partialPath: String
    private let name: String
    private let parent: FileDescriptor
    private let partial: FileDescriptor
    private let takesEmptyFolder: Bool
    private var partialName: String { name + BackupMark.suffix }

    init(
        _ path: String, outside store: FileDescriptor? = nil, takesEmptyFolder: Bool = false
    ) throws(StorageError) {
        self.takesEmptyFolder = takesEmptyFolder
        // Compares bytes: a name may begin with a combining mark, which forms one character with the slash before it.
        var bytes = path.utf8[...]
        while bytes.last == UInt8(ascii: "/"), bytes.count > 1 { bytes.removeLast() }
        let path = Substring(bytes)
        let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
        name = String(slash.map { path[bytes.index(after: $0)...] } ?? path)
        guard !name.isEmpty, name != ".", name != ".." else { throw .backupExists(path: String(path)) }
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        parent = try FileDescriptor.folder(at: folder)
        if let store, try parent.isInside(store) { throw .backupInsideStore(path: String(path)) }
        try Store.requireOutsideArchives(parent, String(path))
        partialPath = path + BackupMark.suffix
        partial = try BackupPlace.lockedFolder(
            for: name, in: parent, evenIfEmpty: takesEmptyFolder, path: String(path))
        // Removes only the remains of a killed backup, never a store that happens to have that name.
        let found = try partial.names()
        if found.allSatisfy({ $0 == BackupMark.fileName }) {
            try BackupMark.make(in: partial)
        } else {
            let isLeft = try BackupMark.state(in: partial) == .unfinished
            guard isLeft, found.allSatisfy(BackupPlace.isOfBackup) else {
                throw .backupExists(path: partialPath)
            }
        }
        try empty()
    }

    private static func lockedFolder(
        for name: String, in parent: FileDescriptor, evenIfEmpty: Bool, path: String
    ) throws(StorageError) -> FileDescriptor {
        let (partialName, partialPath) = (name + BackupMark.suffix, path + BackupMark.suffix)
        for _ in 0..<attempts {
            guard try isFree(name, in: parent, evenIfEmpty: evenIfEmpty) else {
                throw .backupExists(path: path)
            }
            try parent.makeFolder(named: partialName)
            // The folder may belong to another process, which renames or removes it at this moment.
            guard let status = try parent.status(ofEntry: partialName) else { continue }
            guard status.isFolder, status.owner == ProcessIdentity.effectiveUser else {
                throw .backupExists(path: partialPath)
            }
            let opened = try StorageError.nilIf(\.isMissing, parent.folder(named: partialName))
            guard let partial = opened else { continue }
            guard try partial.lock(.exclusive, within: FileDescriptor.startNanoseconds) else { break }
            // Another process may have finished and renamed it since; then it must not be emptied.
            if try parent.status(ofEntry: partialName)?.number == partial.status().number { return partial }
        }
        throw .busy(
            archive: partialPath, process: 0,
            reason: "another backup or restore to this folder is in progress")
    }

    private static let attempts = 100

    private static func isFree(
        _ name: String, in parent: FileDescriptor, evenIfEmpty: Bool
    ) throws(StorageError) -> Bool {
        guard let status = try parent.status(ofEntry: name) else { return true }
        // A mount point can't be replaced.
        guard evenIfEmpty, status.isFolder, try status.number.device == parent.status().number.device else {
            return false
        }
        return try parent.folder(named: name).names().isEmpty
    }

    private static func isOfBackup(_ name: String) -> Bool {
        name.hasPrefix(StoreMarker.fileName) || name.hasSuffix(".archive") || RemovedFolder.isOne(name)
    }

    /// Removes all files but the mark, so that after a crash the next backup recognizes the rest as an unfinished one.
    private func empty() throws(StorageError) {
        for file in try partial.names() where file != BackupMark.fileName { try partial.removeTree(file) }
    }

    func remove() {
        guard (try? empty()) != nil else { return }
        try? partial.unlink(BackupMark.fileName)
        try? parent.unlink(partialName, isFolder: true)
    }

    /// Renames the backup. From then on no process may remove it: the mark has no meaning under the final name.
    func takeName() throws(StorageError) {
        for name in try partial.names() {
            guard try partial.status(ofEntry: name)?.isFolder == true else { continue }
            try partial.folder(named: name).synchronizeNames()
        }
        try partial.synchronizeNames()
        guard try BackupPlace.isFree(name, in: parent, evenIfEmpty: takesEmptyFolder) else {
            throw .backupExists(path: name)
        }
        try parent.rename(partialName, to: name)
    }

    /// If the sync fails, the backup is still complete under its name.
    func finish() throws(StorageError) {
        do throws(StorageError) {
            try partial.unlink(BackupMark.fileName)
            try partial.synchronizeNames()
            try parent.synchronizeNames()
        } catch {
            guard case .system(_, _, let code) = error else { throw error }
            throw .system(
                operation: "sync the complete backup",
                path: String(partialPath.dropLast(BackupMark.suffix.count)), code: code)
        }
    }
}
