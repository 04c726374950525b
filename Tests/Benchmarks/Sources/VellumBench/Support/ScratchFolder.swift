import Foundation

/// A new folder for the stores of one run, removed with its content by ``remove()``.
struct ScratchFolder {
    let url: URL

    private static let prefix = "vellum-bench-"

    /// Also removes folders of interrupted runs in `parent`.
    init(in parent: URL) throws {
        let siblings = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in siblings where name.hasPrefix(ScratchFolder.prefix) {
            guard let pid = pid_t(name.dropFirst(ScratchFolder.prefix.count)) else { continue }
            guard kill(pid, 0) != 0, errno == ESRCH else { continue }
            try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
        }
        url = parent.appendingPathComponent("\(ScratchFolder.prefix)\(getpid())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// The path of a new, empty folder of that name.
    func fresh(_ name: String) throws -> String {
        let path = url.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: path.path) { try FileManager.default.removeItem(at: path) }
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        return path.path
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: url.appendingPathComponent(name))
    }

    func remove() throws { try FileManager.default.removeItem(at: url) }

    /// The kind of the folder's file system, and whether it is in memory.
    var fileSystem: (name: String, isMemory: Bool) {
        #if os(Linux)
        // proc_pid_mounts(5): device, mount point, kind, …. The deepest mount point above the folder counts, the last one if
        // there are several.
        let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        let path = url.resolvingSymlinksInPath().path + "/"
        var found = (point: "", kind: "unknown")
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1] == "/" ? "/" : fields[1] + "/"
            if path.hasPrefix(point), point.count >= found.point.count {
                found = (String(point), String(fields[2]))
            }
        }
        return (found.kind, ["tmpfs", "ramfs"].contains(found.kind))
        #else
        var facts = statfs()
        guard statfs(url.path, &facts) == 0 else { return ("unknown", false) }
        let name = withUnsafeBytes(of: facts.f_fstypename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return (name, false)
        #endif
    }
}
