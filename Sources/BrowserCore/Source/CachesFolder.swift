#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The user's folder for caches, where stores are looked for. Stateless; safe to call from any thread.
public enum CachesFolder {
    /// `$XDG_CACHE_HOME` or `~/.cache` (XDG Base Directory Specification); on macOS `~/Library/Caches`.
    public static func path() -> String {
        let home = variable("HOME") ?? "/"
        #if os(macOS)
        return home + "/Library/Caches"
        #else
        // The specification says to ignore relative paths.
        if let folder = variable("XDG_CACHE_HOME"), folder.hasPrefix("/") { return folder }
        return home == "/" ? "/.cache" : home + "/.cache"
        #endif
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The names in a folder, sorted; none when there is no such folder.
    static func contents(of path: String) throws(SourceError) -> [String] {
        guard let folder = opendir(path) else {
            let code = errno
            if code == ENOENT { return [] }
            throw SourceError("\(path) can't be read: \(String(cString: strerror(code)))")
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let item = readdir(folder) {
            let name = withUnsafePointer(to: &item.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
