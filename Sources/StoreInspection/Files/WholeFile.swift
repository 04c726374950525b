import Foundation
import StorageEngine
import SystemC

/// A file that is written under a temporary name until ``finish()``. A killed process leaves `.vellum-HASH-N.partial`,
/// which the next file of the same name removes. Pipes, terminals and devices are written to directly.
package final class WholeFile {
    /// The file's own path if the name is a link.
    private let target: String
    private let path: String
    private let partial: String?
    private let replaces: Bool
    private let descriptor: Int32
    private var isOpen = true
    /// Returns whether to stop waiting for the reader of a pipe.
    package var isStopped: () -> Bool = { false }

    /// - Parameters:
    ///   - replaces: whether an existing file is replaced; its owner and permissions are kept.
    ///   - waits: whether opening and writing a pipe waits for its reader without a limit.
    /// - Throws: also if another user's file would become this user's, or a pipe has no reader.
    package init(at path: String, replaces: Bool, waits: Bool = false) throws(SourceError) {
        self.path = path
        self.replaces = replaces
        if let descriptor = WholeFile.inherited(path) {
            (self.descriptor, target, partial) = (try WholeFile.opened(dup(descriptor), path), path, nil)
            return
        }
        target = try WholeFile.target(of: path)
        try WholeFile.refuse(inStore: target, named: path)
        var facts = stat()
        let exists = stat(target, &facts) == 0
        if exists, FileKind(facts) != .regular {
            let flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (waits ? 0 : O_NONBLOCK)
            descriptor = try WholeFile.opened(open(target, flags), path)
            partial = nil
            return
        }
        if exists {
            guard replaces else { throw WholeFile.alreadyExists(path) }
            guard access(target, W_OK) == 0 else { throw WholeFile.failure(path, errno) }
        }
        let made = try WholeFile.make(beside: target, of: path)
        (descriptor, partial) = (made.descriptor, made.name)
        WholeFile.unfinished = strdup(made.name)
        guard exists else { return }
        guard fchown(descriptor, facts.st_uid, facts.st_gid) == 0 || WholeFile.has(descriptor, ownerOf: facts)
        else {
            discard()
            throw SourceError(
                "\(path) can't be replaced: it belongs to another user or group, and replacing it would change its owner; "
                    + "remove it, or choose another name")
        }
        fchmod(descriptor, facts.st_mode & 0o777)
    }

    deinit { discard() }

    private static func has(_ descriptor: Int32, ownerOf facts: stat) -> Bool {
        var own = stat()
        return fstat(descriptor, &own) == 0 && own.st_uid == facts.st_uid && own.st_gid == facts.st_gid
    }

    nonisolated(unsafe) private static var unfinished: UnsafeMutablePointer<CChar>?

    /// Removes unfinished files from a signal handler. Allocates nothing.
    package static func removeUnfinished() {
        if let unfinished { _ = unlink(unfinished) }
    }

    /// Appends through a buffer, which must be flushed before ``finish()``.
    package var output: OutputWriter {
        let output = OutputWriter(descriptor: descriptor) { [path] in WholeFile.failure(path, $0) }
        output.isStopped = isStopped
        return output
    }

    /// Syncs the file and gives it its name.
    package func finish() throws(SourceError) {
        guard let partial else { return discard() }
        // Some file systems can't sync folders.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw WholeFile.failure(path, errno)
        }
        if replaces {
            guard rename(partial, target) == 0 else { throw WholeFile.failure(path, errno) }
        } else if link(partial, target) != 0 {
            guard errno != EEXIST else { throw WholeFile.alreadyExists(path) }
            // The file system has no hard links.
            guard access(target, F_OK) != 0 else { throw WholeFile.alreadyExists(path) }
            guard rename(partial, target) == 0 else { throw WholeFile.failure(path, errno) }
        }
        discard()
    }

    /// Closes the file and removes it if it is unfinished. Idempotent.
    package func discard() {
        guard isOpen else { return }
        isOpen = false
        // A lock keeps other processes from removing it.
        if let partial { _ = unlink(partial) }
        WholeFile.unfinished = nil
        _ = close(descriptor)
    }

    /// Reads a file or pipe. Throws for more than `limit` bytes.
    package static func bytes(of path: String, limit: Int) throws(SourceError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SourceError(path, errno: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SourceError(path, errno: errno) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
        throw SourceError("\(path) is longer than \(Figures.bytes(UInt64(limit)))")
    }

    // MARK: Paths

    /// Expands `~` to the home folder `$HOME`.
    package static func path(typed path: String) -> String {
        guard path == "~" || path.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"],
            !home.isEmpty
        else { return NSString(string: path).expandingTildeInPath }
        return home + path.dropFirst()
    }

    package static func replacesFile(at path: String) -> Bool {
        inherited(path) == nil && FileKind(of: path) == .regular
    }

    /// The descriptor that a path such as `/dev/stdout` names; opening it again would start at the file's beginning.
    private static func inherited(_ path: String) -> Int32? {
        if path == "/dev/stdout" { return STDOUT_FILENO }
        if path == "/dev/stderr" { return STDERR_FILENO }
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.count))
        }
        return nil
    }

    /// The target of symbolic links; it may be missing.
    private static func target(of path: String) throws(SourceError) -> String {
        var target = path
        for _ in 0..<40 {
            var name = [UInt8](repeating: 0, count: Int(PATH_MAX))
            let count = name.withUnsafeMutableBytes { readlink(target, $0.baseAddress!, $0.count) }
            guard count > 0 else { return target }
            let next = String(decoding: name.prefix(count), as: UTF8.self)
            target = next.hasPrefix("/") ? next : folder(of: target) + next
        }
        throw failure(path, ELOOP)
    }

    /// The path of the containing folder with a slash at its end; empty for the working folder.
    private static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    }

    private static func make(
        beside target: String, of path: String
    ) throws(SourceError) -> (descriptor: Int32, name: String) {
        let folder = folder(of: target)
        let hash = hash(of: target.dropFirst(folder.count))
        var number = 0
        while true {
            let name = folder + ".vellum-\(hash)-\(number).partial"
            let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if descriptor >= 0, number < 16, !holds(descriptor, name) {
                // Another process removed it as abandoned.
                _ = close(descriptor)
                number += 1
                continue
            }
            if descriptor < 0, errno == EEXIST, number < 1000 {
                if !removeAbandoned(name) { number += 1 }
                continue
            }
            if descriptor < 0, errno == EACCES || errno == EPERM {
                throw SourceError(
                    "\(path) can't be written: no permission to create files in its folder; choose another folder"
                )
            }
            return (try opened(descriptor, path), name)
        }
    }

    /// FNV-1a of the name.
    private static func hash(of name: Substring) -> String {
        String(
            name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 },
            radix: 16)
    }

    /// Locks the file until its process ends.
    /// - Returns: false if another process has the lock, or if the name now refers to another file. If the file system has no
    ///   locks, no file is removed.
    private static func holds(_ descriptor: Int32, _ name: String) -> Bool {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return errno != EWOULDBLOCK }
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(name, &named) == 0 && own.st_ino == named.st_ino
            && own.st_dev == named.st_dev
    }

    /// Removes an unlocked file of a killed process.
    private static func removeAbandoned(_ name: String) -> Bool {
        // Network folders lock only files opened for writing.
        let descriptor = open(name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, holds(descriptor, name) else { return false }
        return unlink(name) == 0
    }

    private static func opened(_ descriptor: Int32, _ path: String) throws(SourceError) -> Int32 {
        guard descriptor >= 0 else { throw failure(path, errno) }
        return descriptor
    }

    // MARK: Errors

    /// Throws if the file would be inside a store; `path` is named in the error.
    static func refuse(inStore target: String, named path: String) throws(SourceError) {
        guard Store.holdsFile(at: target) else { return }
        throw SourceError("\(path) can't be written: it is in a store's folder; choose another one")
    }

    private static func alreadyExists(_ path: String) -> SourceError {
        SourceError(
            "\(path) can't be written: the file already exists; choose another name",
            fileExists: true)
    }

    private static func failure(_ path: String, _ code: Int32) -> SourceError {
        switch code {
        case ENOENT: SourceError("\(path) can't be written: its folder doesn't exist")
        case EACCES, EPERM: SourceError("\(path) can't be written: permission denied")
        case EROFS:
            SourceError("\(path) can't be written: the file system is read-only; choose another folder")
        case ENXIO where FileKind(of: path) == .pipe:
            SourceError("\(path) can't be written: no process reads it; start its reader first")
        case EPIPE: SourceError("\(path) was written in part: its reader has ended")
        case EAGAIN: SourceError("\(path) was written in part: its reader has stopped reading")
        case EISDIR: SourceError("\(path) can't be written: it is a folder; name a file in it")
        case ENOSPC, EDQUOT: SourceError("\(path) can't be written: the disk is full; nothing was kept")
        default: SourceError(StorageError.fromErrno(code, operation: "write", path: path).description)
        }
    }
}
