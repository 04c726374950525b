#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A new file for this user alone, written while something goes on: what is written stays, however the program ends. For one
/// thread.
package final class GrowingFile {
    private let path: String
    private let descriptor: Int32

    /// - Throws: where there is something under the name, which is left alone.
    package init(at path: String) throws(SourceError) {
        try WholeFile.refuse(inStore: path, named: path)
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor < 0 else { return }
        guard errno == EEXIST else { throw SourceError(path, errno: errno) }
        throw SourceError("\(path) is there already; choose another name", isFileInTheWay: true)
    }

    deinit { close(descriptor) }

    /// Writes into it. What it has collected has to be flushed.
    package var output: OutputWriter {
        OutputWriter(descriptor: descriptor) { [path] in SourceError(path, errno: $0) }
    }
}
