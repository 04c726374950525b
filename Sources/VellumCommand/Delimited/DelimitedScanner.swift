/// Splits CSV or TSV into rows. Quotes within a field that begins without one are ordinary characters. For one thread.
struct DelimitedScanner {
    struct Field {
        let range: Range<Int>
        let isQuoted: Bool
    }

    enum Row {
        case fields
        case bad(reason: String)
        case cut(reason: String)

        var fault: String? {
            switch self {
            case .fields: nil
            case .bad(let reason), .cut(let reason): reason
            }
        }
    }

    /// A value has at most 1 GiB.
    private static let longestRow = 1 << 30

    /// The unquoted content of all fields of the current row.
    private(set) var text: [UInt8] = []
    private(set) var fields: [Field] = []
    private(set) var rowLine = 0
    /// Whether the current row ended with a line end, not with the input.
    private(set) var isAtEndOfLine = false
    private(set) var followsEmptyLine = false
    private let input: InputBuffer
    private let delimiter: UInt8
    /// -1: none.
    private let quote: Int
    private let trims: Bool
    /// The position of the next byte.
    private var line: Int
    private var column = 0
    /// Whether the last byte was a carriage return, which a line feed may follow.
    private var followsReturn = false
    private var opening = (line: 0, column: 0)

    /// - Parameter line: the number of the input's first line.
    init(_ input: InputBuffer, _ dialect: DelimitedDialect, line: Int = 1) {
        self.input = input
        self.line = line
        delimiter = dialect.delimiter
        trims = dialect.trims
        quote = if case .enclosing(let quote) = dialect.quoting { Int(quote) } else { -1 }
    }

    private enum State {
        case fieldStart, plain, quoted, quoteInQuoted
        /// Spaces after the closing quote.
        case closed
        /// After a fault, to the end of the line.
        case skipping
    }

    /// Reads the next row that isn't empty. Nil at the end of the input.
    mutating func next() throws(CommandFailure) -> Row? {
        followsEmptyLine = false
        while let row = try row() {
            let isEmpty = fields.count == 1 && fields[0].range.isEmpty && !fields[0].isQuoted
            if row.fault != nil || !isEmpty { return row }
            followsEmptyLine = true
        }
        return nil
    }

    private mutating func row() throws(CommandFailure) -> Row? {
        text.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        rowLine = line
        isAtEndOfLine = false
        var state = State.fieldStart
        var fieldStart = 0
        var fault: String?
        var isEmpty = true
        while true {
            let unread = input.unread
            var place = 0
            while place < unread.count {
                let byte = unread[place]
                place += 1
                column += 1
                if byte == 0x0a || byte == 0x0d {
                    let isSecond = byte == 0x0a && followsReturn
                    followsReturn = byte == 0x0d
                    if !isSecond { line += 1 }
                    column = 0
                    if state != .quoted {
                        // The line feed of a CR LF.
                        if isSecond, isEmpty {
                            rowLine = line
                            continue
                        }
                        input.consume(place)
                        isAtEndOfLine = true
                        return finish(state, fieldStart, fault)
                    }
                } else {
                    followsReturn = false
                }
                isEmpty = false
                state = step(byte, state, &fieldStart, &fault)
                // The byte order mark at the start of a file that was appended to another.
                if byte == 0xbf, state == .plain, fields.isEmpty, text.count == 3, text == [0xef, 0xbb, 0xbf]
                {
                    text.removeAll(keepingCapacity: true)
                    state = .fieldStart
                }
            }
            input.consume(unread.count)
            guard text.count <= Self.longestRow else {
                throw CommandFailure(
                    "\(input.name):\(rowLine): this row exceeds 1 GiB, the limit of a value; field \(fields.count + 1) "
                        + "may have an unclosed quote", status: .nothing)
            }
            guard try input.fill() else { break }
        }
        if isEmpty || Interruption.isRequested { return nil }
        if state == .quoted {
            return .cut(
                reason:
                    "the quote of field \(fields.count + 1), at byte \(opening.column) of line \(opening.line), "
                    + "is never closed")
        }
        return finish(state, fieldStart, fault)
    }

    @inline(__always)
    private mutating func step(
        _ byte: UInt8, _ state: State, _ fieldStart: inout Int, _ fault: inout String?
    ) -> State {
        switch state {
        case .fieldStart where Int(byte) == quote:
            opening = (line, column)
            return .quoted
        case .fieldStart where trims && byte == UInt8(ascii: " "): return .fieldStart
        case .fieldStart, .plain:
            if byte == delimiter {
                endField(&fieldStart, isQuoted: false)
                return .fieldStart
            }
            text.append(byte)
            return .plain
        case .quoted:
            if Int(byte) == quote { return .quoteInQuoted }
            text.append(byte)
            return .quoted
        case .quoteInQuoted where Int(byte) == quote:
            text.append(byte)
            return .quoted
        case .quoteInQuoted, .closed:
            if byte == delimiter {
                endField(&fieldStart, isQuoted: true)
                return .fieldStart
            }
            if trims, byte == UInt8(ascii: " ") { return .closed }
            fault =
                "found text after the closing quote of field \(fields.count + 1), at byte \(column) of line "
                + "\(line), expected the end of the field"
            return .skipping
        case .skipping: return .skipping
        }
    }

    private mutating func finish(_ state: State, _ fieldStart: Int, _ fault: String?) -> Row {
        if let fault { return .bad(reason: fault) }
        var fieldStart = fieldStart
        endField(&fieldStart, isQuoted: state == .quoteInQuoted || state == .closed)
        return .fields
    }

    private mutating func endField(_ start: inout Int, isQuoted: Bool) {
        if trims, !isQuoted { while text.count > start, text.last == UInt8(ascii: " ") { text.removeLast() } }
        fields.append(Field(range: start..<text.count, isQuoted: isQuoted))
        start = text.count
    }
}
