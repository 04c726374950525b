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
