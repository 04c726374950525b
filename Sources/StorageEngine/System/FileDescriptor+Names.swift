import CPlatform
import SystemC

extension FileDescriptor {
    /// Names in this folder without `.` and `..`, in no particular order.
    func names() throws(StorageError) -> [String] {
        var names: [String] = []
        try forEachName { name, _ in names.append(String(decoding: name, as: UTF8.self)) }
        return names
    }

    /// Calls `body` with each name except `.` and `..`, and whether it is a regular file; `nil`: not known.
    func forEachName(_ body: (UnsafeRawBufferPointer, _ isRegular: Bool?) -> Void) throws(StorageError) {
        let copy = try SystemCall.open.run("list", path: path) {
            Int(cp_openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
        }
        guard let stream = fdopendir(Int32(copy)) else {
            let code = errno
            _ = close(Int32(copy))
            throw .fromErrno(code, operation: "list", path: path)
        }
        defer { closedir(stream) }
        while true {
            // The end and a failure differ only in errno; a truncated list must not count as complete.
            var next: UnsafeMutablePointer<dirent>?
            try SystemCall.list.run("list", path: path) {
                errno = 0
                next = readdir(stream)
                return next == nil && errno != 0 ? -1 : 0
            }
            guard let entry = next else { break }
            let type = Int(entry.pointee.d_type)
            withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let name = UnsafeRawBufferPointer(rebasing: bytes.prefix { $0 != 0 })
                if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return }
                body(name, type == Int(DT_UNKNOWN) ? nil : type == Int(DT_REG))
            }
        }
    }

    /// Whether an entry of that name exists. Throws if that is unknown: a wrong `false` would create an archive over another.
    func hasEntry(named name: String) throws(StorageError) -> Bool {
        try SystemCall.exists.code("find", path: path + "/" + name, allowing: ENOENT, ENOTDIR) {
            Int(faccessat(descriptor, name, F_OK, AT_SYMLINK_NOFOLLOW))
        } == 0
    }

    @discardableResult func makeFolder(named name: String) throws(StorageError) -> Bool {
        let full = path + "/" + name
        let isNew =
            try SystemCall.makeFolder.code("create folder", path: full, allowing: EEXIST) {
                Int(mkdirat(descriptor, name, 0o700))
            } == 0
        if isNew { SystemFaults.tell(.madeFolder(path: full)) }
        return isNew
    }

    func rename(_ old: String, to new: String) throws(StorageError) {
        let result = SystemCall.rename.perform(path: path + "/" + old) {
            Int(renameat(descriptor, old, descriptor, new))
        }
        guard result.code == 0 else {
            // A file can't replace a folder; then the error is about the folder.
            let name = result.code == EISDIR ? new : old
            throw .fromErrno(result.code, operation: "rename", path: path + "/" + name)
        }
        SystemFaults.tell(.renamed(from: path + "/" + old, to: path + "/" + new))
    }

    /// Whether the name by which this folder was opened still leads to it. A folder above may have been moved.
    var isInItsPlace: Bool {
        get throws(StorageError) {
            guard let name = FileDescriptor.lastName(of: path),
                let present = try status(ofEntry: "../" + name)
            else { return false }
            return try present.number == status().number
        }
    }

    func isInside(_ other: FileDescriptor) throws(StorageError) -> Bool {
        let number = try other.status().number
        var (place, present) = (".", try status().number)
        while present != number {
            place += "/.."
            // More than a thousand folders deep, where no store is.
            guard place.utf8.count < Int(PATH_MAX) else { return false }
            guard let above = try status(ofEntry: place)?.number, above != present else { return false }
            present = above
        }
        return true
    }

    func link(_ name: String, as second: String) throws(StorageError) {
        try SystemCall.rename.run("create a link to", path: path + "/" + name) {
            Int(linkat(descriptor, name, descriptor, second, 0))
        }
        SystemFaults.tell(.created(path: path + "/" + second))
    }

    /// Removes a name; not an error if it is missing.
    func unlink(_ name: String, isFolder: Bool = false) throws(StorageError) {
        _ = try SystemCall.unlink.code("remove", path: path + "/" + name, allowing: ENOENT) {
            SystemFaults.tell(.unlinked(path: path + "/" + name))
            return Int(unlinkat(descriptor, name, isFolder ? AT_REMOVEDIR : 0))
        }
    }

    /// Removes a name and, for a folder, its content. Follows no link (F9). Other processes may do the same at the same time.
    func removeTree(_ name: String) throws(StorageError) {
        guard try status(ofEntry: name)?.isFolder == true else { return try unlink(name) }
        var attempts = 0
        while true {
            do throws(StorageError) {
                let inside = try folder(named: name)
                for file in try inside.names() { try inside.removeTree(file) }
                return try unlink(name, isFolder: true)
            } catch {
                guard case .system(_, _, let code) = error else { throw error }
                if code == SystemCode.missing { return }
                // Another process that has the folder open created a file in it, and won't create many.
                attempts += 1
                guard code == SystemCode.notEmpty, attempts < 10 else { throw error }
            }
        }
    }

    /// Creates `path` and missing folders above with mode 0700. The names above are on the medium; the caller syncs that of `path`.
    static func makeFolders(at path: String) throws(StorageError) {
        var code = makeFolder(at: path)
        if code == ENOENT, let parent = parent(of: path) {
            try makeFolders(at: parent)
            // Another user's folder, which this user may not open, is left out.
            _ = try StorageError.ignoring(\.isPermissionDenied) { () throws(StorageError) in
                let above = FileDescriptor.parent(of: parent)
                try folder(at: above ?? (parent.utf8.first == UInt8(ascii: "/") ? "/" : "."))
                    .synchronizeNames()
            }
            code = makeFolder(at: path)
        }
        guard code == 0 || code == EEXIST else {
            throw .fromErrno(code, operation: "create folder", path: path)
        }
    }

    static func lastName(of path: String) -> String? {
        path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String(Substring($0)) }
    }

    /// The path of the folder above; `nil` for the root and names in the working directory.
    static func parent(of path: String) -> String? {
        var bytes = path.utf8[...]
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        bytes = bytes[..<slash]
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        return bytes.isEmpty ? nil : String(Substring(bytes))
    }

    /// Returns 0 or an errno.
    private static func makeFolder(at path: String) -> Int32 {
        let made = SystemCall.makeFolder.perform(path: path) { Int(mkdir(path, 0o700)) }
        if made.code == 0 { SystemFaults.tell(.madeFolder(path: path)) }
        return made.code
    }
}
