import CPlatform
import Foundation

/// What the file system is like that tests make their folders on.
package enum FileSystem {
    /// Whether an archive's index gives its blocks back while it is open: not on tmpfs, and not where it can't be tried.
    package static let givesIndexBlocksBack: Bool = {
        guard let folder = opendir(FileManager.default.temporaryDirectory.path) else { return false }
        defer { closedir(folder) }
        return cp_holes_are_readable(dirfd(folder))
    }()
}

/// Removes a folder that is in use: whoever has it open may make or remove a file in it meanwhile, at which Foundation gives up.
package func removeFolderInUse(_ path: String) throws {
    for _ in 0..<1000 {
        do { return try FileManager.default.removeItem(atPath: path) } catch {}
        guard FileManager.default.fileExists(atPath: path) else { return }
        usleep(5_000)
    }
    try FileManager.default.removeItem(atPath: path)
}
