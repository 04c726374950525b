import SystemC

/// The kind of file at a path. Follows links.
package enum FileKind {
    case regular, folder, pipe, other

    /// Nil if the file is missing or can't be read; `errno` has the reason.
    package init?(of path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        self.init(facts)
    }

    package init(_ facts: stat) {
        self =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFIFO: .pipe
            default: .other
            }
    }
}
