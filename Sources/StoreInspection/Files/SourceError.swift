import StorageEngine
import SystemC

/// Why something can't be shown or written: one line for a person. A value; safe to share between threads.
package struct SourceError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether it is a file under the name of the one to be written, which may be replaced.
    package let isFileInTheWay: Bool

    package init(_ description: String, isFileInTheWay: Bool = false) {
        self.description = description
        self.isFileInTheWay = isFileInTheWay
    }

    /// A failure of the operating system on something that isn't the store.
    package init(_ subject: String, errno code: Int32) {
        isFileInTheWay = false
        switch code {
        // What is about a limit, and what to do then, the engine knows.
        case EFBIG, EMFILE, ENFILE:
            description = StorageError.fromErrno(code, operation: "use", path: subject).description
        default: description = "\(subject): \(strerror(code).map { String(cString: $0) } ?? "error \(code)")"
        }
    }

    /// Does something with a store, and says in one line why it can't be done.
    package static func translating<Result>(
        _ body: () throws(StorageError) -> Result
    ) throws(SourceError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            throw SourceError(error.description)
        }
    }
}
