import CacheAdvance

/// The reason why a command ends early: a line for the user and an exit status.
struct CommandFailure: Error, Sendable {
    /// Without the program's name; nil if the reason has been reported.
    let message: String?
    let status: ExitStatus

    init(_ message: String?, status: ExitStatus) {
        self.message = message
        self.status = status
    }

    static var interrupted: CommandFailure { CommandFailure("interrupted", status: Interruption.status) }

    /// A failure of the operating system on a subject other than the store.
    init(_ subject: String, errno code: Int32, status: ExitStatus) {
        self.init(SourceError(subject, errno: code).description, status: status)
    }
}

extension StorageError {
    /// Whether the error concerns only this key or value, so that the operation may succeed for other entries.
    var isAboutOneEntry: Bool {
        switch self {
        case .valueTooLarge, .invalidKey: true
        default: false
        }
    }

    /// Advice if a ring file was named as a store.
    var ringFileHint: String? {
        guard case .notAStore(let path, _) = self, (try? RingFile.settings(ofFileAt: path)) != nil
        else { return nil }
        let file = path.contains("/") ? path : "./" + path
        return "; it looks like a ring file: vellum tail \(file), or vellum browse \(file)"
    }

    var exitStatus: ExitStatus {
        switch self {
        case .noSuchArchive, .valueTooLarge, .batchTooLarge: .nothing
        case .backupExists, .backupInsideStore, .invalidKey, .invalidArchiveName, .invalidConfiguration,
            .invalidOwner, .wrongKind:
            .usage
        default: .storeFailure
        }
    }
}

extension RingFileError {
    var exitStatus: ExitStatus {
        switch self {
        case .messageTooLarge: .nothing
        case .otherSettings, .emptyMessage: .usage
        default: .storeFailure
        }
    }
}
