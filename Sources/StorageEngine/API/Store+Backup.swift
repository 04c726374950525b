#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How far a backup is.
public struct BackupProgress: Sendable, Hashable {
    public var archive: String
    /// Entries or messages of this archive that are copied, and how many there are.
    public var done: Int
    public var total: Int
}

/// What a backup holds.
public struct BackupReport: Sendable, Hashable {
    public struct ArchiveCopy: Sendable, Hashable {
        public var name: String
        /// The moment of which the copy is.
        public var time: Timestamp
        /// Entries, or messages of a log.
        public var entries: Int
        /// Sum of the sizes of their values.
        public var bytes: UInt64
    }

    public var archives: [ArchiveCopy] = []
    /// A line for each entry that failed its checksum and is not in the backup, for each place of a log archive where messages
    /// did, and for each archive whose log is damaged or known to lack its end, so that entries may have been missing before.
    public var damaged: [String] = []
}

extension Store {
    /// Writes a copy of this store, or of some of its archives, to a new folder `path`, while others go on using it.
    /// It is a store with a log of its own: each archive as of one moment, with keys, values, encodings, deadlines,
    /// owners, times of creation and last use, hits, the order of use, the messages of logs, kind, limits, type and
    /// durability. Archives are copied one after another, so their moments differ. Not in it is what can be undone, the
    /// events, and what only the memory of a process holds.
    ///
    /// It is made beside its place, as `path.partial`, synced, and renamed: under `path` there is a whole backup or
    /// nothing, whatever crashes. What a killed backup left there, the next one removes; anything else that is there is an
    /// error. Nobody can open it as a store before it is whole. Needs as much room as the values with some 100 bytes for
    /// each, and reads them all; of descriptors and addresses as much as one archive takes, however many there are.
    ///
    /// - Parameters:
    ///   - archives: names of those to copy, each copied once; `nil`: all, but for those that are removed meanwhile.
    ///   - progress: called now and then; the backup ends without a trace when it gives `false`.
    /// - Returns: what was copied; `nil` when `progress` ended it.
    /// - Throws: `backupExists` when something is at `path`, or at `path.partial` that no backup left; `backupInsideStore`; `noSuchArchive`, `noSpace` and what reading throws.
    public func backUp(
        archives names: [String]? = nil, to path: String, progress: (BackupProgress) -> Bool = { _ in true }
    ) throws(StorageError) -> BackupReport? {
        let place = try BackupPlace(path, of: folder)
        let report: BackupReport?
        do throws(StorageError) {
            var chosen: [String] = []
            let wanted = if let names { names } else { try archiveNames() }
            for name in wanted {
                // By its bytes: there may be archives whose names differ in nothing else.
                if !chosen.contains(where: { ExactText($0) == ExactText(name) }) { chosen.append(name) }
            }
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
        let target = try Store.open(at: place.partialPath, isUnfinishedBackup: true)
        defer { target.close() }
        var report = BackupReport()
        for name in names {
            guard try fill(target, name, passingOverRemoved: takesAll, &report, progress) else { return nil }
        }
        // A store that was removed meanwhile would be copied in part, or not at all.
        guard try folder.hasEntry(named: StoreMarker.fileName) else { throw .storeNotFound(path: path) }
        return report
    }

    /// Copies one archive; one that is removed meanwhile is passed over, or copied as it was made anew.
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

    /// Copies an archive as it is at this moment, with all that is known of its entries, into a new one.
    func copy(
        _ archive: Archive, to target: Store, as name: String, _ report: inout BackupReport,
        _ progress: (BackupProgress) -> Bool
    ) throws(StorageError) -> Bool {
        let (snapshot, configuration) = try archive.snapshotWithinLimit()
        if let problem = try archive.problem() {
            report.damaged.append("\(archive.name): \(problem)")
        }
        var making = configuration
        // Synced once, when all is there.
        making.durability = .process
        let copy = try target.archive(named: name, orCreate: making)
        defer { copy.close() }
        let engine = try copy.engine()
        var damaged = snapshot.damagedPlaces.map { "\(archive.name): \($0)" }
        let isDone = try engine.copy(snapshot) {
            damaged.append("\(archive.name): \($0)")
        } progress: { done in
            progress(BackupProgress(archive: archive.name, done: done, total: snapshot.count))
        }
        guard isDone else { return false }
        try copy.synchronize()
        if configuration.durability != .process { try copy.setDurability(configuration.durability) }
        report.damaged += damaged
        report.archives.append(
            BackupReport.ArchiveCopy(
                name: archive.name, time: snapshot.time, entries: engine.index.entryCount,
                bytes: engine.index.valueBytes)
        )
        return true
    }
}

extension Archive {
    /// A snapshot, and a configuration in which it fits: someone may have changed the limit meanwhile.
    fileprivate func snapshotWithinLimit() throws(StorageError) -> (ArchiveSnapshot, ArchiveConfiguration) {
        for _ in 0..<20 {
            let configuration = try configuration()
            let snapshot = try snapshot()
            guard let limit = configuration.diskLimit else { return (snapshot, configuration) }
            if snapshot.valueBytes <= limit { return (snapshot, configuration) }
        }
        throw .busy(archive: name, process: 0, reason: "its limit changes all the time; try again")
    }
}

/// Says of a folder that a backup is being made in it: one line with the folder's number, so that a copy of such a folder
/// is none. There from before anything else is in it until it has its own name. OnDiskFormat, "Backups".
enum BackupMark {
    static let fileName = StoreMarker.fileName + ".backup"
    static let suffix = ".partial"

    enum State {
        case none, unfinished
        /// It is of this folder, which has its own name by now: whoever made the backup was killed just then.
        case leftBehind
    }

    private static func text(of folder: OpenFile) throws(StorageError) -> [UInt8] {
        Array("A backup is being made in folder \(try folder.status().number.inode)\n".utf8)
    }

    static func make(in folder: OpenFile) throws(StorageError) {
        try folder.unlink(fileName)
        let file = try folder.newFile(named: fileName)
        try file.write(text(of: folder))
        try file.synchronize()
    }

    /// What it says of this folder, if it is there.
    static func state(in folder: OpenFile) throws(StorageError) -> State {
        guard let file = try folder.fileIfPresent(named: fileName, writable: false),
            try file.read(atMost: 100) == text(of: folder)
        else { return .none }
        // However the folder was named by who opened it.
        let resolved = realpath(folder.path, nil)
        defer { free(resolved) }
        let path = resolved.map { String(cString: $0) } ?? folder.path
        return path.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) ? .unfinished : .leftBehind
    }
}

/// Where a backup comes to be, and where it will be.
private struct BackupPlace {
    let partialPath: String
    private let name: String
    private let parent: OpenFile
    private let partial: OpenFile
    private var partialName: String { name + BackupMark.suffix }

    init(_ path: String, of store: OpenFile) throws(StorageError) {
        var path = Substring(path)
        while path.hasSuffix("/"), path.count > 1 { path = path.dropLast() }
        let slash = path.lastIndex(of: "/")
        name = String(slash.map { path[path.index(after: $0)...] } ?? path)
        guard !name.isEmpty, name != ".", name != ".." else { throw .backupExists(path: String(path)) }
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        parent = try OpenFile.folder(at: folder)
        guard try parent.isInside(store) == false else { throw .backupInsideStore(path: String(path)) }
        guard try parent.hasEntry(named: name) == false else { throw .backupExists(path: String(path)) }
        partialPath = path + BackupMark.suffix
        let partialName = name + BackupMark.suffix
        try parent.makeFolder(named: partialName)
        guard try parent.status(ofEntry: partialName)?.isFolder == true else {
            throw .backupExists(path: partialPath)
        }
        partial = try parent.folder(named: partialName)
        guard try partial.status().owner == ProcessIdentity.effectiveUser else {
            throw .backupExists(path: partialPath)
        }
        guard try partial.lock(.exclusive, within: OpenFile.startNanoseconds) else {
            throw .busy(archive: partialPath, process: 0, reason: "another backup to this place is under way")
        }
        // Only what a killed backup left is removed: never a store that happens to have that name.
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

    private static func isOfBackup(_ name: String) -> Bool {
        name.hasPrefix(StoreMarker.fileName) || name.hasSuffix(".archive") || RemovedFolder.isOne(name)
    }

    /// All but the mark goes: whoever dies before that leaves what the next backup knows for one that was begun.
    private func empty() throws(StorageError) {
        for file in try partial.names() where file != BackupMark.fileName { try partial.removeTree(file) }
    }

    /// Takes away what is not finished; what can't be removed stays for the next backup.
    func remove() {
        guard (try? empty()) != nil else { return }
        try? partial.unlink(BackupMark.fileName)
        try? parent.unlink(partialName, isFolder: true)
    }

    /// From here on it is a backup, and nothing may remove it. Under its own name the mark means nothing.
    func takeName() throws(StorageError) {
        for name in try partial.names() {
            guard try partial.status(ofEntry: name)?.isFolder == true else { continue }
            try partial.folder(named: name).synchronizeNames()
        }
        try partial.synchronizeNames()
        guard try parent.hasEntry(named: name) == false else { throw .backupExists(path: name) }
        try parent.rename(partialName, to: name)
    }

    /// Of what can't be synced now the whole is there, under its own name.
    func finish() throws(StorageError) {
        do throws(StorageError) {
            try partial.unlink(BackupMark.fileName)
            try partial.synchronizeNames()
            try parent.synchronizeNames()
        } catch {
            guard case .system(_, _, let code) = error else { throw error }
            throw .system(
                operation: "make sure that the medium has the backup, which is whole:",
                path: String(partialPath.dropLast(BackupMark.suffix.count)), code: code)
        }
    }
}
