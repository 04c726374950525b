import CBOR

enum ImportRecord {
    /// A record whose CBOR was written; `line` is its first, from 1.
    case value(line: Int)
    /// An invalid record. Reading continues after it.
    case bad(line: Int, reason: String)
    /// The input ends within the record.
    case cut(line: Int, reason: String)
}

/// Reads records one by one, in memory bounded by the longest record. For one thread.
protocol RecordReader {
    /// Replaces the contents of `writer` with the next record's CBOR. Nil at the end of the input.
    mutating func next(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord?
}

extension RecordReader {
    /// Transcodes one JSON text that began on `line`.
    func transcode(_ json: UnsafeRawBufferPointer, line: Int, into writer: inout CBORWriter) -> ImportRecord {
        writer.removeAll()
        do throws(JSONError) {
            try JSONTranscoder.transcode(json, into: &writer, uniqueNames: true, readsBytes: true)
            return .value(line: line)
        } catch {
            return .bad(line: line, reason: "\(error.reason), at byte \(error.offset + 1)")
        }
    }
}

extension InputBuffer {
    /// Skips white space and returns the byte after it without consuming it; nil at the end of the input. Counts the lines.
    func skipWhitespace(_ line: inout Int) throws(CommandFailure) -> UInt8? {
        while true {
            let end = unread.firstIndex { !JSONSyntax.isWhitespace($0) } ?? unread.count
            line += unread[..<end].count { $0 == UInt8(ascii: "\n") }
            consume(end)
            if let first = unread.first { return first }
            guard try fill() else { return nil }
        }
    }

    /// Bytes from `start` to the next line feed, or to the end of the input.
    func lineLength(from start: Int = 0) throws(CommandFailure) -> (length: Int, isWhole: Bool) {
        // Don't search the same bytes again in the next chunk.
        var searched = start
        while true {
            let unread = unread
            if searched < unread.count, let base = unread.baseAddress,
                let found = memchr(base + searched, 0x0a, unread.count - searched)
            {
                return (UnsafeRawPointer(found) - base, true)
            }
            searched = unread.count
            guard try fill() else { return (searched, false) }
        }
    }
}
