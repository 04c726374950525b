import Synchronization
import SystemC

/// A temporary file in a folder of its own, readable by this user only. Removed on deinit unless ``keep()`` was
/// called; after a kill by ``removeAbandoned(in:)``.
package final class PrivateFile: Sendable {
    package let path: String
    private let folder: String
    private let descriptor: Int32
    /// Locks the folder, also for the programs that this process starts: they inherit it.
    private let lock: Int32
    private let isKept = Mutex(false)

    /// - Parameter name: the file's name with the extension of its format.
    package init(named name: String, in parent: String) throws(SourceError) {
        let start = parent + (parent.hasSuffix("/") ? "" : "/") + PrivateFile.prefix
        var (folder, lock) = ("", -1 as Int32)
        repeat {
            var template = Array((start + "XXXXXX").utf8CString)
            guard mkdtemp(&template) != nil else { throw SourceError(parent, errno: errno) }
            folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            lock = try PrivateFile.locked(folder) ?? -1
            // Another process may have removed the folder before it was locked.
        } while lock < 0
        (self.folder, self.lock) = (folder, lock)
        path = folder + "/" + name
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            rmdir(folder)
            close(lock)
            throw SourceError(path, errno: code)
        }
    }

    private static let prefix = "vellum-view-"
    private static let permissions: mode_t = 0o700

    /// Removes the folders of killed processes, except folders that are locked, kept or another user's.
    package static func removeAbandoned(in parent: String) {
        for (name, path) in (try? StoresFolder.contents(of: parent)) ?? [] where name.hasPrefix(prefix) {
            guard let lock = try? locked(path) else { continue }
            remove(path)
            close(lock)
        }
    }

    /// The descriptor of a lock on the folder; nil if it is locked by another process, missing, kept or another user's.
    /// Throws if folders can't be locked at all.
    private static func locked(_ folder: String) throws(SourceError) -> Int32? {
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        guard lock >= 0 else { return nil }
        var (own, named) = (stat(), stat())
        if flock(lock, LOCK_EX | LOCK_NB) == 0 {
            if fstat(lock, &own) == 0, lstat(folder, &named) == 0, own.st_ino == named.st_ino,
                own.st_dev == named.st_dev, own.st_uid == geteuid(), own.st_mode & 0o7777 == permissions
            {
                return lock
            }
        } else if errno != EWOULDBLOCK {
            let code = errno
            close(lock)
            throw SourceError(folder, errno: code)
        }
        close(lock)
        return nil
    }

    deinit {
        close(descriptor)
        if !isKept.withLock({ $0 }) { PrivateFile.remove(folder) }
        close(lock)
    }

    package func keep() {
        isKept.withLock { $0 = true }
        _ = fchmod(lock, PrivateFile.permissions | mode_t(S_ISVTX))
    }

    package var exists: Bool { access(path, F_OK) == 0 }

    /// Appends through a buffer, which must be flushed.
    package var output: OutputWriter {
        OutputWriter(descriptor: descriptor) { [path] in SourceError(path, errno: $0) }
    }

    /// The file's current contents. Throws for more than `limit` bytes.
    package func bytes(limit: Int) throws(SourceError) -> [UInt8] {
        try WholeFile.bytes(of: path, limit: limit)
    }

    private static func remove(_ folder: String) {
        for item in (try? StoresFolder.contents(of: folder)) ?? [] { unlink(item.path) }
        rmdir(folder)
    }
}
