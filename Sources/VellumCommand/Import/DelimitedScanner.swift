import StoreInspection

/// Sendable value type. How the fields of a text file are separated.
enum Delimiting: Sendable {
    /// RFC 4180: commas; a field in quotes may hold commas, line breaks and, doubled, quotes.
    case commas
    /// IANA text/tab-separated-values: tabs; quotes are characters like any other.
    case tabs

    var byte: UInt8 {
        switch self {
        case .commas: UInt8(ascii: ",")
        case .tabs: UInt8(ascii: "\t")
        }
    }

    /// What spells them so.
    var table: DelimitedText { self == .commas ? .commas : .tabs }
}

/// For one thread. Cuts CSV or TSV into rows of fields, holding one row at a time.
struct DelimitedScanner {
    struct Field {
        let range: Range<Int>
        let isQuoted: Bool
    }

    enum Row {
        case fields
        case bad(reason: String)
        /// The input ends within the row.
        case cut(reason: String)

        var fault: String? {
            switch self {
            case .fields: nil
            case .bad(let reason), .cut(let reason): reason
            }
        }
    }

    /// The content of all fields of the current row, unquoted.
    private(set) var text: [UInt8] = []
    private(set) var fields: [Field] = []
    /// The line that the current row began on, counted from 1.
    private(set) var rowLine = 0
    /// Whether a line feed ended the current row, and not the end of the input.
    private(set) var isAtEndOfLine = false
    private let input: InputBuffer
    private let delimiting: Delimiting
    /// The line that the next byte is on.
    private var line = 1

    init(_ input: InputBuffer, _ delimiting: Delimiting) {
        self.input = input
        self.delimiting = delimiting
    }

    private enum State {
        case fieldStart, plain, quoted, quoteInQuoted
        /// After a fault: nothing counts until the line ends.
        case skipping
    }

    /// Reads the next row that isn't empty. Nil at the end of the input.
    mutating func next() throws(CommandFailure) -> Row? {
        repeat {
            guard let row = try row() else { return nil }
            if row.fault != nil { return row }
        } while fields.count == 1 && fields[0].range.isEmpty && !fields[0].isQuoted
        return .fields
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
                isEmpty = false
                if byte == UInt8(ascii: "\n") {
                    line += 1
                    if state != .quoted {
                        input.consume(place)
                        isAtEndOfLine = true
                        return finish(state, fieldStart, fault)
                    }
                }
                state = step(byte, state, &fieldStart, &fault)
            }
            input.consume(unread.count)
            guard try input.fill() else { break }
        }
        if isEmpty || Interruption.isRequested { return nil }
        if state == .quoted {
            return .cut(reason: "the quote that opens here, or later in the row, is never closed")
        }
        return finish(state, fieldStart, fault)
    }

    @inline(__always)
    private mutating func step(
        _ byte: UInt8, _ state: State, _ fieldStart: inout Int, _ fault: inout String?
    ) -> State {
        switch state {
        case .fieldStart where byte == UInt8(ascii: "\"") && delimiting == .commas:
            return .quoted
        case .fieldStart, .plain:
            if byte == delimiting.byte {
                endField(&fieldStart, isQuoted: false)
                return .fieldStart
            }
            text.append(byte)
            return .plain
        case .quoted:
            if byte == UInt8(ascii: "\"") { return .quoteInQuoted }
            text.append(byte)
            return .quoted
        case .quoteInQuoted:
            if byte == UInt8(ascii: "\"") {
                text.append(byte)
                return .quoted
            }
            if byte == delimiting.byte {
                endField(&fieldStart, isQuoted: true)
                return .fieldStart
            }
            // Of CRLF; the line feed comes next.
            if byte == UInt8(ascii: "\r") { return .quoteInQuoted }
            fault = "found text behind the closing quote of field \(fields.count + 1), expected a comma"
            return .skipping
        case .skipping:
            return .skipping
        }
    }

    private mutating func finish(_ state: State, _ fieldStart: Int, _ fault: String?) -> Row {
        if let fault { return .bad(reason: fault) }
        var fieldStart = fieldStart
        if state == .plain || state == .fieldStart, text.count > fieldStart, text.last == UInt8(ascii: "\r") {
            text.removeLast()
        }
        endField(&fieldStart, isQuoted: state == .quoteInQuoted)
        return .fields
    }

    private mutating func endField(_ start: inout Int, isQuoted: Bool) {
        fields.append(Field(range: start..<text.count, isQuoted: isQuoted))
        start = text.count
    }
}
