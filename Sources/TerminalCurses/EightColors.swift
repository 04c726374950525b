import TerminalKit

extension Style {
    /// The style for a terminal of eight colors, which draws bright ones in bold: bold black, meant as grey, can't be read
    /// there, and nobody knows whether its background is dark or light. On that background only red, green and magenta are
    /// kept, which both show; other colors become the terminal's own, set apart by bold or dim.
    package var readableInEightColors: Style {
        guard case .indexed(let index) = foreground else { return self }
        var style = self
        let basic = Color.indexed(index % 8)
        let isBright = index >= 8
        switch (index % 8, background) {
        case (1, .standard), (2, .standard), (5, .standard):
            style.foreground = basic
            if isBright { style.attributes.insert(.bold) }
        case (0, .standard), (7, .standard):
            style.foreground = .standard
            style.attributes.insert(index == 15 ? .bold : .dim)
        case (_, .standard):
            style.foreground = .standard
            style.attributes.insert(.bold)
        case (0, _):
            style.foreground = basic
            style.attributes.remove(.bold)
        default:
            style.foreground = basic
            if isBright { style.attributes.insert(.bold) }
        }
        if case .indexed(let index) = background { style.background = .indexed(index % 8) }
        return style
    }
}
