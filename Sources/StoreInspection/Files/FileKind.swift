import SystemC

/// What a path names, links followed.
package enum FileKind {
    case regular, folder, pipe, other

    /// Nil where there is nothing, or where it can't be asked; `errno` says which.
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
