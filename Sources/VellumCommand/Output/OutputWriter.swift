#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// For one thread. Collects a command's results and writes them to a file descriptor, standard output unless told
/// otherwise, 64 KiB at a time. What was written last goes out with ``flush()``.
final class OutputWriter {
    private static let bufferedBytes = 1 << 16

    let isTerminal: Bool
    private let descriptor: Int32
    private let subject: String
    private var buffer: [UInt8] = []

    /// `subject`: what a message calls the descriptor. The caller closes it.
    init(descriptor: Int32 = STDOUT_FILENO, subject: String = "standard output") {
        self.descriptor = descriptor
        self.subject = subject
        isTerminal = SystemText.isTerminal(descriptor)
    }

    func write(_ text: String) throws(CommandFailure) {
        buffer.append(contentsOf: text.utf8)
        try flushIfFull()
    }

    func write(_ bytes: some Collection<UInt8>) throws(CommandFailure) {
        buffer.append(contentsOf: bytes)
        try flushIfFull()
    }

    func flush() throws(CommandFailure) {
        defer { buffer.removeAll(keepingCapacity: true) }
        var offset = 0
        while offset < buffer.count {
            let written = buffer.withUnsafeBytes { bytes in
                systemWrite(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            }
            if written < 0 {
                if errno == EINTR { continue }
                throw CommandFailure(subject, errno: errno, status: .storeFailure)
            }
            offset += written
        }
    }

    /// How wide the terminal is; nil if it is none, or doesn't say.
    var columns: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether nobody will ever read what is written to it: the other end of a pipe was closed.
    var isAbandoned: Bool {
        var request = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&request, 1, 0) == 1 && request.revents & Int16(POLLERR) != 0
    }

    private func flushIfFull() throws(CommandFailure) {
        if buffer.count >= Self.bufferedBytes { try flush() }
    }

    private func systemWrite(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
