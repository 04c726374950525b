/// The screen of an xterm: characters, and which of them are reversed. Supports the sequences that curses sends. A value
/// type; for one thread.
struct TerminalScreen {
    private struct Cell {
        static let blank = Cell(text: " ", isReversed: false)
        var text: String
        var isReversed: Bool
    }

    /// An incomplete control sequence.
    private enum Sequence {
        case none, escape, charset, control, command
    }

    let columns: Int
    let rows: Int
    private var cells: [[Cell]]
    private var (row, column) = (0, 0)
    private var saved = (row: 0, column: 0)
    private var isReversed = false
    /// The scrolling region.
    private var region: Range<Int>
    private var sequence = Sequence.none
    private var parameters: [UInt8] = []
    /// An incomplete character, and the previous character, which can be repeated.
    private var character: [UInt8] = []
    private var last: Unicode.Scalar = " "

    init(columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        cells = Array(repeating: Array(repeating: .blank, count: columns), count: rows)
        region = 0..<rows
    }

    // MARK: Content

    /// A row without trailing spaces.
    func line(_ row: Int) -> String {
        var line = cells[row].reduce(into: "") { $0 += $1.text }
        while line.last == " " { line.removeLast() }
        return line
    }

    var lines: [String] { (0..<rows).map(line) }

    func shows(_ text: String) -> Bool { (0..<rows).contains { line($0).contains(text) } }

    /// Rows with reversed characters, except the first row, and their text in the first columns.
    var reversed: [(row: Int, text: String)] {
        (1..<rows).compactMap { row in
            guard let first = cells[row].firstIndex(where: \.isReversed) else { return nil }
            return (row, "\(first) " + cells[row][first...].prefix(24).reduce(into: "") { $0 += $1.text })
        }
    }

    // MARK: Input

    mutating func take(_ bytes: some Swift.Sequence<UInt8>) {
        for byte in bytes { take(byte) }
    }

    private mutating func take(_ byte: UInt8) {
        switch (sequence, byte) {
        case (.none, 0x1b): sequence = .escape
        case (.none, 0..<0x20): control(byte)
        case (.none, _): text(byte)
        case (.escape, UInt8(ascii: "[")): (sequence, parameters) = (.control, [])
        case (.escape, UInt8(ascii: "]")), (.escape, UInt8(ascii: "P")): sequence = .command
        case (.escape, UInt8(ascii: "(")), (.escape, UInt8(ascii: ")")): sequence = .charset
        case (.escape, _):
            sequence = .none
            escape(byte)
        case (.charset, _): sequence = .none
        // Up to its end, a bell or ESC \.
        case (.command, 0x07): sequence = .none
        case (.command, 0x1b): sequence = .escape
        case (.command, _): break
        case (.control, 0x20..<0x40): parameters.append(byte)
        case (.control, _):
            sequence = .none
            obey(byte)
        }
    }

    private mutating func control(_ byte: UInt8) {
        switch byte {
        case 0x08: column = max(0, min(column, columns - 1) - 1)
        case 0x09: column = min(columns - 1, (column / 8 + 1) * 8)
        case 0x0a...0x0c: feedLine()
        case 0x0d: column = 0
        default: break
        }
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "7"): saved = (row, column)
        case UInt8(ascii: "8"): (row, column) = saved
        case UInt8(ascii: "M"): if row == region.lowerBound { scroll(down: 1) } else { row = max(0, row - 1) }
        default: break
        }
    }

    private mutating func feedLine() {
        if row == region.upperBound - 1 { scroll(down: -1) } else { row = min(rows - 1, row + 1) }
    }

    private mutating func text(_ byte: UInt8) {
        character.append(byte)
        let isWhole =
            switch character[0] {
            case 0..<0x80: true
            case 0xc0..<0xe0: character.count == 2
            case 0xe0..<0xf0: character.count == 3
            default: character.count == 4
            }
        guard isWhole else { return }
        last = String(decoding: character, as: UTF8.self).unicodeScalars.first ?? " "
        character = []
        put(last)
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        let width = TerminalScreen.width(of: scalar)
        guard width > 0 else {
            let before = max(0, min(column, columns) - 1)
            return cells[row][before].text.unicodeScalars.append(scalar)
        }
        if column + width > columns {
            column = 0
            feedLine()
        }
        cells[row][column] = Cell(text: String(Character(scalar)), isReversed: isReversed)
        // The second half of a wide character.
        if width == 2 { cells[row][column + 1] = Cell(text: "", isReversed: isReversed) }
        column += width
    }

    /// Approximates curses, sufficiently for names of cities.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100..<0x1160, 0x2e80..<0x303f, 0x3041..<0xa4d0, 0xac00..<0xd7a4, 0xf900..<0xfb00,
            0xfe30..<0xfe70, 0xff00..<0xff61, 0x1f300..<0x1fb00, 0x20000..<0x40000:
            return 2
        default: return 1
        }
    }

    // MARK: Control sequences

    private mutating func obey(_ final: UInt8) {
        // Modes of the terminal show nothing.
        guard parameters.first.map({ 0x30...0x3b ~= $0 }) ?? true else { return }
        let numbers = String(decoding: parameters, as: UTF8.self)
            .split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        let count = max(1, numbers.first ?? 1)
        let here = min(column, columns - 1)
        switch final {
        case UInt8(ascii: "A"): row = max(0, row - count)
        case UInt8(ascii: "B"): row = min(rows - 1, row + count)
        case UInt8(ascii: "C"): column = min(columns - 1, column + count)
        case UInt8(ascii: "D"): column = max(0, here - count)
        case UInt8(ascii: "G"): column = min(columns, count) - 1
        case UInt8(ascii: "Z"): column = max(0, here - 1) / 8 * 8
        case UInt8(ascii: "d"): row = min(rows, count) - 1
        case UInt8(ascii: "H"):
            row = min(rows, count) - 1
            column = min(columns, max(1, numbers.dropFirst().first ?? 1)) - 1
        case UInt8(ascii: "J"): erase(numbers.first ?? 0)
        case UInt8(ascii: "K"):
            let kind = numbers.first ?? 0
            erase((kind == 0 ? here : 0)..<(kind == 1 ? here + 1 : columns))
        case UInt8(ascii: "X"): erase(here..<min(columns, here + count))
        case UInt8(ascii: "P"): shift(here, by: -count)
        case UInt8(ascii: "@"): shift(here, by: count)
        case UInt8(ascii: "L"), UInt8(ascii: "M"):
            guard region.contains(row) else { break }
            scroll(row..<region.upperBound, down: final == UInt8(ascii: "L") ? count : -count)
        case UInt8(ascii: "S"): scroll(down: -count)
        case UInt8(ascii: "T"): scroll(down: count)
        case UInt8(ascii: "b"): for _ in 0..<min(count, columns * rows) { put(last) }
        case UInt8(ascii: "r"):
            let end = numbers.dropFirst().first ?? 0
            region = min(count, rows) - 1..<max(min(count, rows), end > 0 ? min(end, rows) : rows)
            (row, column) = (0, 0)
        case UInt8(ascii: "m"): style(numbers)
        default: break
        }
    }

    private mutating func style(_ numbers: [Int]) {
        var rest = (numbers.isEmpty ? [0] : numbers)[...]
        while let number = rest.popFirst() {
            switch number {
            case 0, 27: isReversed = false
            case 7: isReversed = true
            // A direct color; the following numbers are no attributes.
            case 38, 48: rest = rest.dropFirst(rest.first == 2 ? 4 : 2)
            default: break
            }
        }
    }

    private mutating func erase(_ range: Range<Int>) {
        for place in range { cells[row][place] = .blank }
    }

    private mutating func erase(_ what: Int) {
        let here = min(column, columns - 1)
        if what == 0 { erase(here..<columns) } else if what == 1 { erase(0..<here + 1) }
        for other in what == 0 ? row + 1..<rows : 0..<(what == 1 ? row : rows) {
            cells[other] = Array(repeating: .blank, count: columns)
        }
    }

    private mutating func shift(_ place: Int, by count: Int) {
        let moved = min(abs(count), columns - place)
        let blanks = Array(repeating: Cell.blank, count: moved)
        if count < 0 {
            cells[row].removeSubrange(place..<place + moved)
            cells[row] += blanks
        } else {
            cells[row].removeLast(moved)
            cells[row].insert(contentsOf: blanks, at: place)
        }
    }

    private mutating func scroll(down count: Int) { scroll(region, down: count) }

    private mutating func scroll(_ range: Range<Int>, down count: Int) {
        let moved = min(abs(count), range.count)
        let blanks = Array(repeating: Array(repeating: Cell.blank, count: columns), count: moved)
        if count < 0 {
            cells.removeSubrange(range.lowerBound..<range.lowerBound + moved)
            cells.insert(contentsOf: blanks, at: range.upperBound - moved)
        } else {
            cells.removeSubrange(range.upperBound - moved..<range.upperBound)
            cells.insert(contentsOf: blanks, at: range.lowerBound)
        }
    }
}
