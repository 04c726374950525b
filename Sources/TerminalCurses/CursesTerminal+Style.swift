import CNcurses
import TerminalKit

extension CursesTerminal {
    /// A style's attributes as bits of `CNcurses`. ncurses has no strikethrough.
    func attributes(of style: Style) -> Int {
        var bits = 0
        let names: [(Attributes, Int)] = [
            (.bold, CNC_BOLD), (.dim, CNC_DIM), (.italic, CNC_ITALIC), (.underline, CNC_UNDERLINE),
            (.reverse, CNC_REVERSE),
        ].map { ($0, Int($1)) }
        for (attribute, bit) in names where style.attributes.contains(attribute) { bits |= bit }
        return bits
    }

    func pair(for style: Style) -> Int32 {
        if depth == .mono { return 0 }
        let foreground = number(of: style.foreground)
        let background = number(of: style.background)
        if foreground == -1, background == -1 { return 0 }
        return cnc_pair(foreground, background)
    }

    private func number(of color: Color) -> Int32 {
        switch color {
        case .standard: return -1
        case .indexed(let index) where depth < .trueColor: return Int32(index)
        case .indexed(let index) where index < 8: return Int32(index)
        case .indexed(let index):
            let parts = Color.paletteComponents(index)
            return direct(parts.red, parts.green, parts.blue)
        case .rgb(let red, let green, let blue): return direct(red, green, blue)
        }
    }

    /// Terminfo entries with direct colors reserve numbers below 8 for basic colors, so the darkest blues become lighter.
    private func direct(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int32 {
        let value = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
        return hasDirectColors ? max(8, Int32(value)) : palette.number(of: value)
    }
}
