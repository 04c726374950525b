/// A window of a file, up to 2 GiB for long records. Pointers into it are valid until the next ``fill()``. For one thread.
final class InputBuffer {
    static let chunkBytes = 1 << 20
    /// A value has at most 1 GiB; its spelling may be longer.
    private static let longestRecord = 2 << 30

    let name: String
    /// The file size; nil if the input isn't a regular file.
    var size: UInt64?
    private(set) var bytesRead: UInt64 = 0
    var descriptor: Int32
    /// The file offset for ``rewind()``.
    var markedPlace: off_t = 0
    /// Descriptor of the copy since ``mark()`` of an input that isn't seekable; else -1.
    var copy: Int32 = -1
    private var memory: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0

    /// Opens the file; `-` is standard input.
    init(path: String) throws(CommandFailure) {
        if path == "-" {
            name = "standard input"
            descriptor = STDIN_FILENO
        } else {
            name = path
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            let code = errno
            // A signal ends the wait for the writer of a pipe.
            if descriptor < 0 { try Interruption.check() }
            guard descriptor >= 0 else { throw CommandFailure(path, errno: code, status: .usage) }
        }
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        memory = .allocate(byteCount: Self.chunkBytes, alignment: 1)
        let kind = isKnown ? FileKind(status) : nil
        if kind == .regular { size = UInt64(status.st_size) }
        if kind == .folder { throw CommandFailure("\(name) is a folder, not a file", status: .usage) }
    }

    init(sample: [UInt8], name: String) {
        self.name = name
        descriptor = -1
        memory = .allocate(byteCount: max(1, sample.count), alignment: 1)
        memory.copyBytes(from: sample)
        end = sample.count
    }

    deinit {
        memory.deallocate()
        if descriptor > STDIN_FILENO { close(descriptor) }
        if copy >= 0 { close(copy) }
    }

    var unread: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[start..<end]) }

    func consume(_ count: Int) { start += count }

    /// Appends input to the unread bytes. False at the end of the file and after an interruption.
    func fill() throws(CommandFailure) -> Bool {
        guard descriptor >= 0 else { return false }
        try makeRoom()
        while !Interruption.isRequested {
            let count = read(descriptor, memory.baseAddress! + end, memory.count - end)
            if count > 0 {
                if copy >= 0 { try remember(UnsafeRawBufferPointer(rebasing: memory[end..<end + count])) }
                end += count
                bytesRead += UInt64(count)
                return true
            }
            if count == 0 { return false }
            guard errno == EINTR else { throw CommandFailure(name, errno: errno, status: .storeFailure) }
        }
        return false
    }

    /// Empties the window; reading continues after `bytesRead` bytes.
    func forgetAll(bytesRead: UInt64) {
        (start, end) = (0, 0)
        self.bytesRead = bytesRead
    }

    func fill(to count: Int) throws(CommandFailure) {
        while end - start < count, try fill() {}
    }

    private func makeRoom() throws(CommandFailure) {
        if start > 0 {
            memory.copyMemory(from: unread)
            end -= start
            start = 0
        }
        guard end == memory.count else { return }
        guard memory.count < Self.longestRecord else {
            throw CommandFailure("\(name): a record exceeds 2 GiB; a value has at most 1 GiB", status: .usage)
        }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 1)
        larger.copyMemory(from: unread)
        memory.deallocate()
        memory = larger
    }
}
