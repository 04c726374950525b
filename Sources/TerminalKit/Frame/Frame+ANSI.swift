extension Frame {
    /// The frame as text with SGR sequences (ECMA-48 §8.3.117, 24-bit colors by ISO 8613-6 with semicolons): `size.rows` lines,
    /// each ending in the plain style, without trailing plain spaces.
    package func ansiText(depth: ColorDepth) -> String {
        var text = ""
        for row in 0..<size.rows {
            var line = cells[row * size.columns..<(row + 1) * size.columns]
            while let last = line.last, last.text == " ", last.style.reduced(to: depth).isInvisibleOnBlank {
                line.removeLast()
            }
            var current = Style.plain
            for cell in line where !cell.isContinuation {
                let style = cell.style.reduced(to: depth)
                if style != current {
                    text += style.selectGraphicRendition
                    current = style
                }
                text += cell.text
            }
            text += current == .plain ? "\n" : "\u{1b}[0m\n"
        }
        return text
    }
}

extension Style {
    fileprivate var isInvisibleOnBlank: Bool {
        background == .standard && attributes.isDisjoint(with: [.underline, .reverse, .strikethrough])
    }

    /// The sequence that sets this style after any other.
    var selectGraphicRendition: String {
        var codes = ["0"]
        for (attribute, code) in Style.attributeCodes where attributes.contains(attribute) {
            codes.append("\(code)")
        }
        codes += foreground.codes(basic: 30, bright: 90, extended: 38)
        codes += background.codes(basic: 40, bright: 100, extended: 48)
        return "\u{1b}[" + codes.joined(separator: ";") + "m"
    }
}

extension Style {
    static let attributeCodes: [(attribute: Attributes, code: Int)] = [
        (.bold, 1), (.dim, 2), (.italic, 3), (.underline, 4), (.reverse, 7), (.strikethrough, 9),
    ]
}

extension Color {
    fileprivate func codes(basic: Int, bright: Int, extended: Int) -> [String] {
        switch self {
        case .standard: []
        case .indexed(let index) where index < 8: ["\(basic + Int(index))"]
        case .indexed(let index) where index < 16: ["\(bright + Int(index) - 8)"]
        case .indexed(let index): ["\(extended)", "5", "\(index)"]
        case .rgb(let red, let green, let blue): ["\(extended)", "2", "\(red)", "\(green)", "\(blue)"]
        }
    }
}
