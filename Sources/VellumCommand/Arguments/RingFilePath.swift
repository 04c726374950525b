import CacheAdvance

/// The path of a ring file, passed instead of a log's name.
struct RingFilePath: Sendable {
    let path: String

    /// Nil for an archive's name: one without a slash, or any name with --store.
    init?(_ name: String, store: StoreArguments) {
        guard name.contains("/"), store.store == nil else { return nil }
        path = name
    }

    func openReadOnly() throws -> RingFile {
        try translating { () throws(RingFileError) in
            // Refuse other files before any output.
            _ = try RingFile.settings(ofFileAt: path)
            return try RingFile(path: path, maximumBytes: 0, overwritesOldMessages: false, isReadOnly: true)
        }
    }

    /// Opens the file. Creates a missing or empty one with `disk` bytes. `keepsOld`: a full file refuses messages.
    func openForWriting(disk: ByteCount?, keepsOld: Bool) throws -> RingFile {
        guard !Store.holdsFile(at: path) else {
            throw CommandFailure("\(path) is in a store's folder; choose another one", status: .usage)
        }
        if disk != nil {
            let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if file >= 0 {
                close(file)
            } else if errno != EEXIST {
                throw CommandFailure(path, errno: errno, status: .storeFailure)
            }
        }
        let found = try translating { () throws(RingFileError) in try RingFile.settings(ofFileAt: path) }
        guard let maximum = found?.maximumBytes ?? disk?.bytes else {
            throw CommandFailure(
                "\(path) is empty; --disk 1MB creates a ring file of that size", status: .nothing)
        }
        let overwrites = found?.overwritesOldMessages ?? !keepsOld
        if let disk, disk.bytes != maximum || overwrites == keepsOld {
            Console.warn(
                "\(path) already exists and keeps its settings: at most \(Figures.bytes(UInt64(maximum))), "
                    + (overwrites ? "drops the oldest messages" : "refuses new messages"))
        }
        return try translating { () throws(RingFileError) in
            try RingFile(path: path, maximumBytes: maximum, overwritesOldMessages: overwrites)
        }
    }

    private func translating<Value>(_ body: () throws(RingFileError) -> Value) throws -> Value {
        do throws(RingFileError) {
            return try body()
        } catch {
            switch error {
            case .system(_, _, ENOENT), .system(_, _, ENOTDIR):
                throw CommandFailure(
                    "there is no file \(path); vellum append \(path) --disk 1MB creates a ring file there; for a log of a "
                        + "store pass --store", status: .nothing)
            case .unsupportedVersion(_, let version):
                throw CommandFailure(
                    "\(path) isn't a ring file: its version is \(version), not 1", status: .storeFailure)
            case .damaged(_, let offset, let reason):
                throw CommandFailure(
                    "\(path) isn't a ring file, or is a damaged one: byte \(offset): \(reason)",
                    status: .storeFailure)
            default: throw error
            }
        }
    }
}
