import CPlatform
import Foundation

/// Properties of the file system on which tests create their folders.
package enum FileSystem {
    /// Whether an archive's index can give blocks back while it is open: not on tmpfs, and not where that can't be
    /// tested.
    package static let givesIndexBlocksBack: Bool = {
        guard let folder = opendir(FileManager.default.temporaryDirectory.path) else { return false }
        defer { closedir(folder) }
        return cp_holes_are_readable(dirfd(folder))
    }()
}

/// Removes a folder that is in use. Other processes may create or remove files in it at the same time, where
/// Foundation's call gives up.
package func removeFolderInUse(_ path: String) throws {
    for _ in 0..<1000 {
        do { return try FileManager.default.removeItem(atPath: path) } catch {}
        guard FileManager.default.fileExists(atPath: path) else { return }
        usleep(5_000)
    }
    try FileManager.default.removeItem(atPath: path)
}
