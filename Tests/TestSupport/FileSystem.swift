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

/// Removes files of a finished test. `make test` itself removes small ones in its folder at the end: ext4 skips
/// recently removed inodes when it looks for a free one, which takes a twentieth of all tests' time.
package func discard(_ path: String) {
    if let folder = folderOfRun, path.hasPrefix(folder + "/"), isSmall(path) { return }
    try? FileManager.default.removeItem(atPath: path)
}

private let folderOfRun = ProcessInfo.processInfo.environment["VELLUM_TEST_FOLDER"]

private func isSmall(_ path: String) -> Bool {
    guard let files = FileManager.default.enumerator(atPath: path) else { return false }
    var bytes: UInt64 = 0
    while files.nextObject() != nil, bytes <= 16 << 20 {
        bytes += files.fileAttributes?[.size] as? UInt64 ?? 0
    }
    return bytes <= 16 << 20
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
