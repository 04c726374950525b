#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a folder holds. Stateless; safe to call from any thread.
enum FolderContents {
    /// The names in a folder, sorted; none when there is no such folder.
    static func names(in path: String) throws(SourceError) -> [String] {
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
