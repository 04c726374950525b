import SystemC

/// A file of records for this user alone, written and then read in order. It is unlinked. Not thread-safe.
final class TemporaryFile {
    /// Bytes buffered before a system call.
    private static let block = 64 << 10

    private let file: UnsafeMutablePointer<FILE>
    private let buffer: UnsafeMutablePointer<CChar>
    private let budget: TemporaryBudget
    private(set) var written = 0
    private var place = 0

    /// - Throws: if no file can be created in `$TMPDIR`, or if that is unset or empty in `/tmp`.
    init(_ budget: TemporaryBudget) throws(QueryError) {
        self.budget = budget
        var folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        if folder.isEmpty { folder = "/tmp" }
        var path = Array((folder + "/vellum-query-XXXXXX").utf8CString)
        // mkstemp creates it with permissions for its owner only.
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw .noTemporaryFile(folder: folder, reason: Self.reason(errno)) }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        guard let file = fdopen(descriptor, "w+") else {
            defer { close(descriptor) }
            throw .noTemporaryFile(folder: folder, reason: Self.reason(errno))
        }
        buffer = .allocate(capacity: Self.block)
        setvbuf(file, buffer, _IOFBF, Self.block)
        self.file = file
    }

    deinit {
        fclose(file)
        buffer.deallocate()
        budget.release(written)
    }

    func append(_ record: [UInt8]) throws(QueryError) {
        try budget.take(4 + record.count)
        written += 4 + record.count
        var length = UInt32(record.count).littleEndian
        guard fwrite(&length, 4, 1, file) == 1, fwrite(record, 1, record.count, file) == record.count else {
            throw failure
        }
    }

    /// Ends writing, and starts reading.
    func rewind() throws(QueryError) {
        guard fseek(file, 0, SEEK_SET) == 0 else { throw failure }
        place = 0
    }

    /// Nil after the last record.
    func next() throws(QueryError) -> [UInt8]? {
        guard place < written else { return nil }
        var length: UInt32 = 0
        guard fread(&length, 4, 1, file) == 1 else { throw failure }
        let count = Int(UInt32(littleEndian: length))
        let record = [UInt8](unsafeUninitializedCapacity: count) {
            $1 = fread($0.baseAddress, 1, count, file)
        }
        guard record.count == count else { throw failure }
        place += 4 + count
        return record
    }

    private var failure: QueryError {
        let isShort = feof(file) != 0
        return .temporaryFileFailed(
            reason: isShort ? "it was truncated" + Self.otherFolder : Self.reason(errno))
    }

    private static let otherFolder = "; set TMPDIR to another folder"

    /// The reason with advice: another folder doesn't help against a limit of the process.
    private static func reason(_ number: Int32) -> String {
        let advice =
            switch number {
            case EMFILE: "; raise the limit of open files (ulimit -n), or allow the query more memory"
            case ENFILE: "; the system has too many open files: close some, or allow the query more memory"
            case EFBIG: "; raise the limit of a file's size (ulimit -f), or allow the query more memory"
            default: otherFolder
            }
        return String(cString: strerror(number)) + advice
    }
}

/// The bytes of all temporary files of a query. Not thread-safe.
final class TemporaryBudget {
    private let limit: Int
    private var used = 0
    private(set) var peak = 0

    init(limit: Int) { self.limit = limit }

    func take(_ bytes: Int) throws(QueryError) {
        guard used + bytes <= limit else { throw .tooMuchTemporary(limit: limit) }
        used += bytes
        peak = max(peak, used)
    }

    func release(_ bytes: Int) { used -= bytes }
}
