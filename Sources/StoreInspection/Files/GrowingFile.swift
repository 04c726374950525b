import SystemC

/// A new file readable by this user only, which is appended to without buffering.
package final class GrowingFile {
    private let descriptor: Int32
    private let output: OutputWriter

    /// - Throws: if the file exists.
    package init(at path: String) throws(SourceError) {
        try WholeFile.refuse(inStore: path, named: path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            guard errno == EEXIST else { throw SourceError(path, errno: errno) }
            throw SourceError("\(path) already exists; choose another name", fileExists: true)
        }
        descriptor = file
        output = OutputWriter(descriptor: file) { SourceError(path, errno: $0) }
    }

    deinit { close(descriptor) }

    package func append(_ text: String) throws(SourceError) {
        try output.write(text)
        try output.flush()
    }
}
