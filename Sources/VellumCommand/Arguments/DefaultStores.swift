import StorageEngine

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Stateless; safe from any thread. The stores that are found without being named.
enum DefaultStores {
    /// Where programs keep their caches; nil without a home folder.
    static var folder: String? {
        #if canImport(Darwin)
        return SystemText.environment("HOME").map { $0 + "/Library/Caches" }
        #else
        // Relative paths are invalid there (XDG Base Directory Specification).
        if let path = SystemText.environment("XDG_CACHE_HOME"), path.hasPrefix("/") { return path }
        return SystemText.environment("HOME").map { $0 + "/.cache" }
        #endif
    }

    /// Paths of the stores that lie directly in the folder, sorted.
    static func paths() -> [String] {
        guard let folder, let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let path = folder + "/" + name
            if name != ".", name != "..", Store.isStore(at: path) { paths.append(path) }
        }
        return paths.sorted()
    }
}
