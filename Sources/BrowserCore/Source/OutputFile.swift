import StoreInspection

/// A file to write. After a stop, doesn't wait for the reader of a pipe.
package struct OutputFile {
    let path: String
    /// Whether an existing file is replaced.
    let replaces: Bool
    let isStopped: () -> Bool

    func create() throws(SourceError) -> WholeFile {
        let file = try WholeFile(at: WholeFile.path(typed: path), replaces: replaces)
        file.isStopped = isStopped
        return file
    }
}
