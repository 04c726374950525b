import CBOR

/// Reads a sequence of JSON values, optionally separated by white space. After invalid JSON, reading continues with the next
/// line on which a value can begin, so that an incomplete line doesn't affect later ones. For one thread.
struct ValueReader: RecordReader {
    private let input: InputBuffer
    private var line = 1
    /// Length of the latest value, which stays in the buffer until the next call.
    private var pending = 0

    init(_ input: InputBuffer) { self.input = input }

    mutating func next(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord? {
        line += input.unread[..<pending].count { $0 == UInt8(ascii: "\n") }
        input.consume(pending)
        pending = 0
        guard let first = try input.skipWhitespace(&line) else { return nil }
        let (length, isWhole) = try input.lineLength()
        // An interrupted read may return half a line.
        if !isWhole, Interruption.isRequested { return nil }
        pending = length
        let record = transcode(
            UnsafeRawBufferPointer(rebasing: input.unread[..<length]), line: line, into: &writer)
        if case .value = record { return record }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return record }
        return try longValue(into: &writer)
    }

    private mutating func longValue(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord? {
        let isCut: Bool
        (pending, isCut) = try endOfValue()
        guard isCut else {
            return transcode(
                UnsafeRawBufferPointer(rebasing: input.unread[..<pending]), line: line, into: &writer)
        }
        return Interruption.isRequested
            ? nil : .cut(line: line, reason: "the input ends within the value that begins here")
    }

    // MARK: Values over several lines

    /// The end of the object or array at the first unread byte; after invalid JSON, where a value may begin. `isCut`: the input
    /// ends before.
    private func endOfValue() throws(CommandFailure) -> (place: Int, isCut: Bool) {
        var scan = BracketScan()
        var place = 0
        var lineStart = 0
        while true {
            let unread = input.unread
            while place < unread.count {
                let byte = unread[place]
                switch scan.step(byte) {
                case .inside: break
                case .end: return (place + 1, false)
                case .fault:
                    let beginsLine = unread[lineStart..<place].allSatisfy(JSONSyntax.isWhitespace)
                    if lineStart > 0, beginsLine { return (lineStart, false) }
                    return (try input.lineLength(from: place).length, false)
                }
                place += 1
                if byte == UInt8(ascii: "\n") { lineStart = place }
            }
            guard try input.fill() else { return (place, true) }
        }
    }
}

/// Follows brackets and strings of JSON text until they are closed or invalid. For one thread.
private struct BracketScan {
    enum Step {
        case inside, end, fault
    }

    private var open: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// The last byte outside of strings that isn't white space.
    private var last: UInt8 = 0

    mutating func step(_ byte: UInt8) -> Step {
        if isInString { return string(byte) }
        if JSONSyntax.isWhitespace(byte) { return .inside }
        defer { last = byte }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.isEmpty || mayBegin else { return .fault }
            open.append(byte)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            let expected = byte == UInt8(ascii: "}") ? UInt8(ascii: "{") : UInt8(ascii: "[")
            guard open.popLast() == expected else { return .fault }
            if open.isEmpty { return .end }
        default: break
        }
        return .inside
    }

    /// A JSON string contains no raw line end.
    private mutating func string(_ byte: UInt8) -> Step {
        if byte == UInt8(ascii: "\n") { return .fault }
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        }
        return .inside
    }

    /// Whether a value may follow the last byte.
    private var mayBegin: Bool {
        if last == UInt8(ascii: ":") { return true }
        return open.last == UInt8(ascii: "[") && (last == UInt8(ascii: "[") || last == UInt8(ascii: ","))
    }
}
