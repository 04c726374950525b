import SystemC

package enum StorePath {
    /// The last component of a path or of a server's address.
    package static func name(_ path: String) -> String {
        let isAddress = path.utf8.first != UInt8(ascii: "/")
        let path = isAddress ? path.prefix { $0 != "?" } : path[...]
        return path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? "/"
    }

    /// The absolute path without empty components. Resolves symbolic links only before the last `..`.
    package static func absolute(_ path: String) -> String {
        let slash = UInt8(ascii: "/")
        var absolute = path
        if path.utf8.first != slash, let folder = getcwd(nil, 0) {
            defer { free(folder) }
            absolute = String(cString: folder) + "/" + path
        }
        let parts = absolute.utf8.split(separator: slash).map { String(Substring($0)) }
            .filter { !$0.utf8.elementsEqual(".".utf8) }
        var (beginning, rest) = ("", parts[...])
        if let last = parts.lastIndex(where: { $0.utf8.elementsEqual("..".utf8) }),
            let real = realpath("/" + parts[...last].joined(separator: "/"), nil)
        {
            defer { free(real) }
            (beginning, rest) = (String(cString: real), parts[(last + 1)...])
        }
        if beginning.utf8.elementsEqual("/".utf8) { beginning = "" }
        return rest.isEmpty && !beginning.isEmpty ? beginning : beginning + "/" + rest.joined(separator: "/")
    }
}
