import SystemC

/// An error of a ring file. Each description is one line: the fault, its place, and the remedy.
public enum RingFileError: Error, Sendable, Hashable {
    /// The item at this path is not a regular file.
    case notAFile(path: String)
    /// Bytes don't match the format. The reason states the number of readable messages.
    case damaged(path: String, offset: Int, reason: String)
    /// The file was written in another version of the format.
    case unsupportedVersion(path: String, found: UInt8)
    /// The file was created with these other settings; it can only be read.
    case otherSettings(path: String, RingFileSettings)
    /// A ring file can't store a message without bytes.
    case emptyMessage(path: String)
    /// The message has more than `limit` bytes, the most that fit now. Nothing was changed.
    case messageTooLarge(bytes: Int, limit: UInt64, path: String)
    /// The file was opened for reading only.
    case readOnly(path: String)
    /// Another process uses the file and didn't release it in time.
    case inUse(path: String)
    /// The file was removed, or the process that opened it was forked.
    case closed(path: String)
    /// An error of the operating system; `code` is its errno.
    case system(operation: String, path: String, code: Int32)
}

extension RingFileError: CustomStringConvertible {
    /// One line: the fault, its place, and the remedy.
    public var description: String {
        switch self {
        case .notAFile(let path): "\(path) is not a regular file"
        case .damaged(let path, let offset, let reason):
            "ring file \(path) is damaged at byte \(offset): \(reason); save its readable messages with vellum tail, and "
                + "start a new file"
        // Text and most other files begin with such a byte.
        case .unsupportedVersion(let path, let found) where found == 0 || found >= 9:
            "\(path) is neither a store nor a ring file: it begins with byte \(found), a ring file with its version, "
                + "\(RingFileHeader.version)"
        case .unsupportedVersion(let path, let found):
            "\(path) has format version \(found), this program reads version \(RingFileHeader.version); update the program"
        case .otherSettings(let path, let settings):
            "\(path) was created for at most \(settings.maximumBytes) bytes"
                + (settings.overwritesOldMessages ? ", overwriting" : ", without overwriting")
                + "; open it with these settings, or start another file"
        case .emptyMessage(let path): "a ring file can't store an empty message (\(path))"
        case .messageTooLarge(let bytes, let limit, let path):
            "a message of \(bytes) bytes doesn't fit into \(path), which has space for \(limit) bytes; start a larger file, or "
                + "store less (nothing was dropped)"
        case .readOnly(let path): "cannot append to \(path): opened for reading only"
        case .inUse(let path):
            "ring file \(path) is in use: another process has held it for 10 s; check whether one that uses it was stopped"
        case .closed(let path): "\"\(path)\" was closed or removed; open it again"
        case .system(_, let path, ENOSPC), .system(_, let path, EDQUOT):
            "no space left for \(path); free some space, and try again (nothing stored before is lost)"
        case .system(let operation, let path, let code):
            "cannot \(operation) \(path): \(strerror(code).map { String(cString: $0) } ?? "error \(code)")"
        }
    }
}
