import CBOR
import SystemC

/// Writes a command's results to a file descriptor, by default standard output, in blocks of 64 KiB. Call ``flush()`` at the
/// end.
package final class OutputWriter {
    private static let bufferedBytes = 1 << 16

    package let isTerminal: Bool
    private let descriptor: Int32
    private let failure: (Int32) -> SourceError
    /// Returns whether to stop waiting for the reader of a nonblocking pipe.
    var isStopped: () -> Bool = { false }
    private var buffer: [UInt8] = []

    /// - Parameter failure: describes an error number. The caller closes the descriptor.
    package init(
        descriptor: Int32 = STDOUT_FILENO,
        failure: @escaping (Int32) -> SourceError = { SourceError("standard output", errno: $0) }
    ) {
        self.descriptor = descriptor
        self.failure = failure
        isTerminal = isatty(descriptor) == 1
    }

    package func write(_ text: String) throws(SourceError) { try write(text.utf8) }

    package func write(_ bytes: some Collection<UInt8>) throws(SourceError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.bufferedBytes { try flush() }
    }

    /// Writes a long value without a copy.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SourceError) {
        guard bytes.count < Self.bufferedBytes else {
            try flush()
            return try writeAll(bytes)
        }
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.bufferedBytes { try flush() }
    }

    /// Writes a value's JSON in pieces, without control characters.
    ///
    /// - Parameters:
    ///   - isBare: whether a text is written without quotes and escapes.
    ///   - isSafe: whether control characters are escaped.
    ///   - spelled: converts a piece, which ends at a character's end.
    package func write(
        _ source: JSONSource, _ layout: JSONLayout = .compact, isBare: Bool = false, isSafe: Bool = true,
        as spelled: ((UnsafeRawBufferPointer) -> [UInt8])? = nil
    ) throws(SourceError) {
        var failure: SourceError?
        do throws(CBORError) {
            _ = try source.print(layout, isBare: isBare) { piece in
                do throws(SourceError) {
                    if let spelled {
                        try TerminalSafe.write(spelled(piece), to: self)
                    } else if isSafe {
                        try TerminalSafe.write(piece, to: self)
                    } else {
                        try self.write(piece)
                    }
                } catch { failure = error }
                return failure == nil
            }
        } catch { throw SourceError(unreadable: error) }
        if let failure { throw failure }
    }

    package func flush() throws(SourceError) {
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBufferPointer { (bytes) throws(SourceError) in
            try writeAll(UnsafeRawBufferPointer(bytes))
        }
    }

    private func writeAll(_ bytes: UnsafeRawBufferPointer) throws(SourceError) {
        var offset = 0
        while offset < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            let written = SystemC.write(descriptor, rest.baseAddress, rest.count)
            if written < 0 {
                let code = errno
                if code == EINTR { continue }
                guard code == EAGAIN else { throw failure(code) }
                guard waitForReader() else { throw failure(code) }
                continue
            }
            offset += written
        }
    }

    /// Waits for the reader of a nonblocking pipe; false after 10 seconds, or if stopped.
    private func waitForReader() -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        for _ in 0..<200 where !isStopped() {
            if poll(&request, 1, 50) != 0 { return true }
        }
        return false
    }

    /// The terminal's width; nil without a terminal or if unknown.
    package var columns: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether the reading end of the pipe was closed.
    package var isAbandoned: Bool {
        var request = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&request, 1, 0) == 1 && request.revents & Int16(POLLERR) != 0
    }
}
