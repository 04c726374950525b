import CBOR
import StorageEngine
import SystemC

package struct SourceError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether a file wasn't written because it already exists and may be replaced.
    package let fileExists: Bool
    /// Whether values weren't read because a read counts as an access to each key.
    package let isAccessRefusal: Bool
    package private(set) var isStoreAbsent = false
    /// A server's error reply, such as `NOPERM …`.
    package let refusal: String?

    package init(
        _ description: String, fileExists: Bool = false, isAccessRefusal: Bool = false,
        refusal: String? = nil
    ) {
        (self.description, self.refusal) = (description, refusal)
        self.fileExists = fileExists
        self.isAccessRefusal = isAccessRefusal
    }

    /// A failure of the operating system outside the store.
    package init(_ subject: String, errno code: Int32) {
        (fileExists, isAccessRefusal, refusal) = (false, false, nil)
        switch code {
        case EFBIG, EMFILE, ENFILE:
            description = StorageError.fromErrno(code, operation: "use", path: subject).description
        default: description = "\(subject): \(strerror(code).map { String(cString: $0) } ?? "error \(code)")"
        }
    }

    package init(unreadable error: CBORError) { self.init("a stored value cannot be read: \(error)") }

    /// Runs `body` and describes errors of the engine in one line.
    package static func translating<Result>(
        _ body: () throws(StorageError) -> Result
    ) throws(SourceError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            var failure = SourceError(error.description)
            if case .storeNotFound = error { failure.isStoreAbsent = true }
            throw failure
        }
    }

    /// Describes errors of a single call of the engine in one line.
    package static func translating<Result>(
        _ call: @autoclosure () throws(StorageError) -> Result
    ) throws(SourceError) -> Result { try translating { () throws(StorageError) in try call() } }
}
