import StorageEngine
import SystemC

/// A folder that holds stores. Stateless; safe to call from any thread.
package enum StoresFolder {
    /// What lies in it and may be a store, by name; none when there is no such folder.
    package static func contents(of folder: String) throws(SourceError) -> [(name: String, path: String)] {
        guard let contents = opendir(folder) else {
            let code = errno
            if code == ENOENT { return [] }
            throw SourceError("\(folder) can't be read: \(String(cString: strerror(code)))")
        }
        defer { closedir(contents) }
        var names: [String] = []
        while true {
            errno = 0
            guard let item = readdir(contents) else {
                let code = errno
                if code == 0 { break }
                // A list that broke off must not pass for a complete one.
                throw SourceError("\(folder) can't be read: \(String(cString: strerror(code)))")
            }
            let name = withUnsafePointer(to: &item.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted().map { ($0, folder.hasSuffix("/") ? folder + $0 : "\(folder)/\($0)") }
    }

    /// The paths of its stores. One that can't be looked at counts.
    package static func stores(in folder: String) throws(SourceError) -> [String] {
        try contents(of: folder).map(\.path).filter { (try? Store.isStore(at: $0)) ?? true }
    }
}
