import CBOR

/// Reads the items of a JSON array one by one. An invalid item is reported, and reading continues after the next comma;
/// unbalanced brackets or quotes make the rest of the array one bad record. For one thread.
struct ArrayReader: RecordReader {
    private enum State {
        case beforeArray, inside, afterArray
    }

    private let input: InputBuffer
    private var state = State.beforeArray
    private var line = 1
    /// Length of the latest item with the comma or bracket after it.
    private var pending = 0
    private var items = 0

    init(_ input: InputBuffer) { self.input = input }

    mutating func next(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord? {
        input.consume(pending)
        pending = 0
        if state == .beforeArray {
            guard try input.skipWhitespace(&line) == UInt8(ascii: "[") else {
                if Interruption.isRequested { return nil }
                throw CommandFailure(
                    "\(input.name):\(line): not a JSON array; pass the format with --format", status: .usage)
            }
            input.consume(1)
            state = .inside
        }
        if state == .afterArray { return try rest() }
        return try item(into: &writer)
    }

    private mutating func item(into writer: inout CBORWriter) throws(CommandFailure) -> ImportRecord? {
        guard let first = try input.skipWhitespace(&line) else {
            state = .afterArray
            if Interruption.isRequested { return nil }
            return .cut(line: line, reason: "the file ends within the array")
        }
        let start = line
        if first == UInt8(ascii: "]"), items == 0 {
            input.consume(1)
            state = .afterArray
            return try rest()
        }
        items += 1
        guard let end = try endOfItem() else {
            state = .afterArray
            pending = input.unread.count
            if Interruption.isRequested { return nil }
            return .cut(line: start, reason: "the file ends within the item that begins here")
        }
        pending = end + 1
        let unread = input.unread
        if unread[end] != UInt8(ascii: ",") { state = .afterArray }
        let content = UnsafeRawBufferPointer(rebasing: unread[..<end])
        return transcode(content, line: start, into: &writer)
    }

    /// Only white space may follow the array.
    private mutating func rest() throws(CommandFailure) -> ImportRecord? {
        guard try input.skipWhitespace(&line) != nil else { return nil }
        let start = line
        repeat { input.consume(input.unread.count) } while try input.fill()
        return Interruption.isRequested
            ? nil : .bad(line: start, reason: "found text after the end of the array")
    }

    /// The offset of the comma or bracket after the item at the first unread byte; nil if the item has no end.
    private mutating func endOfItem() throws(CommandFailure) -> Int? {
        var place = 0
        var depth = 0
        var isInString = false
        while true {
            let unread = input.unread
            while place < unread.count {
                let byte = unread[place]
                if byte == UInt8(ascii: "\n") { line += 1 }
                if isInString {
                    if byte == UInt8(ascii: "\"") { isInString = false }
                    // An escaped quote doesn't end the string.
                    if byte == UInt8(ascii: "\\") { place += 1 }
                } else {
                    switch byte {
                    case UInt8(ascii: "\""): isInString = true
                    case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                    case UInt8(ascii: "]") where depth == 0, UInt8(ascii: ",") where depth == 0: return place
                    case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                    default: break
                    }
                }
                place += 1
            }
            guard try input.fill() else { return nil }
        }
    }
}
