import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A value or a text in a file that only this user can read, for a program that wants a file: a pager, an editor. Safe from
/// any thread.
///
/// It lies in a folder of its own, where what the program puts beside it (an editor's backup) is as private, and goes with it
/// when nobody holds it any more, unless ``keep()`` was called. Who is ended by a signal leaves it, to the program that has it.
package final class PrivateFile: Sendable {
    package let path: String
    private let folder: String
    private let descriptor: Int32
    private let isKept = Mutex(false)

    /// - Parameters:
    ///   - name: of the file; an editor tells from its end what is in it.
    ///   - parent: the folder for temporary files.
    package init(named name: String, in parent: String) throws(SourceError) {
        var template = Array((parent + (parent.hasSuffix("/") ? "" : "/") + "vellum-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw SourceError(parent, errno: errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/" + name
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            rmdir(folder)
            throw SourceError(path, errno: code)
        }
    }

    deinit {
        close(descriptor)
        if !isKept.withLock({ $0 }) { remove() }
    }

    /// It stays where it is, for a person who may want what is in it.
    package func keep() { isKept.withLock { $0 = true } }

    /// Whether there is a file of its name: a program may have removed it.
    package var isThere: Bool { access(path, F_OK) == 0 }

    /// Writes into it, behind what was written before. What it has collected has to be flushed.
    package var output: OutputWriter {
        OutputWriter(descriptor: descriptor) { [path] in SourceError(path, errno: $0) }
    }

    /// What is in it by now; an editor may have put another file in its place.
    /// - Throws: also where it is longer than `limit` bytes.
    package func bytes(limit: Int) throws(SourceError) -> [UInt8] {
        try WholeFile.bytes(of: path, limit: limit)
    }

    /// The folder and what is in it; it has no folders itself.
    private func remove() {
        for item in (try? StoresFolder.contents(of: folder)) ?? [] { unlink(item.path) }
        rmdir(folder)
    }
}
