import StorageEngine
import SystemC

package enum StoresFolder {
    /// Names that may be stores; empty if the folder is missing.
    package static func contents(of folder: String) throws(SourceError) -> [(name: String, path: String)] {
        guard let contents = opendir(folder) else {
            let code = errno
            if code == ENOENT { return [] }
            throw SourceError(folder, errno: code)
        }
        defer { closedir(contents) }
        var names: [String] = []
        while true {
            errno = 0
            guard let item = readdir(contents) else {
                let code = errno
                if code == 0 { break }
                // An incomplete list is an error.
                throw SourceError(folder, errno: code)
            }
            let name = withUnsafePointer(to: &item.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted().map { ($0, folder.hasSuffix("/") ? folder + $0 : "\(folder)/\($0)") }
    }

    /// The paths of the folder's stores, unreadable ones included.
    package static func stores(in folder: String) throws(SourceError) -> [String] {
        try contents(of: folder).map(\.path).filter { (try? Store.isStore(at: $0)) ?? true }
    }
}
