import CBOR

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// For one thread. Reads NDJSON: a JSON value a line. Lines end with LF or CRLF, the last one perhaps with neither;
/// lines of nothing but white space are passed over.
struct LineReader: RecordReader {
    private let input: InputBuffer
    private var line = 0
    /// Length of the line given out last, which stays in the buffer until the next one is asked for.
    private var pending = 0

    init(_ input: InputBuffer) {
        self.input = input
    }

    mutating func next(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord? {
        while let content = try nextLine() {
            if content.allSatisfy(JSONSyntax.isWhitespace) { continue }
            return transcode(content, line: line, into: &writer)
        }
        return nil
    }

    private mutating func nextLine() throws(CommandFailure) -> UnsafeRawBufferPointer? {
        input.consume(pending)
        pending = 0
        // Bytes already searched aren't searched again when the line goes on in the next chunk.
        var searched = 0
        while true {
            let unread = input.unread
            if let length = Self.lineFeed(in: unread, from: searched) {
                line += 1
                pending = length + 1
                return UnsafeRawBufferPointer(rebasing: unread[..<length])
            }
            searched = unread.count
            if try input.fill() { continue }
            // What an interrupted read leaves is half a line.
            guard searched > 0, !Interruption.isRequested else { return nil }
            line += 1
            pending = searched
            return input.unread
        }
    }

    private static func lineFeed(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, 0x0a, bytes.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
