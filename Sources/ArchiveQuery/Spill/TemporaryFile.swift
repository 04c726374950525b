import SystemC

/// A file of records for this user alone, written and then read in order. It is unlinked. Not thread-safe.
final class TemporaryFile {
    /// Bytes buffered before a system call.
    private static let block = 64 << 10

    private let descriptor: Int32
    private let budget: TemporaryBudget
    private var collected: [UInt8] = []
    private(set) var written = 0
    // Reading.
    private var window: [UInt8] = []
    private var windowStart = 0
    private var place = 0

    /// - Throws: if no file can be created in `$TMPDIR`, or if that is unset or empty in `/tmp`.
    init(_ budget: TemporaryBudget) throws(QueryError) {
        self.budget = budget
        var folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        if folder.isEmpty { folder = "/tmp" }
        var path = Array((folder + "/vellum-query-XXXXXX").utf8CString)
        // mkstemp creates it with permissions for its owner only.
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw .noTemporaryFile(folder: folder, reason: Self.reason(errno)) }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit {
        close(descriptor)
        budget.release(written)
    }

    func append(_ record: [UInt8]) throws(QueryError) {
        let length = UInt32(record.count)
        withUnsafeBytes(of: length.littleEndian) { collected.append(contentsOf: $0) }
        collected.append(contentsOf: record)
        if collected.count >= Self.block { try flush() }
    }

    private func flush() throws(QueryError) {
        guard !collected.isEmpty else { return }
        try budget.take(collected.count)
        var done = 0
        while done < collected.count {
            let count = collected.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(written + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .temporaryFileFailed(reason: Self.reason(errno)) }
            done += count
        }
        written += collected.count
        collected.removeAll(keepingCapacity: true)
    }

    /// Ends writing, and starts reading.
    func rewind() throws(QueryError) {
        try flush()
        collected = []
        (window, windowStart, place) = ([], 0, 0)
    }

    /// Nil after the last record.
    func next() throws(QueryError) -> [UInt8]? {
        guard place < written else { return nil }
        let head = try bytes(at: place, count: 4)
        let length = Int(head.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) })
        let record = try bytes(at: place + 4, count: length)
        place += 4 + length
        return Array(record)
    }

    private func bytes(at offset: Int, count: Int) throws(QueryError) -> ArraySlice<UInt8> {
        if offset < windowStart || offset + count > windowStart + window.count {
            window = try read(at: offset, count: min(max(count, Self.block), written - offset))
            windowStart = offset
        }
        return window[(offset - windowStart)..<(offset - windowStart + count)]
    }

    private func read(at offset: Int, count: Int) throws(QueryError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + done, count - done, off_t(offset + done))
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else {
                throw .temporaryFileFailed(
                    reason: read == 0 ? "it has become shorter" + Self.otherFolder : Self.reason(errno))
            }
            done += read
        }
        return bytes
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
