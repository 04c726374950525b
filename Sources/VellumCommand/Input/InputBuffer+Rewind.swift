/// Reads an input twice: a file by seeking, a pipe from a copy.
extension InputBuffer {
    /// Makes further input readable again. Copies input that isn't seekable to an unlinked file.
    func mark() throws(CommandFailure) {
        let place = lseek(descriptor, 0, SEEK_CUR)
        if size != nil, place >= 0 {
            markedPlace = place - off_t(unread.count)
        } else {
            copy = try Self.unnamedFile()
            try remember(unread)
        }
    }

    /// Returns to the first byte that was unread at ``mark()``.
    func rewind() throws(CommandFailure) {
        if copy >= 0 {
            if descriptor != STDIN_FILENO { close(descriptor) }
            descriptor = copy
            copy = -1
            markedPlace = 0
            var status = stat()
            if fstat(descriptor, &status) == 0 { size = UInt64(status.st_size) }
        }
        guard lseek(descriptor, markedPlace, SEEK_SET) >= 0 else {
            throw CommandFailure(name, errno: errno, status: .storeFailure)
        }
        forgetAll(bytesRead: UInt64(markedPlace))
    }

    /// Copies bytes of an input that isn't seekable.
    func remember(_ bytes: UnsafeRawBufferPointer) throws(CommandFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let written = write(copy, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { throw Self.noCopy(name, errno) }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    private static var temporaryFolder: String { SystemText.environment("TMPDIR") ?? "/tmp" }

    private static func unnamedFile() throws(CommandFailure) -> Int32 {
        var path = Array((temporaryFolder + "/vellum-import-XXXXXX").utf8CString)
        let file = mkstemp(&path)
        guard file >= 0 else { throw noCopy("the input", errno) }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        unlink(path)
        return file
    }

    private static func noCopy(_ name: String, _ code: Int32) -> CommandFailure {
        let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
        return CommandFailure(
            "\(name) can't be copied to \(temporaryFolder) for a second read: \(reason); import a file, set TMPDIR, "
                + "or pass --text", status: .storeFailure)
    }
}
