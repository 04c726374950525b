import CBOR

/// What a reader found next in its input.
enum ImportRecord {
    /// A record whose CBOR was written; `line` is where it began, counted from 1.
    case value(line: Int)
    /// Something that isn't a record. Reading continues after it.
    case bad(line: Int, reason: String)
    /// The input ends within what begins there. Nothing comes behind it.
    case cut(line: Int, reason: String)
}

/// Takes an import file apart, record by record, in memory bounded by the longest record. For one thread.
protocol RecordReader {
    /// Replaces what `writer` holds with the CBOR of the next record. Nil at the end of the input.
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
    /// Consumes white space and returns the byte behind it, unread still; nil at the end of the input.
    /// - Parameter line: counts the lines.
    func skipWhitespace(_ line: inout Int) throws(CommandFailure) -> UInt8? {
        while true {
            let end = unread.firstIndex { !JSONSyntax.isWhitespace($0) } ?? unread.count
            line += unread[..<end].count { $0 == UInt8(ascii: "\n") }
            consume(end)
            if let first = unread.first { return first }
            guard try fill() else { return nil }
        }
    }
}
