/// Applies the text of ``Frame/update(from:)``, and refuses all other control sequences: files must not control the terminal.
package struct FrameReader: Sendable {
    package private(set) var frame: Frame
    private var place = Point(column: 0, row: 0)
    private var style = Style.plain
    private var showsCursor = false

    package struct UnknownSequence: Error, Sendable, Equatable {
        /// The unsupported sequence, with escaped control characters.
        package let sequence: String
    }

    package init(size: Size) { frame = Frame(size: size) }

    package mutating func resize(to size: Size) {
        frame = Frame(size: size)
        place = Point(column: 0, row: 0)
    }

    /// Applies an update. Ignores cells outside the screen.
    package mutating func read(_ update: String) throws(UnknownSequence) {
        // Reads scalars, because an escape and a following combining character are one character.
        var rest = update.unicodeScalars[...]
        while let first = rest.first {
            guard first == "\u{1b}" else {
                let text = rest.prefix { $0 != "\u{1b}" }
                rest = rest[text.endIndex...]
                place.column += frame.write(String(text), at: place, style: style)
                continue
            }
            let sequence = Self.sequence(at: rest)
            guard execute(sequence) else {
                throw UnknownSequence(sequence: TerminalText.sanitized(String(sequence)))
            }
            rest = rest[sequence.endIndex...]
        }
        frame.cursor = showsCursor ? place : nil
    }

    /// A control sequence up to its final character (ECMA-48 §5.4) or the end of the text; at most 64 characters.
    private static func sequence(at text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        guard text.dropFirst().first == "[" else { return text.prefix(2) }
        let isFinal = { (scalar: Unicode.Scalar) in (0x40...0x7e).contains(scalar.value) }
        let most = text.dropFirst(2).prefix(62)
        guard let end = most.firstIndex(where: isFinal) else { return text.prefix(64) }
        return text[...end]
    }

    /// Executes a sequence; returns false if it is unsupported.
    private mutating func execute(_ sequence: Substring.UnicodeScalarView) -> Bool {
        guard sequence.count > 2, let final = sequence.last else { return false }
        let parameters = String(sequence.dropFirst(2).dropLast())
        switch (final, parameters) {
        case ("h", "?25"): showsCursor = true
        case ("l", "?25"): showsCursor = false
        case ("J", "2"): frame.fill(frame.bounds, style: style)
        case ("H", _):
            guard let numbers = Self.numbers(parameters), numbers.count == 2, numbers.allSatisfy({ $0 > 0 })
            else { return false }
            place = Point(column: numbers[1] - 1, row: numbers[0] - 1)
        case ("m", _):
            guard let style = Self.numbers(parameters).flatMap(Self.style) else { return false }
            self.style = style
        default: return false
        }
        return true
    }

    /// Parses numbers below 10,000 with semicolons between them.
    private static func numbers(_ parameters: String) -> [Int]? {
        let parts = parameters.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        var numbers: [Int] = []
        for part in parts {
            guard (1...4).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            numbers.append(part.reduce(0) { $0 * 10 + Int($1) - 0x30 })
        }
        return numbers
    }

    /// The style of SGR parameters, which begin with 0 in an update.
    private static func style(_ codes: [Int]) -> Style? {
        guard codes.first == 0 else { return nil }
        var style = Style.plain
        var rest = codes.dropFirst()
        while let code = rest.popFirst() {
            if let (attribute, _) = Style.attributeCodes.first(where: { $0.code == code }) {
                style.attributes.insert(attribute)
            } else if let color = color(code, basic: 30, bright: 90, extended: 38, &rest) {
                style.foreground = color
            } else if let color = color(code, basic: 40, bright: 100, extended: 48, &rest) {
                style.background = color
            } else {
                return nil
            }
        }
        return style
    }

    private static func color(
        _ code: Int, basic: Int, bright: Int, extended: Int, _ rest: inout ArraySlice<Int>
    ) -> Color? {
        switch code {
        case basic..<basic + 8: return .indexed(UInt8(code - basic))
        case bright..<bright + 8: return .indexed(UInt8(code - bright + 8))
        case extended:
            let kind = rest.popFirst()
            let parts = rest.prefix(kind == 5 ? 1 : 3).compactMap { UInt8(exactly: $0) }
            rest = rest.dropFirst(parts.count)
            if kind == 5, parts.count == 1 { return .indexed(parts[0]) }
            return kind == 2 && parts.count == 3 ? .rgb(parts[0], parts[1], parts[2]) : nil
        default: return nil
        }
    }
}
