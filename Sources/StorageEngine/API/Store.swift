import Synchronization

/// A folder of archives that any number of processes open at once. Safe from any thread.
///
/// A store and its archives stay open until ``close()`` or until the last reference goes.
public final class Store: Sendable {
    public let path: String
    public let mode: AccessMode
    let folder: OpenFile
    let options: StoreOptions
    private let archives = Mutex<[String: Archive]>([:])

    static let markerName = "vellum-store"
    private static let marker = "Vellum store, format 1\n"

    private init(path: String, mode: AccessMode, folder: OpenFile, options: StoreOptions) {
        self.path = path
        self.mode = mode
        self.folder = folder
        self.options = options
    }

    /// Opens the store at `path`, making the folder (mode 0700) if it is missing and may be made. A folder
    /// that exists becomes a store only if it is empty.
    ///
    /// - Throws: `storeNotFound`, `notAStore`, `permissionDenied`, `ownedByAnotherUser` (for writing),
    ///   `unsupportedVersion`, `noSpace`, `system`.
    public static func open(
        at path: String, mode: AccessMode = .readWrite, createIfMissing: Bool = true,
        options: StoreOptions = StoreOptions()
    ) throws(StorageError) -> Store {
        let mayCreate = createIfMissing && mode == .readWrite
        let folder = try openFolder(at: path, mayCreate: mayCreate)
        let status = try folder.status()
        if mode == .readWrite, status.owner != ProcessIdentity.effectiveUser {
            throw .ownedByAnotherUser(path: path)
        }
        if try folder.hasEntry(named: markerName) {
            let file = try folder.file(named: markerName, writable: false)
            let bytes = try file.read(atMost: 256)
            guard let text = String(validating: bytes, as: UTF8.self), text.hasPrefix("Vellum store, format ")
            else {
                throw .notAStore(path: path, reason: "its marker file \(markerName) is something else")
            }
            guard text == marker else {
                let version = text.dropFirst("Vellum store, format ".count).prefix { $0.isNumber }
                throw .unsupportedVersion(path: file.path, found: UInt32(version) ?? 0, supported: 1)
            }
        } else {
            guard mayCreate else {
                throw .notAStore(path: path, reason: "the folder has no file \(markerName)")
            }
            guard try folder.names().allSatisfy({ $0.hasPrefix(markerName) }) else {
                throw .notAStore(
                    path: path, reason: "the folder has other files in it; use an empty or a new one")
            }
            let temporary = markerName + "." + String(ProcessIdentity.current().pid)
            try folder.unlink(temporary)
            do throws(StorageError) {
                let file = try folder.newFile(named: temporary)
                try file.write(Array(marker.utf8))
                try file.synchronize()
                try folder.rename(temporary, to: markerName)
                crashPoint(.markerRenamed)
            } catch {
                try? folder.unlink(temporary)
                throw error
            }
        }
        return Store(path: path, mode: mode, folder: folder, options: options)
    }

    private static func openFolder(at path: String, mayCreate: Bool) throws(StorageError) -> OpenFile {
        do throws(StorageError) {
            return try OpenFile.folder(at: path)
        } catch {
            guard case .system(_, _, let code) = error else { throw error }
            if code == SystemCode.notAFolder {
                throw .notAStore(path: path, reason: "it is a file, not a folder")
            }
            guard code == SystemCode.missing else { throw error }
            guard mayCreate else { throw .storeNotFound(path: path) }
            try OpenFile.makeFolders(at: path)
            return try OpenFile.folder(at: path)
        }
    }

    /// Whether `path` is a folder that holds a store. Never throws: what cannot be read is none.
    public static func isStore(at path: String) -> Bool {
        guard let folder = try? OpenFile.folder(at: path) else { return false }
        return (try? folder.hasEntry(named: markerName)) ?? false
    }

    /// Names of the archives, sorted.
    public func archiveNames() throws(StorageError) -> [String] {
        var names: [String] = []
        for name in try folder.names().compactMap(ArchiveName.name(ofFolder:)) where try hasArchive(name) {
            names.append(name)
        }
        return names.sorted()
    }

    /// Whether the folder of that archive holds one. Without a descriptor it is none (its maker is at work or
    /// was killed), unless it has segments: then it is one that nobody can read, and must not be made anew.
    func hasArchive(_ name: String) throws(StorageError) -> Bool {
        let path = ArchiveName.folder(for: name)
        if try folder.hasEntry(named: path + "/" + Descriptor.fileName) { return true }
        let names: [String]
        do throws(StorageError) {
            names = try folder.folder(named: path).names()
        } catch {
            switch error {
            case .corrupted, .permissionDenied, .system(_, _, SystemCode.missing): return false
            default: throw error
            }
        }
        return names.contains { SegmentHeader.number(ofFileName: $0) != nil }
    }

    /// The existing archive of that name.
    public func archive(named name: String) throws(StorageError) -> Archive {
        try ArchiveName.validate(name)
        return try cached(name) { () throws(StorageError) in
            guard try hasArchive(name) else {
                throw .noSuchArchive(name: name, store: path)
            }
        }
    }

    /// The archive of that name, made with `configuration` if there is none. An existing one keeps its own.
    public func archive(
        named name: String, orCreate configuration: ArchiveConfiguration
    ) throws(StorageError) -> Archive {
        try ArchiveName.validate(name)
        var isNew = false
        do throws(StorageError) {
            return try cached(name) { () throws(StorageError) in
                if try hasArchive(name) { return }
                guard mode == .readWrite else { throw .noSuchArchive(name: name, store: path) }
                try configuration.validate()
                isNew = try ArchiveOpening.create(in: folder, name: name, configuration: configuration)
            }
        } catch {
            if isNew { ArchiveOpening.undoCreation(in: folder, name: name) }
            throw error
        }
    }

    private func cached(
        _ name: String, prepare: () throws(StorageError) -> Void
    ) throws(StorageError) -> Archive {
        let result: Result<Archive, StorageError> = archives.withLock { archives in
            if let archive = archives[name], !archive.isClosed { return .success(archive) }
            do throws(StorageError) {
                try prepare()
                let archive = try Archive(
                    name: name, store: folder, mode: mode, options: options)
                archives[name] = archive
                return .success(archive)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Removes an archive with all it holds. Other processes that have it open get `closed` from then on.
    public func removeArchive(named name: String) throws(StorageError) {
        guard mode == .readWrite else { throw .readOnly(operation: "remove archive \"\(name)\"") }
        let archive = try archive(named: name)
        try archive.destroy()
        archives.withLock { $0[name] = nil }
        let folderName = ArchiveName.folder(for: name)
        let inside = try folder.folder(named: folderName)
        // The descriptor goes first: without it the folder is no archive.
        try inside.unlink(Descriptor.fileName)
        for file in try inside.names() { try inside.unlink(file) }
        try folder.unlink(folderName, isFolder: true)
    }

    /// Closes all archives of this store; using them afterwards throws `closed`.
    public func close() {
        let open = archives.withLock { archives in
            defer { archives.removeAll() }
            return Array(archives.values)
        }
        for archive in open { archive.close() }
    }
}

extension ArchiveConfiguration {
    func validate() throws(StorageError) {
        guard kind == .collection || diskLimit != nil else {
            throw .invalidConfiguration(reason: "a \(kind) needs a disk limit")
        }
        if let diskLimit {
            guard diskLimit > 0, diskLimit <= ArchiveConfiguration.maximumDiskLimit else {
                throw .invalidConfiguration(
                    reason: "a disk limit is 1 byte to 200 GiB, not \(diskLimit) bytes")
            }
            guard kind != .collection else {
                throw .invalidConfiguration(reason: "a collection never evicts, so it has no disk limit")
            }
        }
        try durability.validate()
        guard typeName.utf8.count <= 1024 else {
            throw .invalidConfiguration(reason: "the type name is longer than 1,024 bytes")
        }
    }
}
